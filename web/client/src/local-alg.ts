/** LocalAlg as the paper states it (Fig. 6), on cell numbers. */

import type { Fields } from './canonical.js';
import { at, type Cells } from './cells.js';
import { BITS, oddsOfALie } from './exponential.js';
import { decimal, exact, type Fraction, largest, plus, times } from './fraction.js';
import type { Mechanism } from './mechanism.js';
import { missed } from './odds.js';
import { must } from './refusal.js';
import { drawBelow, drawWord, type UniformBytes, WORD } from './uniform.js';

/** The description in a head list; numbers are decimal texts, as published. */
export interface LocalAlg {
  readonly epsilon: string;
  readonly delta: string;
  readonly queryBudgetFraction: string;
  readonly recordsPerClient: number;
}

/** Reads the mechanism that a head list describes. */
export function localAlg(described: Fields): Mechanism {
  const parameters = readLocalAlg(described);
  const { epsilon, delta, queryBudgetFraction, recordsPerClient } = parameters;
  const channelOf = (cells: Cells) => localAlgChannel(cells, parameters);
  return {
    document: {
      name: 'local-alg',
      version: 1,
      epsilon,
      delta,
      query_budget_fraction: queryBudgetFraction,
      records_per_client: recordsPerClient,
    },
    epsilon,
    delta,
    likelihoodRatio: (cells) => likelihoodRatio(channelOf(cells)),
    // The odds are those of the query, which is randomised first.
    odds: (cells) => {
      const size = cells.urlsPerQuery.length;
      const { queryThreshold } = channelOf(cells);
      return [{ question: 'query', size, named: 1, missed: missed(queryThreshold) }];
    },
    prepare: async (cells) => {
      const channel = channelOf(cells);
      return (cell, uniform) => ({ cell: privatize(cell, channel, uniform) });
    },
  };
}

/** Reads the numbers of a description; refuses those outside their range. */
export function readLocalAlg(described: Fields): LocalAlg {
  const epsilon = decimal(described, 'epsilon', (x) => x > 0 && x < Number.POSITIVE_INFINITY);
  const recordsPerClient = described.records_per_client;
  must(
    typeof recordsPerClient === 'number' &&
      Number.isSafeInteger(recordsPerClient) &&
      recordsPerClient > 0,
    'records_per_client must be a whole number, at least 1',
  );
  return {
    epsilon,
    delta: decimal(described, 'delta', (x) => x > 0 && x < 1),
    queryBudgetFraction: decimal(described, 'query_budget_fraction', (x) => x > 0 && x < 1),
    recordsPerClient,
  };
}

/** LocalAlg on one head list, in numbers: the same thresholds that the server reads. */
export interface LocalAlgChannel {
  readonly cells: Cells;
  /** Words below this keep the query. */
  readonly queryThreshold: bigint;
  /** Words below this keep the URL, for every query. */
  readonly urlThresholds: readonly bigint[];
}

/** Computes every threshold of a head list (Fig. 6 lines 2-6). */
export function localAlgChannel(cells: Cells, mechanism: LocalAlg): LocalAlgChannel {
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

/** Returns the largest P(cell | a)/P(cell | b): of the cell itself, its query, another query. */
function likelihoodRatio({ cells, queryThreshold: t, urlThresholds }: LocalAlgChannel): Fraction {
  const k = BigInt(cells.urlsPerQuery.length);
  const ratios = cells.urlsPerQuery.map((size, query): Fraction => {
    const [n, u] = [BigInt(size), at(urlThresholds, query)];
    // Each as a multiple of 1/(WORD² (k-1) (n-1) n), where a factor of 0 counts as 1.
    const [others, urls] = [k > 1n ? k - 1n : 1n, n > 1n ? n - 1n : 1n];
    const probabilities = [t * u * others * urls * n];
    if (n > 1n) probabilities.push(t * (WORD - u) * others * n);
    if (k > 1n) probabilities.push((WORD - t) * WORD * urls);
    return [largestOf(probabilities), -largestOf(probabilities.map((one) => -one))];
  });
  return largest(ratios);
}

function largestOf(numbers: readonly bigint[]): bigint {
  return numbers.reduce((most, number) => (number > most ? number : most));
}
