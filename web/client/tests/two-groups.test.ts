/** Nobody in two groups: what a device contributes, reports, withdraws and forgets. */
import { beforeEach, describe, expect, test } from 'vitest';
import { digestOf, textDigest } from '../src/canonical.js';
import { BlenderClient, type ClientOptions } from '../src/client.js';
import type { Contribution } from '../src/contribution.js';
import { EMPTY_LEDGER } from '../src/ledger.js';
import { memoryStorage, type Storage } from '../src/storage.js';
import {
  CAMPAIGN,
  CONSENT_TEXT,
  FakeService,
  goodDescription,
  listOf,
  SERVICE,
  signedText,
} from './service.js';

const AGREED = await textDigest(CONSENT_TEXT);
const CONTRIBUTION = { agreed: AGREED, body: '{"records":[]}' };
type Given = Omit<Contribution, 'promised'> & Partial<Contribution>;
let service: FakeService;
let storage: Storage;

beforeEach(async () => {
  service = new FakeService(await signedText());
  storage = memoryStorage();
});

function client(options: Partial<ClientOptions> = {}): BlenderClient {
  return new BlenderClient({ service: SERVICE, storage, fetch: service.fetch, ...options });
}

/** A device that finds the campaign open to whatever it is about to do. */
function device(options: Partial<ClientOptions> = {}) {
  const one = client(options);
  return {
    /** By default the person saw the campaign's present description. */
    async contribute(campaign: string, contribution: Given) {
      service.state = 'opt-in-open';
      const promised = await digestOf({ ...service.description, id: campaign });
      return one.contribute(campaign, { promised, ...contribution });
    },
    report(campaign: string, record: null) {
      service.state = 'clients-open';
      return one.report(campaign, record);
    },
    withdraw: (campaign: string) => one.withdraw(campaign),
    headList: (campaign: string) => one.headList(campaign),
    account: () => one.account(),
    forget: () => one.forget(),
  };
}

async function entries() {
  return (await storage.update((ledger) => ({ value: ledger }))).entries;
}

describe('a contribution', () => {
  test('is in the ledger, with its cost, before it is sent', async () => {
    let written = EMPTY_LEDGER;
    service.beforeContribution = async () => {
      written = await storage.update((ledger) => ({ value: ledger }));
    };
    const result = await device().contribute(CAMPAIGN, CONTRIBUTION);
    expect(result).toEqual({ ok: true, state: 'sent', epsilon: 4, delta: 1e-6 });
    expect(written.entries).toMatchObject([
      { role: 'contribution', state: 'unsent', epsilon: '4.0', delta: '1e-06', token: 'token 1' },
    ]);
    expect([...service.contributions.values()]).toEqual([CONTRIBUTION.body]);
    expect(await device().account()).toMatchObject({ spent: 4, left: 4 });
  });

  test('is sent again as it was when there was no answer, with the same token', async () => {
    service.optInAnswers = [0, -1, 503, 429];
    for (const body of ['1', '2', '3', '4', '5']) {
      await device().contribute(CAMPAIGN, { agreed: AGREED, body });
    }
    expect([...service.contributions]).toEqual([['Bearer token 1', '1']]);
    expect(await entries()).toMatchObject([{ state: 'sent', body: '1' }]);
  });

  test('that no service takes costs nothing', async () => {
    const body = JSON.stringify({ records: ['é'.repeat(2 ** 21)] });
    const result = await device().contribute(CAMPAIGN, { agreed: AGREED, body });
    expect(result).toEqual({ ok: false, problem: 'a contribution must be at most 4 MiB' });
    expect(await entries()).toEqual([]);
  });

  test('must fit in the budget, ε and δ', async () => {
    for (const policy of [{ mostEpsilon: 3.9 }, { mostDelta: 9e-7 }]) {
      expect((await device({ policy }).contribute(CAMPAIGN, CONTRIBUTION)).ok).toBe(false);
    }
    expect(await entries()).toEqual([]);
    expect(service.contributions.size).toBe(0);
  });

  test('leaves its ε and δ to the next one, over all services', async () => {
    const other = '00000000-0000-4000-8000-000000000002';
    const next = () =>
      device({ service: 'https://other.example', policy }).contribute(other, CONTRIBUTION);
    let policy = { mostEpsilon: 8, mostDelta: 1.9e-6 };
    await device().contribute(CAMPAIGN, CONTRIBUTION);
    expect(await next()).toMatchObject({ problem: expect.stringContaining('(δ)') });
    policy = { mostEpsilon: 7.9, mostDelta: 2e-6 };
    expect(await next()).toMatchObject({ problem: expect.stringContaining('(ε)') });
    policy = { mostEpsilon: 8, mostDelta: 2e-6 };
    expect(await next()).toMatchObject({ ok: true, state: 'sent' });
  });

  test('is one for the text that was agreed to, and for one description', async () => {
    const agreed = await textDigest('Something else.');
    expect((await device().contribute(CAMPAIGN, { agreed, body: '' })).ok).toBe(false);
    expect(await entries()).toEqual([]);
    service.optInAnswers = [503];
    await device().contribute(CAMPAIGN, CONTRIBUTION);
    service.description = goodDescription({ purpose: 'To sell them.' });
    expect(await device().contribute(CAMPAIGN, CONTRIBUTION)).toMatchObject({
      ok: false,
      problem: 'the description of a campaign must stay the same',
    });
    expect(service.contributions.size).toBe(0);
  });

  test('is none for another description than the person saw when choosing', async () => {
    const promised = await digestOf(goodDescription());
    service.description = goodDescription({ parameters: { epsilon: '8.0', delta: '1e-06' } });
    expect(await device().contribute(CAMPAIGN, { ...CONTRIBUTION, promised })).toMatchObject({
      ok: false,
      problem: expect.stringContaining('saw when choosing'),
    });
    expect(await entries()).toEqual([]);
    expect(service.traffic.map((line) => line.trim())).toEqual([
      `${SERVICE}/v1/campaigns/${CAMPAIGN}`,
    ]);
  });

  test.each([
    ['description', { description: null }],
    ['id', { describedId: 'other' }],
    ['ε', { description: goodDescription({ parameters: { epsilon: 4, delta: '1e-05' } }) }],
    [
      'ε above 0',
      { description: goodDescription({ parameters: { epsilon: '-4.0', delta: '0.0' } }) },
    ],
    [
      'δ below 1',
      { description: goodDescription({ parameters: { epsilon: '4.0', delta: '1.0' } }) },
    ],
    ['consent', { description: goodDescription({ consent: { version: '1' } }) }],
  ])('is not made for a campaign without %s', async (_, changes) => {
    Object.assign(service, changes);
    expect((await device().contribute(CAMPAIGN, CONTRIBUTION)).ok).toBe(false);
    expect(await entries()).toEqual([]);
  });
});

describe('no report follows a contribution', () => {
  test.each([
    ['that was taken', [201]],
    ['whose answer was lost', [0]],
    ['that never arrived, as far as anybody knows', [-1]],
    ['whose retry was answered 409', [0, 409]],
    ['that was answered 409', [409]],
    ['whose retry was refused', [0, 422]],
  ])('%s', async (_, answers) => {
    service.optInAnswers = answers;
    for (const _ of answers) await device().contribute(CAMPAIGN, CONTRIBUTION);
    expect(await device().report(CAMPAIGN, null)).toMatchObject({
      ok: false,
      problem: expect.stringContaining('withdraw first'),
    });
    expect(service.reports).toEqual([]);
  });

  test('after forgetting either, online or not', async () => {
    await device().contribute(CAMPAIGN, CONTRIBUTION);
    expect(await device().forget()).toEqual({ ok: true });
    expect((await device().report(CAMPAIGN, null)).ok).toBe(false);
    expect((await device().contribute(CAMPAIGN, { ...CONTRIBUTION, body: 'again' })).ok).toBe(true);
    expect([...service.contributions.values()]).toEqual([CONTRIBUTION.body]);
  });

  test('unless the service confirmed that it was withdrawn', async () => {
    await device().contribute(CAMPAIGN, CONTRIBUTION);
    service.optInAnswers = [0, 409, 503];
    for (const _ of [1, 2, 3]) {
      expect((await device().withdraw(CAMPAIGN)).ok).toBe(false);
      expect((await device().report(CAMPAIGN, null)).ok).toBe(false);
    }
    expect(await device().withdraw(CAMPAIGN)).toEqual({ ok: true });
    expect(await device().withdraw(CAMPAIGN), 'twice is once').toEqual({ ok: true });
    expect(await device().report(CAMPAIGN, null)).toMatchObject({ ok: true, state: 'sent' });
    expect(await device().account(), 'both were sent').toMatchObject({ spent: 8, left: 0 });
  });
});

test('another service gets no contribution again, and confirms no withdrawal', async () => {
  service.optInAnswers = [0];
  await device().contribute(CAMPAIGN, CONTRIBUTION);
  const traffic = service.traffic.length;
  const other = device({ service: 'https://other.example' });
  expect((await other.contribute(CAMPAIGN, CONTRIBUTION)).ok).toBe(false);
  expect((await other.withdraw(CAMPAIGN)).ok).toBe(false);
  expect(service.traffic.length).toBe(traffic);
  expect((await other.report(CAMPAIGN, null)).ok).toBe(false);
});

test('a campaign that takes no contributions gets none, and nothing is debited', async () => {
  service.state = 'clients-open';
  const promised = await digestOf(goodDescription());
  expect((await client().contribute(CAMPAIGN, { ...CONTRIBUTION, promised })).ok).toBe(false);
  expect([await entries(), service.contributions.size]).toEqual([[], 0]);
});

test('a list for another description than that of the contribution is refused', async () => {
  await device().contribute(CAMPAIGN, CONTRIBUTION);
  await device().withdraw(CAMPAIGN);
  service.description = goodDescription({ purpose: 'To sell them.' });
  const description = await digestOf(service.description);
  service.text = await signedText({ document: (document) => ({ ...document, description }) });
  expect(await device().report(CAMPAIGN, null)).toMatchObject({
    problem: 'the description of a campaign must stay the same',
  });
});

test('who withdrew contributes no more', async () => {
  await device().contribute(CAMPAIGN, CONTRIBUTION);
  await device().withdraw(CAMPAIGN);
  expect(await device().contribute(CAMPAIGN, CONTRIBUTION)).toMatchObject({ state: 'withdrawn' });
  expect(service.contributions.size).toBe(0);
  expect(await entries()).toMatchObject([{ state: 'withdrawn', body: '' }]);
});

test.each([[202], [0], [422]])('no contribution follows a report answered %d', async (status) => {
  service.answers = [status];
  await device().report(CAMPAIGN, null);
  expect(await device().contribute(CAMPAIGN, CONTRIBUTION)).toMatchObject({
    ok: false,
    problem: 'a device that has reported must not contribute too',
  });
  await device().forget();
  expect((await device().contribute(CAMPAIGN, CONTRIBUTION)).ok).toBe(false);
  expect(service.contributions.size).toBe(0);
});

test('forgetting leaves who got what at which cost, and what takes it back', async () => {
  const other = '00000000-0000-4000-8000-000000000002';
  service.optInAnswers = [0];
  await device().contribute(CAMPAIGN, CONTRIBUTION);
  service.text = await listOf(other);
  expect((await device({ service: 'https://other.example' }).headList(other)).ok).toBe(true);
  const [before] = await entries();
  await device().forget();
  expect(await storage.update((ledger) => ({ value: ledger }))).toEqual({
    ...EMPTY_LEDGER,
    entries: [{ ...before, body: '', state: 'uncertain' }],
  });
  expect(await device().withdraw(CAMPAIGN)).toEqual({ ok: true });
  expect(service.contributions.size).toBe(0);
});
