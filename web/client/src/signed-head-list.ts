/** A head list as a service publishes it: signed, and entered in a public log. */
import { fromBase64url } from './base64url.js';
import {
  canonicalJson,
  digestOf,
  type Fields,
  isObject,
  type Json,
  utf8,
  without,
} from './canonical.js';
import { type HeadList, readHeadList } from './head-list.js';
import { guarded, must, type Result } from './refusal.js';

const FORMAT = 'blender-dp signed head list';
const DOMAIN = `${FORMAT} 2\0`;
const FIELDS = 'campaign,description,format,head_list,log_entry,public_key,signature,version';
const ENTRY_FIELDS = 'campaign,digest,hash,index,kind,previous,time';
const CAMPAIGN_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const DIGEST = /^sha256:[\da-f]{64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const MOST_LETTERS = 2 ** 26;

export interface SignedHeadList {
  readonly campaign: string;
  /** The digest of the campaign's public description. */
  readonly description: string;
  readonly headList: HeadList;
  /** Who signed it: base64url of 32 bytes. */
  readonly publicKey: string;
}

/** Reads a signed head list; refuses one whose parts do not belong together. */
export async function readSignedHeadList(text: string): Promise<SignedHeadList> {
  const document = parse(text);
  must(document.format === FORMAT, `format must be "${FORMAT}"`);
  must(document.version === 2, 'version must be 2, the version this software reads');
  must(Object.keys(document).sort().join() === FIELDS, 'a signed head list must have its fields');
  const { campaign, description, log_entry: entry, public_key: publicKey } = document;
  must(
    typeof campaign === 'string' && CAMPAIGN_ID.test(campaign),
    'campaign must be the id of a campaign',
  );
  must(
    typeof description === 'string' && DIGEST.test(description),
    'description must be the digest of the campaign’s description',
  );
  const headList = await readHeadList(document.head_list);
  const hash = await readLogEntry(entry, campaign, headList.digest);
  const signed = { campaign, description, head_list: headList.digest, log_entry: hash };
  must(typeof publicKey === 'string', 'public_key must be a text');
  await requireSignature(DOMAIN + canonicalJson(signed), publicKey, document.signature);
  return { campaign, description, headList, publicKey };
}

/** Tells whether a list as it was published is what a device of this campaign would take. */
export function checkHeadList(text: string, campaign: string): Promise<Result> {
  return guarded(async () => {
    const signed = await readSignedHeadList(text);
    must(signed.campaign === campaign, 'campaign must be the one that was asked for');
    return {};
  });
}

function parse(text: string): Fields {
  must(text.length <= MOST_LETTERS, 'a signed head list must be smaller');
  let document: Json;
  try {
    document = JSON.parse(text);
  } catch {
    document = null;
  }
  must(isObject(document), 'a signed head list must be a JSON object');
  // JSON.parse reads 1.0 and 1e0 as 1; no other reader of these documents takes them for it.
  const outsideTexts = text.replace(/"(?:[^"\\]|\\.)*"/g, '');
  must(!/\d[.eE]|-/.test(outsideTexts), 'numbers must be whole');
  return document;
}

/** Returns the hash of a log entry that is about this list. */
async function readLogEntry(
  entry: Json | undefined,
  campaign: string,
  digest: string,
): Promise<string> {
  must(isObject(entry) && isEntry(entry), 'log_entry must be an entry of the public log');
  const hash = await digestOf(without(entry, 'hash'));
  must(entry.hash === hash, 'hash of the log entry does not match the rest of it');
  must(
    entry.kind === 'head-list' && entry.digest === digest && entry.campaign === campaign,
    'log_entry must be about this list',
  );
  return hash;
}

/** Tells whether an object has the fields of a log entry, those that nothing else checks of their kind. */
function isEntry(entry: Fields): boolean {
  const { index, previous, time } = entry;
  return (
    Object.keys(entry).sort().join() === ENTRY_FIELDS &&
    typeof index === 'number' &&
    Number.isSafeInteger(index) &&
    (previous === null || DIGEST.test(`${previous}`)) &&
    TIME.test(`${time}`)
  );
}

async function requireSignature(
  message: string,
  publicKey: string,
  signature: Json | undefined,
): Promise<void> {
  const key = fromBase64url(publicKey, 32);
  const bytes = fromBase64url(signature, 64);
  must(key !== undefined && bytes !== undefined, 'public_key and signature must be base64url');
  const imported = await importKey(key);
  const isGood = await crypto.subtle.verify('Ed25519', imported, bytes, utf8(message));
  must(isGood, 'signature must be that of the public key');
}

async function importKey(key: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const imported = await Promise.resolve()
    .then(() => crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']))
    .catch(() => undefined);
  must(
    imported !== undefined,
    'this browser cannot check Ed25519 signatures, so nothing is reported; a newer one, on a secure page, can',
  );
  return imported;
}
