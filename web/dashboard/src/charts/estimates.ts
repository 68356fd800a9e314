/** The estimates of a release as series of a chart: the blend, and the groups apart. */
import { isListed } from '@blender-dp/pages/cells.js';
import { isNumber } from '@blender-dp/pages/numbers.js';
import { BLEND, type Group, groupsOf } from '@blender-dp/pages/series.js';
import type { Estimate } from '../api/documents.js';
import type { Series } from './rows.js';

/** Returns the rows that are one record or one query, not the rest of something. */
export function listed(rows: readonly Estimate[]): Estimate[] {
  return rows.filter(isListed);
}

/** Returns the blend of each row with its interval. */
export function blended(rows: readonly Estimate[]): Series {
  return seriesOf(BLEND, rows, 0);
}

/** Returns what each group alone says of the rows, with intervals of the same confidence. */
export function groupsApart(rows: readonly Estimate[], confidence: number): Series[] {
  const quantile = normalQuantile(confidence);
  return estimatingGroups(rows).map((group) => seriesOf(group, rows, quantile));
}

/** Returns the groups that have estimates of their own. */
export function estimatingGroups(rows: readonly Estimate[]): Group[] {
  return groupsOf(rows).filter((group) => group !== BLEND);
}

function seriesOf(group: Group, rows: readonly Estimate[], quantile: number): Series {
  const marks = rows.flatMap((estimate, row) => {
    const value = group.value(estimate);
    const [low, high] = group.interval(estimate, quantile) ?? [null, null];
    return isNumber(value) ? [{ row, value, low, high }] : [];
  });
  return { colour: `--${group.id}`, symbol: group.shape, marks };
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
