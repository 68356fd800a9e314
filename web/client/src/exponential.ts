/** e^-ε to the same bits as the server: `core/exact/enclosure.py` in integers. */
import type { Fraction } from './fraction.js';

/** Bits after the point of what {@link oddsOfALie} returns. */
export const BITS = 256n;
const DIGITS = 90n;
const LEAST = 10n ** (DIGITS - 1n);
/** Bits of the arithmetic inside: e^-256 needs 370, its 90 digits 300, the rest is room. */
const INSIDE = 1100n;
const HALVINGS = 24n;

/**
 * Returns e^-ε in units of 2^-256, rounded up: ε cut and the result rounded to 90 digits, plus
 * one unit of the last of them, but no more than 1. Python's `exp_enclosure(-ε, 256).high`.
 */
export function oddsOfALie([numerator, denominator]: Fraction): bigint {
  if (numerator > BITS * denominator) return 1n;
  const cut = powerOfTen(numerator, denominator);
  const decayed = decay((numerator * cut) / denominator, cut);
  let scale = powerOfTen(decayed, 1n << INSIDE);
  let digits = (((2n * decayed * scale) >> INSIDE) + 1n) / 2n;
  if (digits === 10n * LEAST) {
    digits = LEAST;
    scale /= 10n;
  }
  if (digits >= scale) return 1n << BITS;
  return (((digits + 1n) << BITS) + scale - 1n) / scale;
}

/** Returns the power of ten that gives a number below 1000 ninety digits before the point. */
function powerOfTen(numerator: bigint, denominator: bigint): bigint {
  let power = 10n ** (DIGITS - 3n);
  while (numerator * power < LEAST * denominator) power *= 10n;
  return power;
}

/** Returns e^-x in units of 2^-INSIDE: Taylor's series of x/2^24, then squared 24 times. */
function decay(numerator: bigint, denominator: bigint): bigint {
  const x = (numerator << (INSIDE - HALVINGS)) / denominator;
  let sum = 0n;
  let term = 1n << INSIDE;
  for (let n = 1n; term; n++) {
    sum += term;
    term = (-term * x) / (n << INSIDE);
  }
  for (let i = 0n; i < HALVINGS; i++) sum = (sum * sum) >> INSIDE;
  return sum;
}
