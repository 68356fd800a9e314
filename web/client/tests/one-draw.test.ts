/** One draw per campaign: whatever address it is reached by, and whatever version stored it. */
import 'fake-indexeddb/auto';
import { expect, test } from 'vitest';
import type { Fields } from '../src/canonical.js';
import { BlenderClient } from '../src/client.js';
import { type FirstLedger, type Ledger, upToDate } from '../src/ledger.js';
import { indexedDbStorage, memoryStorage, type Storage } from '../src/storage.js';
import { CAMPAIGN, entryOf, FakeService, LOG, SERVICE, signedText } from './service.js';
import { readVectors } from './vectors.js';

const OTHER_SERVICE = 'https://other.example';
const OTHER_CAMPAIGN = '00000000-0000-4000-8000-000000000002';
const NOWHERE = `sha256:${'0'.repeat(64)}`;

const OLD: FirstLedger = {
  keys: { [SERVICE]: 'first key' },
  lists: {
    [`${SERVICE} ${CAMPAIGN}`]: NOWHERE,
    [`${OTHER_SERVICE} ${CAMPAIGN}`]: 'sha256:second',
    [`${SERVICE} ${OTHER_CAMPAIGN}`]: 'sha256:other',
  },
  entries: [
    {
      service: SERVICE,
      campaign: CAMPAIGN,
      headList: NOWHERE,
      report: '{"version":1}',
      epsilon: '4.0',
      drawnAt: 7,
      state: 'unsent',
    },
    {
      service: OTHER_SERVICE,
      campaign: CAMPAIGN,
      headList: 'sha256:second',
      report: '{"version":1,"second":true}',
      epsilon: '2.5',
      drawnAt: 8,
      state: 'sent',
    },
  ],
};

async function keepOld(storage: Storage): Promise<void> {
  await storage.update(() => ({ ledger: OLD as never, value: undefined }));
}

test('a campaign under another address gets the same bytes, and nothing is drawn again', async () => {
  const storage = memoryStorage();
  const service = new FakeService(await signedText());
  const { fetch } = service;
  service.answers = [503];
  const first = await new BlenderClient({ service: SERVICE, storage, fetch }).report(
    CAMPAIGN,
    null,
  );
  expect(first).toMatchObject({ ok: true, state: 'unsent' });
  const moved = new BlenderClient({ service: OTHER_SERVICE, storage, fetch });
  const second = await moved.report(CAMPAIGN, { query: 'query 17', url: 'a.example' });
  expect(second).toMatchObject({ ok: true, state: 'sent', report: first.ok && first.report });
  expect(new Set(service.reports).size).toBe(1);
  expect(await moved.account()).toMatchObject({ spent: 4 });
});

test('another list under another address is refused', async () => {
  const storage = memoryStorage();
  const service = new FakeService(await signedText());
  const { fetch } = service;
  await new BlenderClient({ service: SERVICE, storage, fetch }).headList(CAMPAIGN);
  const log = [...LOG, ...entryOf(service.text)];
  const shorter = (list: Fields) => ({ ...list, queries: (list.queries as Fields[]).slice(1) });
  service.text = await signedText({ list: shorter }, log);
  service.log = [...log, ...entryOf(service.text)];
  const moved = new BlenderClient({ service: OTHER_SERVICE, storage, fetch });
  expect(await moved.report(CAMPAIGN, null)).toEqual({
    ok: false,
    problem: 'a campaign must have one list, the same for everybody',
  });
});

test('a ledger of the first version keeps every row, key and list', () => {
  const common = { role: 'report', token: '', delta: '0.0' };
  expect(upToDate(OLD)).toEqual({
    version: 2,
    keys: OLD.keys,
    lists: { [CAMPAIGN]: NOWHERE, [OTHER_CAMPAIGN]: 'sha256:other' },
    logs: {},
    evidence: {},
    tokens: {},
    entries: OLD.entries.map(({ headList, report, ...rest }) => ({
      ...rest,
      ...common,
      madeFor: headList,
      body: report,
    })),
  });
  expect(upToDate(upToDate(OLD))).toEqual(upToDate(OLD));
});

test.each(['memory', 'IndexedDB'])(
  'one in %s is sent from and spent from as before',
  async (kind) => {
    const storage = kind === 'memory' ? memoryStorage() : indexedDbStorage('first version');
    await keepOld(storage);
    const service = new FakeService(await signedText());
    const options = { service: SERVICE, storage, fetch: service.fetch, now: () => 9 };
    const client = new BlenderClient(options);
    expect(await client.account()).toMatchObject({ ok: true, spent: 6.5 });
    expect(await client.resend()).toEqual({ ok: true, unsent: 0 });
    expect(service.reports).toEqual(['{"version":1}']);
    const { version, entries } = await storage.update((ledger) => ({ value: ledger }));
    expect([version, entries.map(({ state }) => state)]).toEqual([2, ['sent', 'sent']]);
  },
);

test('the answers that are final are those of the vector', async () => {
  const { final, not_final, accepted } =
    readVectors<Readonly<Record<'final' | 'not_final' | 'accepted', number[]>>>('final_answers');
  const text = await signedText();
  const stateAfter = async (status: number) => {
    const service = new FakeService(text);
    const storage = memoryStorage();
    service.answers = [status];
    const client = new BlenderClient({ service: SERVICE, storage, fetch: service.fetch });
    await client.report(CAMPAIGN, null);
    return (await storage.update((ledger) => ({ value: ledger }))).entries[0]?.state;
  };
  const expected = { refused: final, unsent: [0, ...not_final], sent: accepted };
  for (const [state, statuses] of Object.entries(expected)) {
    for (const status of statuses)
      expect([status, await stateAfter(status)]).toEqual([status, state]);
  }
});

test('a ledger of a later version is left alone', async () => {
  const storage = memoryStorage();
  const later = { ...upToDate(undefined), version: 3 } as unknown as Ledger;
  await storage.update(() => ({ ledger: later, value: undefined }));
  const service = new FakeService(await signedText());
  const client = new BlenderClient({ service: SERVICE, storage, fetch: service.fetch });
  expect(await client.report(CAMPAIGN, null)).toMatchObject({
    ok: false,
    problem: expect.stringContaining('newer'),
  });
  expect(await storage.update((ledger) => ({ value: ledger }))).toEqual(later);
});
