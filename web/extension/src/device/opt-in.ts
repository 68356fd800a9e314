/** Contribution of an opt-in user: after consent, raw records are sent once. */
import type { EntryState, LedgerEntry } from '@blender-dp/client';
import type { Campaign } from './collection.js';
import { CHANGED, NOT_AGREED } from './problems.js';
import { type KeptRecord, MOST_RECORDS } from './records.js';
import { currentReceipt, recordsToSend, type Settings } from './settings.js';

const DAY = 86_400_000;
/** So long records are gathered before they are sent. */
export const DAYS_GATHERED = 7;
/** A service takes 4 MiB. */
const MOST_BYTES = 4_000_000;

/** What to tell a person after a contribution, by what became of it; nothing if all is well. */
export const OUTCOMES: Readonly<Record<EntryState, string | undefined>> = {
  sent: undefined,
  unsent: 'your searches could not be sent; they will be later',
  uncertain: 'the organisation may have your searches already; withdraw them to be sure',
  refused: 'the organisation did not take your searches',
  withdrawn: 'this device withdrew from the campaign, which is for good',
};

/** Which text somebody agreed to, and when. */
export interface Receipt {
  readonly version: string;
  readonly digest: string;
  readonly givenAt: number;
}

/** Returns the receipt of a text that has just been agreed to. */
export function newReceipt(campaign: Campaign, now: number): Receipt {
  const { version, digest } = campaign.consent;
  return { version, digest, givenAt: now };
}

/** Returns when ticked searches are sent by themselves: after some days, or on the last day. */
export function sendingTime(
  { givenAt }: Receipt,
  { optInUntil }: Pick<Campaign, 'optInUntil'>,
): number {
  const gathered = givenAt + DAYS_GATHERED * DAY;
  return optInUntil === null ? gathered : Math.min(gathered, optInUntil - DAY);
}

/** Tells whether what was gathered, or could not be sent before, should be sent by itself now. */
export function isContributionDue(
  settings: Settings,
  made: LedgerEntry | undefined,
  records: readonly KeptRecord[],
  now: number,
): boolean {
  const { campaign, choice } = settings;
  const receipt = currentReceipt(settings);
  if (choice !== 'opt-in' || !receipt || campaign?.state !== 'opt-in-open') return false;
  if (made) return made.state === 'unsent';
  return now >= sendingTime(receipt, campaign) && recordsToSend(settings, records).length > 0;
}

/**
 * Returns why a contribution cannot be sent, or undefined.
 *
 * Whether one was made is in the ledger alone, which outlives everything else that is kept.
 */
export function contributionProblem(
  { choice, promised }: Settings,
  campaign: Campaign,
  receipt: Receipt,
  made: LedgerEntry | undefined,
): string | undefined {
  if (choice !== 'opt-in') return NOT_AGREED;
  if (made && made.state !== 'unsent') {
    return 'this device has nothing more to send to this campaign';
  }
  if (campaign.state !== 'opt-in-open') return 'the campaign takes no searches now';
  if (receipt.digest !== campaign.consent.digest) {
    return 'the text that you agreed to has changed; please read it and choose again';
  }
  return promised === campaign.description ? undefined : CHANGED;
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

function writtenTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
