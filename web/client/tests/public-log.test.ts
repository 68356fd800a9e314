/** The public log: a list that it does not have, or a log that was rewritten, gets nothing. */
import { beforeEach, expect, test } from 'vitest';
import type { Fields } from '../src/canonical.js';
import { BlenderClient } from '../src/client.js';
import type { LogPlace } from '../src/ledger.js';
import { requireLogged } from '../src/public-log.js';
import { Refusal } from '../src/refusal.js';
import { memoryStorage, type Storage } from '../src/storage.js';
import {
  CAMPAIGN,
  entryOf,
  FakeService,
  following,
  LOG,
  logText,
  PUBLIC_KEY,
  SERVICE,
  signedText,
} from './service.js';
import { readVectors } from './vectors.js';

interface Case {
  readonly name: string;
  readonly listed: LogPlace;
  readonly remembered: LogPlace | null;
  /** What the service answers, by the index that is asked for. */
  readonly pieces: Readonly<Record<string, Fields>>;
  /** The index that is remembered; null if the list is refused. */
  readonly remembers: number | null;
}

const { public_key: KEY, cases } = readVectors<{
  readonly public_key: string;
  readonly cases: readonly Case[];
}>('public_log');

function read({ listed, remembered, pieces }: Case): Promise<LogPlace> {
  return requireLogged(listed, KEY, remembered ?? undefined, async (start) =>
    JSON.stringify(pieces[start] ?? null),
  );
}

test.each(cases)('a log $name', async (one) => {
  if (one.remembers === null) await expect(read(one)).rejects.toThrow(Refusal);
  else expect(await read(one)).toMatchObject({ index: one.remembers });
});

let service: FakeService;
let storage: Storage;
let client: BlenderClient;

beforeEach(async () => {
  service = new FakeService(await signedText());
  storage = memoryStorage();
  client = new BlenderClient({ service: SERVICE, storage, fetch: service.fetch });
});

test('a device keeps what was signed, and the place of the log that it read', async () => {
  expect((await client.report(CAMPAIGN, null)).ok).toBe(true);
  const { logs, evidence } = await storage.update((ledger) => ({ value: ledger }));
  const { head_list: list, format, version, ...signed } = JSON.parse(service.text);
  expect(evidence).toEqual({ [CAMPAIGN]: { ...signed, head_list: list.digest } });
  expect(logs).toEqual({ [PUBLIC_KEY]: { index: 3, hash: signed.log_entry.hash } });
});

test('a list that the log does not have is refused, and nothing is remembered', async () => {
  const before = await storage.update((ledger) => ({ value: ledger }));
  for (const kind of ['campaign', 'release']) {
    service.log = [...LOG, await following(LOG, { kind, digest: `sha256:${'1'.repeat(64)}` })];
    expect((await client.report(CAMPAIGN, null)).ok).toBe(false);
  }
  service.log = LOG;
  expect((await client.headList(CAMPAIGN)).ok).toBe(false);
  expect(await storage.update((ledger) => ({ value: ledger }))).toEqual(before);
  expect(service.reports).toEqual([]);
});

test.each([
  ['relay-batch', true],
  ['relay-batches', false],
])('a log with an entry of the kind %s is taken: %s', async (kind, isTaken) => {
  const log = [...LOG, ...entryOf(service.text)];
  service.log = [...log, await following(log, { kind, digest: `sha256:${'1'.repeat(64)}` })];
  expect((await client.headList(CAMPAIGN)).ok).toBe(isTaken);
});

test('a log that became shorter, or forgot an entry, is refused for the next list too', async () => {
  const log = [...LOG, ...entryOf(service.text)];
  const later = await following(log, { kind: 'release', digest: `sha256:${'1'.repeat(64)}` });
  service.log = [...log, later];
  expect((await client.headList(CAMPAIGN)).ok).toBe(true);
  service.log = log;
  expect((await client.report(CAMPAIGN, null)).ok, 'shorter').toBe(false);
  const other = await following(log, { kind: 'release', digest: `sha256:${'2'.repeat(64)}` });
  service.log = [...log, other];
  expect((await client.report(CAMPAIGN, null)).ok, 'another entry').toBe(false);
  service.log = [...log, later];
  expect((await client.report(CAMPAIGN, null)).ok, 'as it was').toBe(true);
});

test('pieces that are too long, or too many, are refused', async () => {
  const [listed] = entryOf(service.text) as readonly (Fields & LogPlace)[];
  if (!listed) throw new Error('the list has no entry');
  const long = JSON.stringify({ entries: Array(10_001).fill(null), public_key: PUBLIC_KEY });
  const tooLong = [long.replace('}', ',"signature":""}'), ' '.repeat(2 ** 23 + 1)];
  for (const text of tooLong) {
    await expect(requireLogged(listed, PUBLIC_KEY, undefined, async () => text)).rejects.toThrow(
      'smaller',
    );
  }
  let asked = 0;
  const far = { ...listed, index: 2000 };
  const entries: Fields[] = [];
  const onePiece = async () => {
    asked++;
    entries.push(await following(entries, { kind: 'campaign', digest: listed.hash }));
    return logText(entries.slice(-1));
  };
  await expect(requireLogged(far, PUBLIC_KEY, undefined, onePiece)).rejects.toThrow('shorter');
  expect(asked).toBe(1000);
});
