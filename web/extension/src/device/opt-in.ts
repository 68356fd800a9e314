/** The contribution of somebody who trusts the organisation: consent first, then once, raw. */
import type { Campaign, Collection } from './collection.js';
import { type KeptRecord, MOST_RECORDS } from './records.js';

const DAY = 86_400_000;
/** So long records are gathered before they are sent. */
export const DAYS_GATHERED = 7;
/** A service takes 4 MiB. */
const MOST_BYTES = 4_000_000;
/** Answers after which the same bytes need not be sent again. */
const FINAL = [400, 401, 403, 404, 409, 410, 413, 415, 422];

/** Which text somebody agreed to, and when. */
export interface Receipt {
  readonly version: string;
  readonly digest: string;
  readonly givenAt: number;
}

/** Where a person stands with one campaign. */
export interface OptIn {
  readonly receipt: Receipt;
  /** Lets one contribution in, and takes it back. */
  readonly token: string | null;
  /** Exactly what is sent; made once. */
  readonly body: string | null;
  readonly state: 'gathering' | 'sent' | 'refused' | 'withdrawn';
  readonly sentAt: number | null;
}

/** Returns an opt-in that has just been agreed to. */
export function agreed(campaign: Campaign, now: number): OptIn {
  const { version, digest } = campaign.consent;
  const receipt = { version, digest, givenAt: now };
  return { receipt, token: null, body: null, state: 'gathering', sentAt: null };
}

/** Tells whether what was gathered should be sent by itself now. */
export function isTimeToContribute(campaign: Campaign, { receipt }: OptIn, now: number): boolean {
  const isLastDay = campaign.optInUntil !== null && now >= campaign.optInUntil - DAY;
  return isLastDay || now >= receipt.givenAt + DAYS_GATHERED * DAY;
}

/** Returns why a contribution cannot be sent, or undefined. */
export function contributionProblem(campaign: Campaign, optIn: OptIn): string | undefined {
  if (optIn.state !== 'gathering') return 'this device has nothing to contribute to this campaign';
  if (campaign.state !== 'opt-in-open') return 'the campaign does not take contributions now';
  if (optIn.receipt.digest !== campaign.consent.digest) {
    return 'the text that you agreed to has changed; please read it and choose again';
  }
  return undefined;
}

/** Writes what is sent: the receipt and the newest records, as many as a service takes. */
export function contributionText(
  { version, digest, givenAt }: Receipt,
  records: readonly KeptRecord[],
): string {
  const consent = { version, text_digest: digest, given_at: writtenTime(givenAt) };
  let room = MOST_BYTES;
  const taken: { readonly query: string; readonly url: string }[] = [];
  for (const { query, url } of records.slice(-MOST_RECORDS).reverse()) {
    room -= new TextEncoder().encode(JSON.stringify({ query, url })).length + 1;
    if (room < 0) break;
    taken.unshift({ query, url });
  }
  return JSON.stringify({ version: 1, consent, records: taken });
}

/**
 * Takes the next steps of a contribution, each kept before the one after it: a token, the bytes,
 * sending them. Whatever is cut short goes on from there with the same bytes.
 */
export async function contribute(
  collection: Collection,
  optIn: OptIn,
  records: readonly KeptRecord[],
  keep: (optIn: OptIn) => Promise<void>,
  now: () => number,
): Promise<OptIn> {
  const token = optIn.token ?? (await collection.enrol());
  if (token === undefined) return optIn;
  const body = optIn.body ?? contributionText(optIn.receipt, records);
  const ready: OptIn = { ...optIn, token, body };
  await keep(ready);
  const status = await collection.contribute(token, body);
  if (!(status >= 200 && status < 300) && !FINAL.includes(status)) return ready;
  const done: OptIn =
    status < 300 ? { ...ready, state: 'sent', sentAt: now() } : { ...ready, state: 'refused' };
  await keep(done);
  return done;
}

function writtenTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
