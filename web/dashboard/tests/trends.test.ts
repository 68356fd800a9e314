import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readVectors } from '../../client/tests/vectors.js';
import type { Release } from '../src/api/documents.js';
import { type Change, changes, largestRejected } from '../src/trends/changes.js';
import { criticalValue, upperTail } from '../src/trends/normal.js';

interface Vectors {
  readonly false_discovery_rate: number;
  readonly compared: readonly {
    readonly now: Release;
    readonly then: Release;
    readonly changes: readonly Change[];
  }[];
  readonly upper_tails: readonly { readonly z: number; readonly tail: number }[];
  readonly critical_values: readonly { readonly level: number; readonly value: number }[];
}

const VECTORS = readVectors<Vectors>('trends');

/** Whether two numbers agree to twelve digits. */
function agree(found: unknown, wanted: unknown): boolean {
  if (typeof found !== 'number' || typeof wanted !== 'number') return found === wanted;
  return Math.abs(found - wanted) <= 1e-12 * Math.abs(wanted);
}

test.each(VECTORS.compared.map((vector, at) => [at, vector] as const))(
  'releases %i are compared as Python compares them',
  (_, { now, then, changes: wanted }) => {
    const found = changes(now, then, VECTORS.false_discovery_rate);
    expect(found.map(({ query, verdict, listing }) => [query, verdict, listing])).toEqual(
      wanted.map(({ query, verdict, listing }) => [query, verdict, listing]),
    );
    found.forEach((change, at) => {
      for (const [name, value] of Object.entries(wanted[at] ?? {})) {
        expect([name, agree(change[name as keyof Change], value)]).toEqual([name, true]);
      }
    });
  },
);

test('the upper tail is right to twelve digits, also where the two ways of computing it meet', () => {
  for (const { z, tail } of VECTORS.upper_tails)
    expect([z, agree(upperTail(z), tail)]).toEqual([z, true]);
});

test('critical values are right', () => {
  for (const { level, value } of VECTORS.critical_values) {
    expect(criticalValue(level)).toBeCloseTo(value, 11);
  }
});

test('the tail falls and both sides add up to one', () => {
  fc.assert(
    fc.property(fc.double({ min: -5, max: 8, noNaN: true }), (z) => {
      expect(upperTail(z) + upperTail(-z)).toBeCloseTo(1, 13);
      expect(upperTail(z + 0.01)).toBeLessThan(upperTail(z));
    }),
  );
});

test('Benjamini and Hochberg reject up to the last p-value below its line', () => {
  // The second is above its own line, 0.02, and is rejected because the third is below 0.03.
  expect(largestRejected([0.5, 0.001, 0.021, 0.029, 0.9], 0.05)).toBe(0.029);
  expect(largestRejected([0.2, 0.3], 0.05)).toBeNull();
  expect(largestRejected([], 0.05)).toBeNull();
});
