/** What a contribution is after each answer: taken, refused, sent again later, or uncertain. */
import { beforeEach, expect, test } from 'vitest';
import { digestOf, textDigest } from '../src/canonical.js';
import { BlenderClient } from '../src/client.js';
import { memoryStorage, type Storage } from '../src/storage.js';
import { CAMPAIGN, CONSENT_TEXT, FakeService, goodDescription, SERVICE } from './service.js';
import { readVectors } from './vectors.js';

const { final, not_final, accepted } =
  readVectors<Readonly<Record<'final' | 'not_final' | 'accepted', number[]>>>('final_answers');
const CONTRIBUTION = {
  agreed: await textDigest(CONSENT_TEXT),
  promised: await digestOf(goodDescription()),
  body: '{"records":[]}',
};
let service: FakeService;
let storage: Storage;

beforeEach(() => {
  service = new FakeService('');
  service.state = 'opt-in-open';
  storage = memoryStorage();
});

function contribute() {
  const client = new BlenderClient({ service: SERVICE, storage, fetch: service.fetch });
  return client.contribute(CAMPAIGN, CONTRIBUTION);
}

/** Returns what the ledger says after attempts that were answered so. */
async function stateAfter(...answers: readonly number[]) {
  service.optInAnswers = [...answers];
  for (const _ of answers) await contribute();
  return (await storage.update((ledger) => ({ value: ledger }))).entries[0]?.state;
}

test.each([
  ...final.map((status) => [status, status === 409 ? 'uncertain' : 'refused'] as const),
  ...not_final.map((status) => [status, 'unsent'] as const),
  ...accepted.map((status) => [status, 'sent'] as const),
])('one that is answered %d is %s', async (status, state) => {
  expect(await stateAfter(status)).toBe(state);
});

test.each(not_final)('one that was answered %d arrives later', async (status) => {
  expect(await stateAfter(status, 201)).toBe('sent');
  expect([...service.contributions.values()]).toEqual([CONTRIBUTION.body]);
});

test.each([
  ['whose answer was lost', 0],
  ['that a gateway answered', 504],
])('a refusal after an attempt %s leaves it uncertain', async (_, first) => {
  expect(await stateAfter(first, 422)).toBe('uncertain');
});

test('a refusal leaves it uncertain when the device had ended before the answer', async () => {
  const isSent = new Promise<void>((resolve) => {
    service.beforeContribution = () => {
      resolve();
      return new Promise(() => {});
    };
  });
  void contribute();
  await isSent;
  service.beforeContribution = async () => {};
  expect(await stateAfter(422)).toBe('uncertain');
});

test('a refusal leaves it uncertain while another tab waits for an answer', async () => {
  service.optInAnswers = [422];
  let isFirst = true;
  service.beforeContribution = async () => {
    if (!isFirst) throw new TypeError('network error');
    isFirst = false;
    await contribute();
  };
  expect(await contribute()).toMatchObject({ state: 'uncertain' });
});

test('a refusal leaves one uncertain that an earlier version may have sent', async () => {
  await stateAfter(0);
  await storage.update((ledger) => ({
    ledger: {
      ...ledger,
      entries: ledger.entries.map(({ attempts: _, ...entry }) => entry),
    },
    value: undefined,
  }));
  expect(await stateAfter(422)).toBe('uncertain');
});
