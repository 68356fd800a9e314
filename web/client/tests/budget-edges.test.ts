/** The edges of a device's budget: the window, both caps, all services, settings, storage. */
import 'fake-indexeddb/auto';
import { beforeEach, describe, expect, test } from 'vitest';
import { BlenderClient, type ClientOptions } from '../src/client.js';
import { EMPTY_LEDGER, type Ledger } from '../src/ledger.js';
import type { Policy } from '../src/policy.js';
import { indexedDbStorage, memoryStorage, type Storage } from '../src/storage.js';
import {
  CAMPAIGN,
  entryOf,
  FakeService,
  LOG,
  listOf,
  OTHER_PUBLIC_KEY,
  PUBLIC_KEY,
  SERVICE,
  signedText,
} from './service.js';

const RECORD = { query: 'query 17', url: 'a.example' };
const OTHER_CAMPAIGN = '00000000-0000-4000-8000-000000000002';
const DAY = 86_400_000;
const START = 1000 * DAY;
let service: FakeService;
let databases = 0;

beforeEach(async () => {
  service = new FakeService(await signedText());
});

function device(storage: Storage, options: Partial<ClientOptions> = {}): BlenderClient {
  return new BlenderClient({ service: SERVICE, storage, fetch: service.fetch, ...options });
}

describe('the window', () => {
  test('an entry exactly as old as the window counts no longer, a moment earlier it does', async () => {
    let now = START;
    const client = device(memoryStorage(), { now: () => now });
    await client.report(CAMPAIGN, RECORD);
    expect(await client.account()).toMatchObject({ ok: true, spent: 4, left: 4 });
    now = START + 90 * DAY - 1;
    expect(await client.account()).toMatchObject({ spent: 4, left: 4 });
    now = START + 90 * DAY;
    expect(await client.account()).toMatchObject({ spent: 0, left: 8 });
    now = START - 500 * DAY;
    expect(await client.account(), 'a clock set back').toMatchObject({ spent: 4 });
  });
});

describe('the budget', () => {
  test('is one over all services together', async () => {
    const storage = memoryStorage();
    const policy = { mostEpsilon: 7.999 };
    expect((await device(storage, { policy }).report(CAMPAIGN, RECORD)).ok).toBe(true);
    const log = [...LOG, ...entryOf(service.text)];
    service.text = await listOf(OTHER_CAMPAIGN, log);
    service.log = [...log, ...entryOf(service.text)];
    const other = device(storage, { policy, service: 'https://other.example' });
    expect(await other.report(OTHER_CAMPAIGN, RECORD)).toMatchObject({
      problem: expect.stringContaining('budget'),
    });
    expect(service.reports.length).toBe(1);
    const richer = device(storage, {
      policy: { mostEpsilon: 8 },
      service: 'https://other.example',
    });
    expect((await richer.report(OTHER_CAMPAIGN, RECORD)).ok, 'exactly the cap').toBe(true);
  });
});

describe('a policy with a setting that is no number', () => {
  const SETTINGS = Object.keys({
    mostEpsilon: 0,
    mostDelta: 0,
    mostRelayEpsilon: 0,
    mostRelayTotal: 0,
    windowDays: 0,
    shortestIntervalDays: 0,
    tokenDelayHours: 24,
    smallestList: 0,
  } satisfies Policy);

  test.each(SETTINGS.flatMap((name) => [Number.NaN, -1].map((value) => [name, value] as const)))(
    '%s = %d lets nothing through, even at first',
    async (name, value) => {
      const client = device(memoryStorage(), { policy: { [name]: value } });
      expect(await client.report(CAMPAIGN, null)).toEqual({
        ok: false,
        problem: 'every setting of the policy must be a number of 0 or more',
      });
      expect(service.reports).toEqual([]);
    },
  );

  const FINITE = ['mostEpsilon', 'mostDelta', 'mostRelayEpsilon', 'mostRelayTotal'];
  test.each(FINITE)('%s must be finite', async (name) => {
    const policy = { [name]: Number.POSITIVE_INFINITY };
    expect((await device(memoryStorage(), { policy }).report(CAMPAIGN, null)).ok).toBe(false);
  });
});

describe('a key that was given', () => {
  const remembering = (key: string): Ledger => ({ ...EMPTY_LEDGER, keys: { [SERVICE]: key } });

  test('is trusted before the one that was seen first', async () => {
    const storage = memoryStorage();
    await storage.update(() => ({ ledger: remembering(OTHER_PUBLIC_KEY), value: 0 }));
    const client = device(storage, { publicKey: PUBLIC_KEY });
    expect((await client.report(CAMPAIGN, null)).ok).toBe(true);
  });

  test('is the only one, though another was seen first', async () => {
    const storage = memoryStorage();
    await storage.update(() => ({ ledger: remembering(PUBLIC_KEY), value: 0 }));
    const client = device(storage, { publicKey: OTHER_PUBLIC_KEY });
    expect((await client.report(CAMPAIGN, null)).ok).toBe(false);
    expect(service.reports).toEqual([]);
  });
});

describe('storage', () => {
  test('that answers before it has written gets nothing sent', async () => {
    let kept: Ledger = EMPTY_LEDGER;
    const late: (() => void)[] = [];
    const hasty: Storage = {
      async update(change) {
        const { ledger, value } = change(kept);
        if (ledger) late.push(() => (kept = ledger));
        return value;
      },
    };
    expect(await device(hasty).report(CAMPAIGN, RECORD)).toEqual({
      ok: false,
      problem: 'storage must have written before anything is sent',
    });
    expect(service.reports).toEqual([]);
  });

  test('in IndexedDB has written only when the transaction is complete', async () => {
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (...given) {
      const request = put.apply(this, given);
      // As when the disk is full: found out after the value was put, while it is committed.
      request.addEventListener('success', () => this.transaction.abort());
      return request;
    };
    const storage = indexedDbStorage(`edges ${databases++}`);
    try {
      const writing = storage.update((ledger) => ({ ledger, value: 'written' }));
      await expect(writing).rejects.toBeDefined();
      expect((await device(storage).report(CAMPAIGN, RECORD)).ok).toBe(false);
    } finally {
      IDBObjectStore.prototype.put = put;
    }
    expect(service.reports).toEqual([]);
  });

  test('in IndexedDB is asked to have it on the disk before it says so', async () => {
    const asked: unknown[] = [];
    const { transaction } = IDBDatabase.prototype;
    IDBDatabase.prototype.transaction = function (...given) {
      if (given[1] !== ('versionchange' as never)) asked.push(given.slice(1));
      return transaction.apply(this, given);
    };
    try {
      await device(indexedDbStorage(`edges ${databases++}`)).report(CAMPAIGN, RECORD);
    } finally {
      IDBDatabase.prototype.transaction = transaction;
    }
    expect(asked.length).toBeGreaterThan(2);
    for (const given of asked) expect(given).toEqual(['readwrite', { durability: 'strict' }]);
  });
});
