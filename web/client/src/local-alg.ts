/** LocalAlg as the paper states it (Fig. 6), on cell numbers. */
import { at, type Cells } from './cells.js';
import { BITS, oddsOfALie } from './exponential.js';
import { exact, type Fraction, plus, times } from './fraction.js';
import type { LocalAlgMechanism } from './mechanism.js';
import { must } from './refusal.js';
import { drawBelow, drawWord, type UniformBytes, WORD } from './uniform.js';

/** LocalAlg on one head list, in numbers: the same thresholds that the server reads. */
export interface LocalAlgChannel {
  readonly cells: Cells;
  /** Words below this keep the query. */
  readonly queryThreshold: bigint;
  /** Words below this keep the URL, for every query. */
  readonly urlThresholds: readonly bigint[];
}

/** Computes every threshold of a head list (Fig. 6 lines 2-6). */
export function localAlgChannel(cells: Cells, mechanism: LocalAlgMechanism): LocalAlgChannel {
  const each: Fraction = [1n, BigInt(mechanism.recordsPerClient)];
  const epsilon = times(exact(mechanism.epsilon), each);
  const delta = times(exact(mechanism.delta), each);
  const queryShare = exact(mechanism.queryBudgetFraction);
  const urlShare = plus([1n, 1n], times(queryShare, [-1n, 1n]));
  const ofSize = new Map<number, bigint>();
  for (const size of new Set(cells.urlsPerQuery)) {
    ofSize.set(size, truthThreshold(times(urlShare, epsilon), times(urlShare, delta), size));
  }
  const k = cells.urlsPerQuery.length;
  return {
    cells,
    queryThreshold: truthThreshold(times(queryShare, epsilon), times(queryShare, delta), k),
    urlThresholds: cells.urlsPerQuery.map((size) => ofSize.get(size) ?? 0n),
  };
}

/**
 * Returns how many of 2^64 equally likely words tell the true item among `k`, rounded down:
 * t = (1 + (δ/2)(k-1)e^-ε) / (1 + (k-1)e^-ε), lines 4 and 6.
 */
export function truthThreshold(epsilon: Fraction, delta: Fraction, k: number): bigint {
  if (k === 1) return WORD;
  const lies = BigInt(k - 1) * oddsOfALie(epsilon);
  const one = 1n << BITS;
  const [share, whole] = times(delta, [1n, 2n]);
  const threshold = (WORD * (whole * one + share * lies)) / (whole * (one + lies));
  must(
    threshold * BigInt(k) >= WORD,
    'epsilon must be large enough for thresholds of 64 bits: the truth must be told most often',
  );
  return threshold;
}

/** Returns the cell one client reports instead of `cell` (the loop that opens on line 7). */
export function privatize(cell: number, channel: LocalAlgChannel, uniform: UniformBytes): number {
  const { urlsPerQuery, firstCell, queryOfCell } = channel.cells;
  const query = at(queryOfCell, cell);
  if (drawWord(uniform) >= channel.queryThreshold) {
    const other = drawOther(query, urlsPerQuery.length, uniform);
    return at(firstCell, other) + drawBelow(at(urlsPerQuery, other), uniform);
  }
  if (drawWord(uniform) >= at(channel.urlThresholds, query)) {
    const first = at(firstCell, query);
    return first + drawOther(cell - first, at(urlsPerQuery, query), uniform);
  }
  return cell;
}

/** Draws uniformly from 0 to `count` - 1 without `item`. */
function drawOther(item: number, count: number, uniform: UniformBytes): number {
  const drawn = drawBelow(count - 1, uniform);
  return drawn + (drawn >= item ? 1 : 0);
}
