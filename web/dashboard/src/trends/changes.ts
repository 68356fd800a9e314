/**
 * What rose and what fell between two releases, by the rules of `blender-dp trends`
 * (search_trends/changes.py); test_vectors/trends.json holds for both.
 */
import type { Estimate, Release } from '../api/documents.js';
import { criticalValue, upperTail } from './normal.js';

/** How likely a record as probable as the bound is missing from a list. */
const MISSED = 1e-6;

/** One query then and now. */
export interface Change {
  readonly query: string;
  readonly listing: 'listed in both' | 'new on the list' | 'left the list';
  readonly before: number | null;
  readonly after: number | null;
  readonly difference: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** Null where nothing can be tested. */
  readonly p_value: number | null;
  /** Set where the test passed, all tests counted. */
  readonly verdict: 'rose' | 'fell' | null;
}

/** Returns every query of either release, the surest change first. */
export function changes(now: Release, then: Release, falseDiscoveryRate = 0.05): Change[] {
  const before = new Map(listed(then.queries).map((row) => [row.query, row]));
  const reach = criticalValue((1 - now.confidence) / 2);
  const found = listed(now.queries).flatMap((row) => {
    const earlier = before.get(row.query);
    return earlier ? [inBoth(earlier, row, reach)] : [];
  });
  found.push(...inOne('new on the list', now, then), ...inOne('left the list', then, now));
  return judged(found, falseDiscoveryRate).sort(surestFirst);
}

/** Returns the rows that are one record or one query, not the rest of something. */
export function listed(rows: readonly Estimate[]): Estimate[] {
  return rows.filter(({ cell }) => cell === 'record' || cell === 'query');
}

function inBoth(then: Estimate, now: Estimate, reach: number): Change {
  const same = { query: now.query ?? '', listing: 'listed in both' as const, verdict: null };
  const shares = { before: then.probability, after: now.probability };
  if (then.std_error === null || now.std_error === null) return { ...same, ...shares, ...UNTESTED };
  const difference = now.raw_probability - then.raw_probability;
  const error = Math.hypot(then.std_error, now.std_error);
  return {
    ...same,
    ...shares,
    difference,
    low: difference - reach * error,
    high: difference + reach * error,
    p_value: error ? Math.min(1, 2 * upperTail(Math.abs(difference) / error)) : null,
  };
}

const UNTESTED = { difference: null, low: null, high: null, p_value: null };

/** Returns the queries that one release lists and the other does not. */
function inOne(listing: 'new on the list' | 'left the list', here: Release, other: Release) {
  const elsewhere = new Set(listed(other.queries).map(({ query }) => query));
  const records = listed(here.records);
  return listed(here.queries)
    .filter(({ query }) => !elsewhere.has(query))
    .map((row): Change => {
      const isNew = listing === 'new on the list';
      const [before, after] = isNew ? [null, row.probability] : [row.probability, null];
      const p_value = againstAbsence(
        records.filter(({ query }) => query === row.query),
        other.unlisted_bound ?? null,
      );
      return {
        query: row.query ?? '',
        listing,
        before,
        after,
        ...UNTESTED,
        p_value,
        verdict: null,
      };
    });
}

/** Tests whether some record of a query is more probable than an unlisted one can be. */
function againstAbsence(records: readonly Estimate[], bound: number | null): number | null {
  if (bound === null) return null;
  const tails = records.flatMap((record) =>
    record.std_error ? [upperTail((record.raw_probability - bound) / record.std_error)] : [],
  );
  return tails.length ? Math.min(1, tails.length * (Math.min(...tails) + MISSED)) : null;
}

/** Gives verdicts such that a share of at most `rate` of them is wrong, on average. */
function judged(found: readonly Change[], rate: number): Change[] {
  const limit = largestRejected(
    found.flatMap(({ p_value }) => (p_value === null ? [] : [p_value])),
    rate,
  );
  return found.map((change) => {
    const isSure = change.p_value !== null && limit !== null && change.p_value <= limit;
    return isSure ? { ...change, verdict: direction(change) } : change;
  });
}

/** Returns the largest p-value that Benjamini and Hochberg (1995) reject, or null. */
export function largestRejected(pValues: readonly number[], rate: number): number | null {
  const ordered = [...pValues].sort((a, b) => a - b);
  const passing = ordered.filter((p, place) => p <= (rate * (place + 1)) / ordered.length);
  return passing.length ? Math.max(...passing) : null;
}

function direction(change: Change): 'rose' | 'fell' {
  if (change.difference !== null) return change.difference > 0 ? 'rose' : 'fell';
  return change.listing === 'new on the list' ? 'rose' : 'fell';
}

function surestFirst(a: Change, b: Change): number {
  const [left, right] = [place(a), place(b)];
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

function place(change: Change): [number, number, number] {
  const size = Math.max(change.before ?? 0, change.after ?? 0);
  if (change.p_value === null) return [2, 0, -size];
  return [change.verdict === null ? 1 : 0, change.p_value, -size];
}
