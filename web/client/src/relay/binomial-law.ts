/** Binomial distribution enclosed between integers; `core/exact/binomial_law.py` line by line. */
import type { Fraction } from '../fraction.js';

/** The weights of the numbers from `first` on, each between two integers. */
export interface BinomialLaw {
  readonly first: number;
  readonly low: readonly bigint[];
  readonly high: readonly bigint[];
  /** Bounds on the weight of all numbers before the first one, and after the last one. */
  readonly below: bigint;
  readonly above: bigint;
}

/** Encloses the law of Bin(trials, probability), whose most likely number weighs 2^bits. */
export function binomialLaw(trials: number, [hit, whole]: Fraction, bits: bigint): BinomialLaw {
  const [all, miss] = [BigInt(trials), whole - hit];
  const mode = Math.min(Number(((all + 1n) * hit) / whole), trials);
  const down = side(mode, -1n, bits, (i) => [i * miss, (all - i + 1n) * hit]);
  const up = side(mode, 1n, bits, (i) => [(all - i) * hit, (i + 1n) * miss]);
  return {
    first: mode - down.low.length,
    low: [...down.low.reverse(), 1n << bits, ...up.low],
    high: [...down.high.reverse(), 1n << bits, ...up.high],
    below: down.rest,
    above: up.rest,
  };
}

/** Returns the sum of integers. */
export function sum(numbers: readonly bigint[]): bigint {
  return numbers.reduce((total, number) => total + number, 0n);
}

/** Returns a quotient of numbers that are not negative, rounded up. */
export function ceil(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}

/** Returns the weights on one side of the largest one, and a bound on the rest. */
function side(start: number, step: bigint, bits: bigint, quotient: (i: bigint) => Fraction) {
  const low: bigint[] = [];
  const high: bigint[] = [];
  let [least, most] = [1n << bits, 1n << bits];
  for (let i = BigInt(start); ; i += step) {
    const [numerator, denominator] = quotient(i);
    const before = most;
    least = (least * numerator) / denominator;
    most = ceil(most * numerator, denominator);
    if (!most) return { low, high, rest: 0n };
    if (most === before && numerator < denominator) {
      return { low, high, rest: ceil(most * numerator, denominator - numerator) };
    }
    low.push(least);
    high.push(most);
  }
}
