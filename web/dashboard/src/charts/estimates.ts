/** The estimates of a release as series of a chart: the blend, and the two groups apart. */
import type { Estimate } from '../api/documents.js';
import type { Mark, Series } from './rows.js';

export const GROUPS = [
  { name: 'Blend', colour: '--blend', symbol: 'circle' },
  { name: 'Opt-in users', colour: '--opt-in', symbol: 'square' },
  { name: 'Clients', colour: '--clients', symbol: 'diamond' },
] as const;

/** Returns the rows that are one record or one query, not the rest of something. */
export function listed(rows: readonly Estimate[]): Estimate[] {
  return rows.filter(({ cell }) => cell === 'record' || cell === 'query');
}

/** Returns the blend of each row with its interval. */
export function blended(rows: readonly Estimate[]): Series {
  const marks = rows.map(({ probability, low, high }, row) => ({
    row,
    value: probability,
    low,
    high,
  }));
  return { ...GROUPS[0], marks };
}

/** Returns what each group alone says of the rows, with intervals of the same confidence. */
export function groupsApart(rows: readonly Estimate[], confidence: number): Series[] {
  const reach = normalQuantile(confidence);
  const optIn = rows.flatMap((row, at) =>
    within(at, row.opt_in_probability, row.opt_in_std_error, reach),
  );
  const clients = rows.flatMap((row, at) =>
    within(at, row.client_probability, row.client_std_error, reach),
  );
  return [
    { ...GROUPS[1], marks: optIn },
    { ...GROUPS[2], marks: clients },
  ];
}

/** Returns how many standard errors an interval of this confidence reaches to each side. */
export function normalQuantile(confidence: number): number {
  let [low, high] = [0, 10];
  for (let halving = 0; halving < 60; halving++) {
    const middle = (low + high) / 2;
    if (2 * massUpTo(middle) < confidence) low = middle;
    else high = middle;
  }
  return low;
}

/** Returns Φ(z) − 1/2 = φ(z)·(z + z³/3 + z⁵/(3·5) + …). */
function massUpTo(z: number): number {
  let [sum, term] = [z, z];
  for (let odd = 3; term > sum * 1e-17; odd += 2) {
    term *= (z * z) / odd;
    sum += term;
  }
  return (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}

function within(row: number, value: number | null, error: number | null, reach: number): Mark[] {
  if (value === null) return [];
  if (error === null) return [{ row, value, low: null, high: null }];
  return [{ row, value, low: value - reach * error, high: value + reach * error }];
}

/** Writes a row's name in one line of plain text. */
export function rowName(row: Estimate): string {
  const query = row.query ?? '⋆ everything else';
  return row.cell === 'record' || row.cell === 'other_url' ? `${query} → ${row.url ?? '⋆'}` : query;
}
