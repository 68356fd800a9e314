/** Reports through a relay: drawn once, encrypted, kept, sent to the relay alone, and debited. */
import { beforeEach, describe, expect, test } from 'vitest';
import { fromBase64url, toBase64url } from '../src/base64url.js';
import { digestOf, type Fields, textDigest, without } from '../src/canonical.js';
import { BlenderClient, type ClientOptions } from '../src/client.js';
import { EMPTY_LEDGER, type Ledger, type LedgerEntry, type LogPlace } from '../src/ledger.js';
import { infoOf } from '../src/relay/relayed-report.js';
import { memoryStorage, type Storage } from '../src/storage.js';
import { opened } from './opened.js';
import { FakeService, SERVICE, signedText } from './service.js';
import { readVectors } from './vectors.js';

interface Vectors {
  readonly campaign: string;
  readonly collector_key: string;
  readonly report_length: number;
  readonly description: Fields;
  readonly signed_head_list: Fields & { readonly head_list: Fields; readonly relay: Fields };
  readonly broken_head_lists: Readonly<Record<string, Fields>>;
  readonly refused_by_policy: Readonly<Record<string, Fields>>;
  readonly refused_by_description: Readonly<
    Record<string, { readonly signed: Fields; readonly description: Fields }>
  >;
}

const VECTORS = readVectors<Vectors>('relayed_reports');
const { campaign: CAMPAIGN, signed_head_list: SIGNED } = VECTORS;
const RECORD = { query: 'query 10', url: 'é.example' };
const ADDRESS = `https://relay.example/shuffle/v1/campaigns/${CAMPAIGN}/reports`;
const NOW = Date.UTC(2026, 10, 16);
const DAY = 86_400_000;
const { index, hash } = SIGNED.log_entry as Fields & LogPlace;
/** A device that has read the log up to the entry of the list. */
const READ: Ledger = { ...EMPTY_LEDGER, logs: { [String(SIGNED.public_key)]: { index, hash } } };

let service: FakeService;
let storage: Storage;
beforeEach(async () => {
  service = new FakeService(JSON.stringify(SIGNED));
  service.description = VECTORS.description;
  storage = memoryStorage();
  await remember(READ);
});

function remember(ledger: Ledger): Promise<void> {
  return storage.update(() => ({ ledger, value: undefined }));
}

function kept(): Promise<Ledger> {
  return storage.update((ledger) => ({ value: ledger }));
}

function device(options: Partial<ClientOptions> = {}): BlenderClient {
  return new BlenderClient({
    service: SERVICE,
    storage,
    fetch: service.fetch,
    now: () => NOW,
    ...options,
  });
}

function relayed(client = device()) {
  return client.report(CAMPAIGN, RECORD, { throughRelay: true });
}

/** Returns what the relay was sent: address and body of every request to it. */
function toRelay(): readonly string[] {
  return service.traffic.filter((line) => line.includes('relay.example'));
}

test('the relay gets one encrypted report and nothing else, the service nothing', async () => {
  const result = await relayed();
  expect(result).toMatchObject({ ok: true, state: 'sent', epsilon: 4, delta: 1e-5 });
  expect(result.ok && result.relayEpsilon).toBeCloseTo(7.653, 5);
  const [line, ...more] = toRelay();
  expect(more).toEqual([]);
  expect(service.reports.length).toBe(1);
  expect(line).toBe(`${ADDRESS} ${service.reports[0]}`);
  const body = JSON.parse(service.reports[0] ?? '');
  expect(Object.keys(body)).toEqual(['version', 'head_list', 'encryption_key', 'report']);
  expect(body).toMatchObject({
    version: 1,
    head_list: SIGNED.head_list.digest,
    encryption_key: SIGNED.relay.encryption_key,
  });
  for (const sent of service.traffic) expect(sent).not.toContain('query 10');
});

test('the collector opens it: a version, an id, and one cell of the list', async () => {
  const ids = new Set<string>();
  for (let i = 0; i < 20; i++) {
    await remember(READ);
    await relayed();
    const { report } = JSON.parse(service.reports[i] ?? '');
    const ciphertext = fromBase64url(report, VECTORS.report_length) ?? new Uint8Array();
    const secret = fromBase64url(VECTORS.collector_key, 32) ?? new Uint8Array();
    const info = infoOf(CAMPAIGN, String(SIGNED.head_list.digest));
    const [version, ...rest] = opened(secret, info, ciphertext);
    expect(version).toBe(1);
    expect(rest.length).toBe(17);
    expect((rest[16] ?? 255) >> 1).toBeLessThan(81); // 7 bits name one of 81 cells
    expect((rest[16] ?? 255) & 1).toBe(0);
    ids.add(toBase64url(Uint8Array.from(rest.slice(0, 16))));
  }
  expect(ids.size).toBe(20);
});

test('the ledger has both prices, and the relay that has the report', async () => {
  await relayed();
  expect((await kept()).entries).toEqual([
    {
      campaign: CAMPAIGN,
      role: 'relayed',
      service: SERVICE,
      relay: 'https://relay.example/shuffle/',
      madeFor: SIGNED.head_list.digest,
      body: service.reports[0],
      token: '',
      epsilon: '4.0',
      delta: '1e-05',
      relayEpsilon: expect.stringMatching(/^7\.65[23]\d{3}$/),
      drawnAt: NOW,
      state: 'sent',
      attempts: 1,
    },
  ]);
  const account = await device().account();
  expect(account).toMatchObject({ spent: 4, left: 4 });
  expect(account.ok && account.relaySpent + account.relayLeft).toBeCloseTo(16);
});

test('what a list says of its relay is known before anything is sent', async () => {
  const list = await device().headList(CAMPAIGN);
  expect(list).toMatchObject({
    ok: true,
    relay: {
      address: 'https://relay.example/shuffle/',
      leastBatch: 20_000,
      epsilon: 4,
      delta: 1e-5,
      odds: { question: 'record', size: 81, named: 1 },
    },
  });
  expect(service.reports).toEqual([]);
});

describe('a report that was not acknowledged', () => {
  test('is sent again with the same bytes, by a device that was started anew', async () => {
    service.answers = [0, 503, 404];
    expect(await relayed()).toMatchObject({ ok: true, state: 'unsent' });
    expect(await relayed()).toMatchObject({ ok: true, state: 'unsent' });
    expect(await device().resend()).toMatchObject({ ok: true, unsent: 1 });
    expect(await device().resend()).toMatchObject({ ok: true, unsent: 0 });
    expect(await relayed()).toMatchObject({ ok: true, state: 'sent' });
    expect(service.reports.length).toBe(4);
    expect(new Set(service.reports).size).toBe(1);
    expect(toRelay().length).toBe(4);
    expect((await kept()).entries).toMatchObject([{ state: 'sent', epsilon: '4.0' }]);
  });

  test.each([
    [[409], 'refused'],
    [[0, 409], 'uncertain'],
    [[503, 422], 'uncertain'],
    [[410], 'refused'],
  ])('after %j it is not sent again, and stays paid', async (answers, state) => {
    service.answers = [...answers];
    for (let i = 0; i < 3; i++) await relayed();
    expect(await relayed()).toMatchObject({ ok: false });
    expect(service.reports.length).toBe(answers.length);
    expect((await kept()).entries).toMatchObject([{ state, epsilon: '4.0' }]);
  });

  test('is forgotten with everything else, and no other one is drawn', async () => {
    service.answers = [0];
    await relayed();
    await device().forget();
    expect(await relayed()).toMatchObject({ ok: false });
    expect(service.reports.length).toBe(1);
    expect((await kept()).entries).toMatchObject([{ body: '', state: 'uncertain' }]);
  });
});

test('two calls at once draw two reports and send one', async () => {
  const results = await Promise.all([relayed(), relayed()]);
  expect(results.every(({ ok }) => ok)).toBe(true);
  expect(new Set(service.reports).size).toBe(1);
  expect((await kept()).entries.length).toBe(1);
});

describe('a person is in one group of a campaign', () => {
  const refusal = { ok: false, problem: expect.stringContaining('must not') };
  const promised = digestOf(VECTORS.description);
  const contribution = async () => ({
    agreed: await textDigest(String((VECTORS.description.consent as Fields).text)),
    promised: await promised,
    body: '{}',
  });

  test('a relayed report, then neither a local one nor a contribution', async () => {
    await relayed();
    expect(await device().report(CAMPAIGN, RECORD)).toMatchObject(refusal);
    service.state = 'opt-in-open';
    expect(await device().contribute(CAMPAIGN, await contribution())).toMatchObject(refusal);
    expect(service.reports.length).toBe(1);
    expect(service.contributions.size).toBe(0);
  });

  test('a local report, then no relayed one', async () => {
    expect(await device().report(CAMPAIGN, RECORD)).toMatchObject({ ok: true, relayEpsilon: 0 });
    expect(await relayed()).toMatchObject(refusal);
    expect(toRelay()).toEqual([]);
  });

  test('a contribution, then a relayed report only after it was withdrawn', async () => {
    service.state = 'opt-in-open';
    const given = await device().contribute(CAMPAIGN, await contribution());
    expect(given).toMatchObject({ ok: true, state: 'sent' });
    service.state = 'clients-open';
    expect(await relayed()).toMatchObject(refusal);
    await device().withdraw(CAMPAIGN);
    const paidTwice = { mostEpsilon: 8, mostDelta: 2e-5 };
    expect(await relayed(device({ policy: paidTwice }))).toMatchObject({ ok: true });
  });
});

describe('budgets', () => {
  const PAST: LedgerEntry = {
    campaign: '00000000-0000-4000-8000-000000000009',
    role: 'relayed',
    service: 'https://other.example',
    relay: 'https://relay.example/',
    madeFor: '',
    body: '{}',
    token: '',
    epsilon: '0.5',
    delta: '0.0',
    relayEpsilon: '8.000000',
    drawnAt: NOW - 30 * DAY,
    state: 'sent',
  };
  const before = (...entries: readonly Partial<LedgerEntry>[]) =>
    remember({ ...READ, entries: entries.map((entry) => ({ ...PAST, ...entry })) });
  const LIMITED = {
    epsilon: 'what others may learn (ε)',
    delta: 'the chance that a limit fails (δ)',
    together: 'what relay and organisation could learn together (ε)',
  };
  const refusal = (what: string) => ({
    ok: false,
    problem: `${what} must be at most what is left of this device’s budget`,
  });

  test('ε0 of one report has a cap', async () => {
    expect(await relayed(device({ policy: { mostRelayEpsilon: 7.6 } }))).toEqual(
      refusal(LIMITED.together),
    );
    expect(
      await device({ policy: { mostRelayEpsilon: 7.6 } }).report(CAMPAIGN, RECORD),
    ).toMatchObject({ ok: true });
  });

  test('ε0 of all reports of a window has another', async () => {
    await before({});
    expect(await relayed()).toMatchObject({ ok: true });
    await before({ relayEpsilon: '8.400000' });
    expect(await relayed()).toEqual(refusal(LIMITED.together));
    await before({ relayEpsilon: '8.400000', drawnAt: NOW - 91 * DAY });
    expect(await relayed()).toMatchObject({ ok: true });
  });

  test('δ adds up over relayed reports and contributions, not over local reports', async () => {
    await before({ delta: '1e-06', relayEpsilon: '1.0' });
    expect(await relayed()).toEqual(refusal(LIMITED.delta));
    await before({ role: 'contribution', delta: '1e-06' });
    expect(await relayed()).toEqual(refusal(LIMITED.delta));
    await before({ role: 'report', delta: '1e-06' });
    expect(await relayed()).toMatchObject({ ok: true });
  });

  test('ε is shared with everything else that was sent', async () => {
    await before({ role: 'report', epsilon: '4.1' });
    expect(await relayed()).toEqual(refusal(LIMITED.epsilon));
  });

  test('a relayed report counts for the pause between reports to a service', async () => {
    await before({ service: SERVICE, relayEpsilon: '1.0', drawnAt: NOW - 6 * DAY });
    const soon = { ok: false, problem: expect.stringContaining('7 days between two reports') };
    expect(await relayed()).toMatchObject(soon);
    expect(await device().report(CAMPAIGN, RECORD)).toMatchObject(soon);
  });
});

describe('refused, with nothing spent', () => {
  async function expectRefused(list: Fields, description = VECTORS.description): Promise<void> {
    service.text = JSON.stringify(list);
    service.description = description;
    expect((await relayed()).ok).toBe(false);
    expect((await device().headList(CAMPAIGN)).ok).toBe(false);
    expect(service.reports).toEqual([]);
    expect(await kept()).toEqual(READ);
  }

  test.each(Object.entries({ ...VECTORS.broken_head_lists, ...VECTORS.refused_by_policy }))(
    '%s',
    (_, list) => expectRefused(list),
  );

  test.each(Object.entries(VECTORS.refused_by_description))(
    'by the description: %s',
    (_, { signed, description }) => expectRefused(signed, description),
  );

  const RELAY = VECTORS.description.relay as Fields;

  /** Reports to a campaign whose well-signed list is bound to a description with this relay. */
  async function reportedTo(relay: Fields | null, address = RELAY.address, listed: Fields = {}) {
    const described = relay && { ...relay, address: address ?? null };
    const description = { ...VECTORS.description, relay: described };
    const bound = await digestOf(description);
    service.text = await signedText({
      list: () => ({
        ...without(SIGNED.head_list, 'digest'),
        relay: { ...(SIGNED.head_list.relay as Fields), ...listed },
      }),
      document: (document) => ({
        ...document,
        description: bound,
        relay: { ...SIGNED.relay, address: address ?? null },
      }),
    });
    service.description = description;
    await remember(EMPTY_LEDGER);
    return relayed();
  }

  test.each([
    ['a relay that is no object', null, 'relay must be an object'],
    ['a smaller cap of ε0', { ...RELAY, epsilon_cap: '7.652' }, 'report_epsilon must be at most'],
    ['another smallest batch', { ...RELAY, least_batch: 20_001 }, 'least_batch and dishonest'],
    ['more dishonest clients', { ...RELAY, dishonest: '0.3' }, 'least_batch and dishonest'],
    ['a cap that is no text', { ...RELAY, epsilon_cap: 8 }, 'epsilon_cap must be'],
    ['a batch that is no number', { ...RELAY, least_batch: '20000' }, 'least_batch must be'],
  ])('a description with %s', async (_, relay, problem) => {
    expect(await reportedTo(relay)).toEqual({
      ok: false,
      problem: expect.stringContaining(problem),
    });
    expect(service.reports).toEqual([]);
    expect(await kept()).toEqual(EMPTY_LEDGER);
  });

  test('none of this where all is as it was described', async () => {
    expect(await reportedTo(RELAY)).toMatchObject({ ok: true, state: 'sent' });
    expect(await reportedTo(RELAY, 'http://localhost:8099/')).toMatchObject({ ok: true });
  });

  test.each([
    ['a larger ε0', { report_epsilon: '7.654' }],
    ['a smaller δ', { delta: '9e-06' }],
    ['a smaller ε', { epsilon: '3.5' }],
  ])('a list that promises more than its batch keeps: %s', async (_, listed) => {
    expect(await reportedTo(RELAY, RELAY.address, listed)).toEqual({
      ok: false,
      problem: expect.stringContaining('the reports of a batch must keep'),
    });
    expect(await device().report(CAMPAIGN, RECORD)).toMatchObject({ ok: false });
    expect(service.reports).toEqual([]);
    expect(await kept()).toEqual(EMPTY_LEDGER);
  });

  test('a relay that others on the way could watch', async () => {
    expect(await reportedTo(RELAY, 'http://relay.example/')).toEqual({
      ok: false,
      problem: 'the relay’s address must be https, or http on this machine',
    });
    expect(service.reports).toEqual([]);
  });

  test('a campaign without a relay', async () => {
    const plain = new FakeService(await signedText());
    const client = device({ fetch: plain.fetch, storage: memoryStorage() });
    expect(await client.report(CAMPAIGN, RECORD, { throughRelay: true })).toEqual({
      ok: false,
      problem: 'the campaign has no relay',
    });
    expect(plain.reports).toEqual([]);
  });

  test('a campaign that does not take reports now', async () => {
    service.state = 'clients-ciphertext';
    expect(await relayed()).toMatchObject({ ok: false });
    expect(await kept()).toEqual(READ);
  });
});
