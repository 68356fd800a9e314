/** Every rule of the client broken, one at a time and in pairs: refused, and nothing is spent. */
import { describe, expect, test } from 'vitest';
import { type Fields, without } from '../src/canonical.js';
import { BlenderClient } from '../src/client.js';
import { EMPTY_LEDGER, type Ledger, type LedgerEntry, type LogPlace } from '../src/ledger.js';
import { readSignedHeadList } from '../src/signed-head-list.js';
import { memoryStorage } from '../src/storage.js';
import {
  CAMPAIGN,
  type Changes,
  FakeService,
  goodList,
  OTHER_PUBLIC_KEY,
  SERVICE,
  signedText,
} from './service.js';
import { readVectors } from './vectors.js';

const NOW = Date.UTC(2026, 10, 15);
const DAY = 86_400_000;
const OTHER_CAMPAIGN = '00000000-0000-4000-8000-000000000002';
const NOWHERE = `sha256:${'0'.repeat(64)}`;
const PAST: LedgerEntry = {
  service: 'https://other.example',
  campaign: OTHER_CAMPAIGN,
  role: 'report',
  madeFor: NOWHERE,
  body: '{}',
  token: '',
  epsilon: '4.5',
  delta: '0.0',
  drawnAt: NOW - 30 * DAY,
  state: 'sent',
};

/** A broken rule: in the list, or in what the device remembers. */
interface Broken {
  readonly changes?: Changes;
  readonly ledger?: (ledger: Ledger) => Ledger;
}

const withEntry = (entry: LedgerEntry) => (ledger: Ledger) => ({
  ...ledger,
  entries: [...ledger.entries, entry],
});
const mechanism = (changed: Fields): Changes => ({
  list: (list) => ({ ...list, mechanism: { ...(list.mechanism as Fields), ...changed } }),
});

const RULES: Readonly<Record<string, Broken>> = {
  'no signature': { changes: { signature: () => null } },
  'a bad signature': {
    changes: { signature: (text) => text.replace(/^./, (x) => (x === 'A' ? 'B' : 'A')) },
  },
  'a key that was not seen first': {
    ledger: (ledger) => ({ ...ledger, keys: { ...ledger.keys, [SERVICE]: OTHER_PUBLIC_KEY } }),
  },
  'another campaign': {
    changes: { document: (document) => ({ ...document, campaign: OTHER_CAMPAIGN }) },
  },
  'a digest that does not match': { changes: { digest: NOWHERE } },
  'a log entry about another list': {
    changes: { entry: (entry) => ({ ...entry, digest: NOWHERE }) },
  },
  'a log entry of another campaign': {
    changes: { entry: (entry) => ({ ...entry, campaign: OTHER_CAMPAIGN }) },
  },
  'a log entry of another kind': { changes: { entry: (entry) => ({ ...entry, kind: 'release' }) } },
  'a log entry with a wrong hash': { changes: { hash: NOWHERE } },
  'no log entry': { changes: { document: (document) => without(document, 'log_entry') } },
  'a list for experiments': { changes: { list: (list) => ({ ...list, private: false }) } },
  'too few queries': {
    changes: { list: (list) => ({ ...list, queries: (list.queries as Fields[]).slice(0, 31) }) },
  },
  'another list than before': {
    ledger: (ledger) => ({
      ...ledger,
      lists: { ...ledger.lists, [CAMPAIGN]: NOWHERE },
    }),
  },
  'an ε above the cap': { changes: mechanism({ epsilon: '8.1' }) },
  'an ε above what is left': { ledger: withEntry(PAST) },
  'a report too soon': {
    ledger: withEntry({ ...PAST, service: SERVICE, epsilon: '0.1', drawnAt: NOW - 6.9 * DAY }),
  },
  'an unknown mechanism version': { changes: mechanism({ version: 2 }) },
  'an unknown mechanism': { changes: mechanism({ name: 'sharper' }) },
};
const NAMES = Object.keys(RULES);

/** Returns both changes as one; functions at the same level are applied one after the other. */
function both(first: Changes = {}, second: Changes = {}): Changes {
  const joined: Record<string, unknown> = { ...first };
  for (const [level, change] of Object.entries(second)) {
    const before = joined[level];
    joined[level] =
      typeof change === 'function' && typeof before === 'function'
        ? (value: unknown) => (value === null ? null : change(before(value) ?? ''))
        : change;
  }
  return joined;
}

async function tryToReport(broken: readonly Broken[]) {
  const text = await signedText(
    broken.reduce<Changes>((all, { changes }) => both(all, changes), {}),
  );
  const service = new FakeService(text);
  const storage = memoryStorage();
  const before = broken.reduce((ledger, rule) => rule.ledger?.(ledger) ?? ledger, EMPTY_LEDGER);
  await storage.update(() => ({ ledger: before, value: undefined }));
  const client = new BlenderClient({
    service: SERVICE,
    storage,
    fetch: service.fetch,
    now: () => NOW,
  });
  const result = await client.report(CAMPAIGN, { query: 'query 17', url: 'a.example' });
  const after = await storage.update((ledger) => ({ value: ledger }));
  return { result, before, after, reports: service.reports };
}

async function expectRefused(names: readonly string[]): Promise<void> {
  const { result, before, after, reports } = await tryToReport(
    names.map((name) => RULES[name] ?? {}),
  );
  expect(result.ok, names.join(' and ')).toBe(false);
  expect(after).toEqual(before);
  expect(reports).toEqual([]);
}

test('without a broken rule the same device reports, and the ledger shows it', async () => {
  const { result, after, reports } = await tryToReport([]);
  expect(result).toMatchObject({ ok: true, state: 'sent', epsilon: 4 });
  expect(after.entries).toMatchObject([{ state: 'sent', epsilon: '4.000000', body: reports[0] }]);
});

describe('refused with the ledger untouched', () => {
  test.each(NAMES)('%s', (name) => expectRefused([name]));
});

test('every pair of broken rules is refused, and the ledger shows nothing spent', async () => {
  for (const [i, first] of NAMES.entries()) {
    for (const second of NAMES.slice(i + 1)) await expectRefused([first, second]);
  }
});

test('a key that was given is the only one trusted, even at first sight', async () => {
  const service = new FakeService(await signedText());
  const storage = memoryStorage();
  const options = { service: SERVICE, storage, fetch: service.fetch, publicKey: OTHER_PUBLIC_KEY };
  const result = await new BlenderClient(options).report(CAMPAIGN, null);
  expect(result).toEqual({
    ok: false,
    problem:
      'the key of this server (public_key) must be the one that it had before; please ask its contact',
  });
  expect(await storage.update((ledger) => ({ value: ledger }))).toEqual(EMPTY_LEDGER);
});

interface Vectors {
  readonly campaign: string;
  readonly good: Fields;
  readonly description: Fields;
  readonly signed_by_another_key: Fields;
  readonly broken: Readonly<Record<string, Fields>>;
  readonly refused_by_policy: Readonly<Record<string, Fields>>;
}

const VECTORS = readVectors<Vectors>('signed_head_list');

/** A device that has read the log up to the entry of the good list. */
const { index, hash } = VECTORS.good.log_entry as Fields & LogPlace;
const READ: Ledger = {
  ...EMPTY_LEDGER,
  logs: { [String(VECTORS.good.public_key)]: { index, hash } },
};

async function reportTo(document: Fields, description = VECTORS.description) {
  const service = new FakeService(JSON.stringify(document));
  service.description = description;
  const storage = memoryStorage();
  await storage.update(() => ({ ledger: READ, value: undefined }));
  const options = {
    service: SERVICE,
    storage,
    fetch: service.fetch,
    publicKey: String(VECTORS.good.public_key),
  };
  const result = await new BlenderClient(options).report(VECTORS.campaign, null);
  const ledger = await storage.update((kept) => ({ value: kept }));
  return { result, ledger };
}

test('the good vector is taken', async () => {
  const { result, ledger } = await reportTo(VECTORS.good);
  expect(result.ok).toBe(true);
  expect(ledger.entries.length).toBe(1);
});

test.each(Object.keys({ ...VECTORS.broken, ...VECTORS.refused_by_policy }))(
  'the vector with %s is refused, and nothing is spent',
  async (what) => {
    const { result, ledger } = await reportTo(
      VECTORS.broken[what] ?? VECTORS.refused_by_policy[what] ?? {},
    );
    expect(result.ok).toBe(false);
    expect(ledger).toEqual(READ);
  },
);

test('the vector of another key is in order, and refused for its key', async () => {
  const text = JSON.stringify(VECTORS.signed_by_another_key);
  expect((await readSignedHeadList(text)).campaign).toBe(VECTORS.campaign);
  expect((await reportTo(VECTORS.signed_by_another_key)).result.ok).toBe(false);
});

test('numbers that only JavaScript takes for whole are refused', async () => {
  const text = JSON.stringify(VECTORS.good);
  await expect(readSignedHeadList(text.replace('"version":2', '"version":2.0'))).rejects.toThrow(
    'whole',
  );
  await expect(readSignedHeadList(text.replace('"version":2', '"version":2e0'))).rejects.toThrow(
    'whole',
  );
});

test('a browser without Ed25519 refuses instead of skipping the check', async () => {
  const { importKey } = crypto.subtle;
  Object.defineProperty(crypto.subtle, 'importKey', {
    configurable: true,
    value: () => Promise.reject(new DOMException('unknown', 'NotSupportedError')),
  });
  try {
    const { result, ledger } = await reportTo(VECTORS.good);
    expect(result).toMatchObject({ ok: false, problem: expect.stringContaining('Ed25519') });
    expect(ledger).toEqual(READ);
  } finally {
    Object.defineProperty(crypto.subtle, 'importKey', { configurable: true, value: importKey });
  }
});

test('the test service makes lists that the vectors’ reader takes', async () => {
  expect((await readSignedHeadList(await signedText())).headList.queries.length).toBe(
    (goodList().queries as Fields[]).length,
  );
});
