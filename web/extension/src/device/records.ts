/** Records of searches and clicks, stored on the device, and the draw of one of them. */
import { drawBelow, type SearchRecord, type UniformBytes } from '@blender-dp/client';

export interface KeptRecord extends SearchRecord {
  /** When it was clicked, in milliseconds since 1970. */
  readonly at: number;
}

export const DAYS_KEPT = 90;
/** A contribution holds no more. */
export const MOST_RECORDS = 10_000;
const DAY = 86_400_000;

/** Returns the records with a new one, without those that are old. */
export function withRecord(
  records: readonly KeptRecord[],
  { query, url }: SearchRecord,
  now: number,
): readonly KeptRecord[] {
  // Times tell records apart, so no two are equal.
  const at = Math.max(now, (records.at(-1)?.at ?? 0) + 1);
  const kept = records.filter((record) => record.at > now - DAYS_KEPT * DAY);
  return [...kept, { query, url, at }].slice(-MOST_RECORDS);
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
