/** Exact fractions: the number as it was written, not the nearest double. */
import type { Fields } from './canonical.js';
import { must } from './refusal.js';

/** Numerator and denominator, the latter above 0. */
export type Fraction = readonly [bigint, bigint];

const DECIMAL = /^(-?)(\d{1,20})(?:\.(\d{1,30}))?(?:e([-+]?\d{1,3}))?$/;

/** Tells whether a text is a decimal number as documents hold them. */
export function isDecimal(value: unknown): value is string {
  return typeof value === 'string' && DECIMAL.test(value);
}

/** Returns the number that a decimal text names, exactly. */
export function exact(text: string): Fraction {
  const [, sign, whole = '', part = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  const digits = BigInt(sign + whole + part);
  const shift = Number(exponent) - part.length;
  return shift < 0 ? [digits, 10n ** BigInt(-shift)] : [digits * 10n ** BigInt(shift), 1n];
}

/** Returns a product. */
export function times([a, b]: Fraction, [c, d]: Fraction): Fraction {
  return [a * c, b * d];
}

/** Returns a sum. */
export function plus([a, b]: Fraction, [c, d]: Fraction): Fraction {
  return [a * d + c * b, b * d];
}

/** Tells whether the first number is the smaller one. */
export function isBelow([a, b]: Fraction, [c, d]: Fraction): boolean {
  return a * d < c * b;
}

/** Returns the largest of several numbers. */
export function largest(numbers: readonly Fraction[]): Fraction {
  return numbers.reduce((most, number) => (isBelow(most, number) ? number : most));
}

/** Returns a number that a document holds as a text, in its one spelling and within its range. */
export function decimal(
  fields: Fields,
  name: string,
  isInside: (value: number) => boolean,
): string {
  const text = fields[name];
  must(isDecimal(text), `${name} must be a number written as a text`);
  must(isInside(Number(text)), `${name} is outside its range`);
  // Reports name a list by its digest: another spelling of a number would be another list.
  must(toDecimal(Number(text)) === text, `${name} must be in its shortest spelling`);
  return text;
}

/**
 * Writes a number of 0 or more with the fewest digits that name its double, as documents do:
 * 4.0, 1e-05, 1e+16.
 */
export function toDecimal(number: number): string {
  const [mantissa = '', power = ''] = number.toExponential().split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  const digits = '0'.repeat(Math.max(-exponent, 0)) + mantissa.replace('.', '');
  const point = Math.max(exponent, 0) + 1;
  return `${digits.slice(0, point).padEnd(point, '0')}.${digits.slice(point) || '0'}`;
}
