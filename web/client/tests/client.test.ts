/** What a device does with its one report: stored first, the same bytes every time, never a throw. */
import 'fake-indexeddb/auto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Fields } from '../src/canonical.js';
import { BlenderClient, type ClientOptions } from '../src/client.js';
import { EMPTY_LEDGER } from '../src/ledger.js';
import { indexedDbStorage, memoryStorage, type Storage } from '../src/storage.js';
import {
  CAMPAIGN,
  entryOf,
  FakeService,
  LOG,
  listOf,
  PUBLIC_KEY,
  SERVICE,
  signedText,
} from './service.js';

const RECORD = { query: 'query 17', url: 'a.example' };
const DAY = 86_400_000;
let service: FakeService;
let databases = 0;

beforeEach(async () => {
  service = new FakeService(await signedText());
});

function device(storage: Storage, options: Partial<ClientOptions> = {}): BlenderClient {
  return new BlenderClient({ service: SERVICE, storage, fetch: service.fetch, ...options });
}

async function kept(storage: Storage) {
  return storage.update((ledger) => ({ value: ledger }));
}

describe.each(['memory', 'IndexedDB'])('with the ledger in %s', (kind) => {
  let storage: Storage;

  beforeEach(() => {
    storage = kind === 'memory' ? memoryStorage() : indexedDbStorage(`test ${databases++}`);
  });

  test('a report is written before it is sent', async () => {
    let written = EMPTY_LEDGER;
    service.beforeReport = async () => {
      written = await kept(storage);
    };
    await device(storage).report(CAMPAIGN, RECORD);
    expect(written.entries).toMatchObject([
      { role: 'report', state: 'unsent', epsilon: '4.000000', body: service.reports[0] },
    ]);
    expect((await kept(storage)).entries).toMatchObject([{ state: 'sent' }]);
  });

  test('retries send the same bytes, after a restart too', async () => {
    service.answers = [0, 503, 429, 202];
    const first = await device(storage).report(CAMPAIGN, RECORD);
    expect(first).toMatchObject({ ok: true, state: 'unsent' });
    expect(await device(storage).resend()).toEqual({ ok: true, unsent: 1 });
    expect(await device(storage).report(CAMPAIGN, null)).toMatchObject({ state: 'unsent' });
    expect(await device(storage).resend()).toEqual({ ok: true, unsent: 0 });
    expect(service.reports.length).toBe(4);
    expect(new Set(service.reports)).toEqual(new Set([first.ok && first.report]));
  });

  test('a second call draws nothing and sends nothing', async () => {
    const first = await device(storage).report(CAMPAIGN, RECORD);
    const second = await device(storage).report(CAMPAIGN, { query: 'query 20', url: 'a.example' });
    expect(second).toEqual(first);
    expect(service.reports.length).toBe(1);
    expect(service.traffic.length, 'list, campaign and log are fetched once').toBe(4);
    expect((await kept(storage)).entries.length).toBe(1);
  });

  test('ten calls at once make one report', async () => {
    const devices = Array.from({ length: 10 }, () => device(storage));
    const results = await Promise.all(devices.map((one) => one.report(CAMPAIGN, RECORD)));
    expect(new Set(results.map((result) => result.ok && result.report)).size).toBe(1);
    expect(new Set(service.reports).size).toBe(1);
    expect((await kept(storage)).entries.length).toBe(1);
  });

  test('a change that throws leaves the ledger as it was', async () => {
    await device(storage).report(CAMPAIGN, RECORD);
    const before = await kept(storage);
    const failing = storage.update(() => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await kept(storage)).toEqual(before);
  });

  test('a report that the service refuses for good is not sent again', async () => {
    service.answers = [422];
    expect((await device(storage).report(CAMPAIGN, RECORD)).ok).toBe(false);
    expect((await device(storage).report(CAMPAIGN, RECORD)).ok).toBe(false);
    expect(await device(storage).resend()).toEqual({ ok: true, unsent: 0 });
    expect(service.reports.length).toBe(1);
  });
});

test('the next campaign of a service may come after seven days, and not before', async () => {
  const storage = memoryStorage();
  let now = 1000 * DAY;
  const client = device(storage, { now: () => now });
  await client.report(CAMPAIGN, RECORD);
  const next = '00000000-0000-4000-8000-000000000003';
  const log = [...LOG, ...entryOf(service.text)];
  service.text = await listOf(next, log);
  service.log = [...log, ...entryOf(service.text)];
  now += 7 * DAY - 1;
  expect((await client.report(next, RECORD)).ok).toBe(false);
  now += 1;
  expect((await client.report(next, RECORD)).ok).toBe(true);
});

test('a list that was looked at must stay the same', async () => {
  const storage = memoryStorage();
  const client = device(storage, { publicKey: PUBLIC_KEY });
  expect(await client.headList(CAMPAIGN)).toMatchObject({
    ok: true,
    queryCount: 40,
    cellCount: 81,
    epsilon: 4,
  });
  const log = [...LOG, ...entryOf(service.text)];
  const longer = (list: Fields) => ({
    ...list,
    queries: [{ query: 'a', urls: ['b'] }, ...(list.queries as Fields[])],
  });
  service.text = await signedText({ list: longer }, log);
  service.log = [...log, ...entryOf(service.text)];
  const result = await client.report(CAMPAIGN, RECORD);
  expect(result).toEqual({
    ok: false,
    problem: 'a campaign must have one list, the same for everybody',
  });
  expect((await kept(storage)).entries).toEqual([]);
});

test('a report before the campaign takes them would be wasted, and is not drawn', async () => {
  const storage = memoryStorage();
  for (const state of ['list-published', 'clients-sealed', '']) {
    service.state = state;
    expect(await device(storage).report(CAMPAIGN, RECORD)).toEqual({
      ok: false,
      problem: 'the campaign does not take reports now',
    });
  }
  expect(await kept(storage)).toEqual(EMPTY_LEDGER);
  service.state = 'clients-open';
  expect((await device(storage).report(CAMPAIGN, RECORD)).ok).toBe(true);
});

test('neither the query nor the URL of a record is ever sent', async () => {
  await device(memoryStorage()).report(CAMPAIGN, { query: 'query 17', url: 'planted.example' });
  expect(service.traffic.length).toBe(4);
  for (const request of service.traffic) expect(request).not.toMatch(/query 17|planted/);
  const { report_id: id, ...rest } = JSON.parse(service.reports[0] ?? '');
  expect(id).toMatch(/^[\w-]{22}$/);
  expect(Object.keys(rest).sort()).toEqual([
    'head_list',
    'items',
    'mechanism',
    'question',
    'version',
  ]);
});

test('a device that cannot write sends nothing', async () => {
  const full: Storage = {
    update: async (change) => {
      const { ledger, value } = change(EMPTY_LEDGER);
      if (ledger) throw new DOMException('full', 'QuotaExceededError');
      return value;
    },
  };
  expect(await device(full).report(CAMPAIGN, RECORD)).toEqual({
    ok: false,
    problem: 'this device could not do it',
  });
  expect(service.reports).toEqual([]);
});

const ROUGH: Readonly<Record<string, Partial<ClientOptions>>> = {
  'a service that is no address': { service: undefined as never },
  'no storage': { storage: undefined as never },
  'a fetch that throws at once': {
    fetch: () => {
      throw new Error('planted');
    },
  },
  'an answer that is no list': { fetch: async () => new Response('<html>') },
  'an answer of a hundred thousand brackets': {
    fetch: async () => new Response('['.repeat(100_000)),
  },
  'an answer nested deeply': {
    fetch: async () => new Response(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`),
  },
  'an error of the service': { fetch: async () => new Response('', { status: 500 }) },
  'a clock that throws': {
    now: () => {
      throw new Error('planted');
    },
  },
};

test.each(Object.keys(ROUGH))('%s never throws into the page', async (what) => {
  const client = device(memoryStorage(), ROUGH[what]);
  const results = [
    await client.report(CAMPAIGN, RECORD),
    await client.report(undefined as never, 1 as never),
    await client.headList(CAMPAIGN),
    await client.release(CAMPAIGN),
    await client.resend(),
    await client.account(),
  ];
  expect(results[0]?.ok).toBe(false);
  for (const result of results) {
    if (!result.ok) expect(result.problem).not.toContain('planted');
  }
});

test('a release is fetched as text, to be kept for searching offline', async () => {
  service.text = '{"format": "blender-dp release"}';
  expect(await device(memoryStorage()).release(CAMPAIGN)).toEqual({ ok: true, text: service.text });
});
