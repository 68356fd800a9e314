/** Records of searches and clicks, stored on the device, and the draw of one of them. */
import { drawBelow, type SearchRecord, type UniformBytes } from '@blender-dp/client';

export interface KeptRecord extends SearchRecord {
  /** When it was clicked, in milliseconds since 1970. */
  readonly at: number;
  /** The consent by which it may be sent as it is: given before it was made, or for it alone. */
  readonly consent?: string;
}

export const DAYS_KEPT = 90;
/** A contribution holds no more. */
export const MOST_RECORDS = 10_000;
const DAY = 86_400_000;

/** Returns the records without those that are old. */
export function withoutOld(records: readonly KeptRecord[], now: number): readonly KeptRecord[] {
  return records.filter((record) => record.at > now - DAYS_KEPT * DAY);
}

/** Returns the records with a new one, without those that are old. */
export function withRecord(
  records: readonly KeptRecord[],
  { query, url }: SearchRecord,
  now: number,
  consent?: string,
): readonly KeptRecord[] {
  // Times tell records apart, so no two are equal.
  const at = Math.max(now, (records.at(-1)?.at ?? 0) + 1);
  return [...withoutOld(records, now), withConsent({ query, url, at }, consent)].slice(
    -MOST_RECORDS,
  );
}

/** Returns a record that a consent covers, or none does. */
export function withConsent({ query, url, at }: KeptRecord, consent?: string): KeptRecord {
  return consent === undefined ? { query, url, at } : { query, url, at, consent };
}

/** Draws the one record that a private report is about; null if there is none. */
export function drawRecord(
  records: readonly KeptRecord[],
  uniform: UniformBytes,
): SearchRecord | null {
  if (!records.length) return null;
  const drawn = records[drawBelow(records.length, uniform)];
  return drawn ? { query: drawn.query, url: drawn.url } : null;
}
