/** The privacy cost of a report: the tight pure ε of its channel, rounded up to a millionth. */
import { at } from './cells.js';
import { BITS, oddsOfALie } from './exponential.js';
import { exact, type Fraction, isBelow } from './fraction.js';
import type { HeadList } from './head-list.js';
import { type LocalAlgChannel, localAlgChannel } from './local-alg.js';
import type { Cost } from './policy.js';
import { type SubsetChannel, subsetChannel } from './subset-selection.js';
import { WORD } from './uniform.js';

const UNITS = 1_000_000;

/** Returns what one report against a list costs; proved in `core/channels/report_cost.py`. */
export function reportCost({ cells, mechanism }: HeadList): Cost {
  if (mechanism.name === 'local-alg') {
    const ratio = localAlgRatio(localAlgChannel(cells, mechanism));
    return { epsilon: logarithm(ratio), delta: mechanism.delta };
  }
  const epsilon = exact(mechanism.epsilon);
  const sizes = [cells.queryOfCell.length, cells.urlsPerQuery.length];
  const ratio = largest(sizes.map((size) => subsetRatio(subsetChannel(size, epsilon))));
  return { epsilon: logarithm(ratio), delta: '0.0' };
}

/** Returns the largest P(cell | a)/P(cell | b): of the cell itself, its query, another query. */
function localAlgRatio({ cells, queryThreshold: t, urlThresholds }: LocalAlgChannel): Fraction {
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

/** Returns P(subset | an item in it)/P(subset | one that is not). */
function subsetRatio({ size, subsetSize, threshold }: SubsetChannel): Fraction {
  if (size === 1) return [1n, 1n];
  return [threshold * BigInt(size - subsetSize), (WORD - threshold) * BigInt(subsetSize)];
}

/** Returns the smallest multiple of 1/UNITS that is no smaller than ln a/b, with its decimals. */
function logarithm([a, b]: Fraction): string {
  let n = Math.max(Math.floor(Math.log(Number(a) / Number(b)) * UNITS) - 2, 0);
  // The estimate is a little too small: go up until e^-n/UNITS, rounded up, is at most b/a.
  while (!isBound(n, [a, b])) n++;
  return `${Math.floor(n / UNITS)}.${String(n % UNITS).padStart(6, '0')}`;
}

function isBound(n: number, [a, b]: Fraction): boolean {
  return n === 0 ? a <= b : oddsOfALie([BigInt(n), BigInt(UNITS)]) * a <= b << BITS;
}

function largest(ratios: readonly Fraction[]): Fraction {
  return ratios.reduce((most, ratio) => (isBelow(most, ratio) ? ratio : most));
}

function largestOf(numbers: readonly bigint[]): bigint {
  return numbers.reduce((most, number) => (number > most ? number : most));
}
