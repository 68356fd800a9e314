/** Public log of a service, and the checks that a device makes before it reports against a list. */
import { digestOf, type Fields, isObject, type Json, parseJson, without } from './canonical.js';
import type { LogPlace } from './ledger.js';
import { must, Refusal } from './refusal.js';
import { requireSignature } from './signature.js';

const DOMAIN = 'blender-dp log head 1\0';
const FIELDS = 'campaign,digest,hash,index,kind,previous,time';
const LOG_FIELDS = 'entries,public_key,signature';
const KINDS: readonly unknown[] = ['campaign', 'head-list', 'relay-batch', 'release'];
export const CAMPAIGN_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
export const DIGEST = /^sha256:[\da-f]{64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
/** A service sends no more entries at once. */
const MOST_ENTRIES = 10_000;
const MOST_LETTERS = 2 ** 23;
/** A log of more pieces is refused instead of read for hours. */
const MOST_PIECES = 1000;

/** One entry, with everything that it must have. */
export interface LogEntry extends LogPlace, Fields {
  readonly index: number;
  readonly hash: string;
  readonly kind: string;
  readonly campaign: string | null;
  readonly digest: string;
  readonly previous: string | null;
  readonly time: string;
}

/**
 * Refuses a list whose entry is not in the log; returns the last place read, to be remembered.
 *
 * The log is read from the place remembered of it, or from its beginning: every piece signed by
 * the list's key, every entry following from the one before, the remembered one where it was.
 * A service that keeps two logs and always shows this device the same one is not found out here.
 */
export async function requireLogged(
  listed: LogPlace,
  publicKey: string,
  remembered: LogPlace | undefined,
  fetchFrom: (index: number) => Promise<string>,
): Promise<LogPlace> {
  const wanted = [listed, ...(remembered ? [remembered] : [])];
  const end = Math.max(...wanted.map(({ index }) => index));
  let start = remembered ? Math.min(listed.index, remembered.index) : 0;
  let last: LogEntry | undefined;
  for (let piece = 0; piece < MOST_PIECES; piece++) {
    const entries = await readPiece(await fetchFrom(start), publicKey);
    for (const entry of entries) {
      must(follows(entry, last, start), 'every entry of the log must follow the one before');
      must(
        wanted.every(({ index, hash }) => index !== entry.index || hash === entry.hash),
        'the log must have the entry of the list, and every entry that it had before',
      );
      last = entry;
    }
    must(entries.length > 0 && last !== undefined, 'the log must have the entry of the list');
    if (last.index >= end) return { index: last.index, hash: last.hash };
    start = last.index + 1;
  }
  throw new Refusal('the log must be shorter');
}

/** Reads an entry, wherever it is from; refuses one whose hash is not that of its fields. */
export async function readLogEntry(entry: Json | undefined): Promise<LogEntry> {
  must(isObject(entry) && isEntry(entry), 'log_entry must be an entry of the public log');
  const hash = await digestOf(without(entry, 'hash'));
  must(entry.hash === hash, 'hash of the log entry does not match the rest of it');
  return entry;
}

async function readPiece(text: string, publicKey: string): Promise<readonly LogEntry[]> {
  const log = parseJson(text, MOST_LETTERS);
  must(
    isObject(log) && Object.keys(log).sort().join() === LOG_FIELDS && Array.isArray(log.entries),
    'the log must have its fields',
  );
  const { entries } = log;
  must(entries.length <= MOST_ENTRIES, 'the log must come in smaller pieces');
  must(log.public_key === publicKey, 'the log must be signed by the key of the list');
  const last = entries.at(-1);
  const head = isObject(last) && typeof last.hash === 'string' ? last.hash : '';
  await requireSignature(DOMAIN + head, publicKey, log.signature);
  return Promise.all(entries.map(readLogEntry));
}

/** Tells whether an entry comes after another, or is the first that was asked for. */
function follows(entry: LogEntry, last: LogEntry | undefined, start: number): boolean {
  if (!last) return entry.index === start && (start > 0 || entry.previous === null);
  const { index, hash, time } = last;
  return entry.index === index + 1 && entry.previous === hash && entry.time >= time;
}

function isEntry(entry: Fields): entry is LogEntry {
  const { campaign, digest, index, kind, previous, time } = entry;
  return (
    Object.keys(entry).sort().join() === FIELDS &&
    typeof index === 'number' &&
    Number.isSafeInteger(index) &&
    index >= 0 &&
    KINDS.includes(kind) &&
    (campaign === null || CAMPAIGN_ID.test(`${campaign}`)) &&
    DIGEST.test(`${digest}`) &&
    (previous === null || DIGEST.test(`${previous}`)) &&
    TIME.test(`${time}`)
  );
}
