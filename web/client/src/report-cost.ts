/** The privacy cost of a report: the tight pure ε of its channel, rounded up to a millionth. */
import { BITS, oddsOfALie } from './exponential.js';
import type { Fraction } from './fraction.js';
import type { HeadList } from './head-list.js';
import type { Cost } from './policy.js';

const UNITS = 1_000_000;

/** Returns what one report against a list costs; proved in `core/channels/report_cost.py`. */
export function reportCost({ cells, mechanism }: HeadList): Cost {
  return { epsilon: logarithm(mechanism.likelihoodRatio(cells)), delta: mechanism.delta };
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
