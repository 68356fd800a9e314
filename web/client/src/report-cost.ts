/** The privacy cost of a report: the tight pure ε of its channel, rounded up to a millionth. */
import { BITS, oddsOfALie } from './exponential.js';
import type { Fraction } from './fraction.js';
import type { HeadList } from './head-list.js';
import type { Cost } from './policy.js';

const UNITS = 1_000_000;

/** Returns what one report against a list costs; proved in `core/channels/report_cost.py`. */
export function reportCost({ cells, mechanism }: HeadList): Cost {
  return { epsilon: costOf(mechanism.likelihoodRatio(cells)), delta: mechanism.delta };
}

/** Returns ln of a likelihood ratio, rounded up to a millionth, with its decimals. */
export function costOf(ratio: Fraction): string {
  const n = logarithm(ratio, UNITS);
  return `${Math.floor(n / UNITS)}.${String(n % UNITS).padStart(6, '0')}`;
}

/** Returns the smallest n with n/units no smaller than ln a/b, for a ≥ b. */
export function logarithm([a, b]: Fraction, units: number): number {
  let n = Math.max(Math.floor(Math.log(Number(a) / Number(b)) * units) - 2, 0);
  // The estimate is a little too small: go up until e^-n/units, rounded up, is at most b/a.
  while (!isBound(n, units, [a, b])) n++;
  return n;
}

function isBound(n: number, units: number, [a, b]: Fraction): boolean {
  return n === 0 ? a <= b : oddsOfALie([BigInt(n), BigInt(units)]) * a <= b << BITS;
}
