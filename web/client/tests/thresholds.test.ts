/** The last word that tells the truth, and the first that lies: one in 2^64 decides. */
import { expect, test } from 'vitest';
import { cellsOf } from '../src/cells.js';
import { exact } from '../src/fraction.js';
import { localAlgChannel, privatize, truthThreshold } from '../src/local-alg.js';
import { chooseSubset, subsetChannel } from '../src/subset-selection.js';
import { GivenBytes } from './vectors.js';

const CHANNEL = localAlgChannel(cellsOf([2, 1]), {
  epsilon: '2.0',
  delta: '0.001',
  queryBudgetFraction: '0.85',
  recordsPerClient: 1,
});
const URL_THRESHOLD = CHANNEL.urlThresholds[0] ?? 0n;

/** Returns a source of these words, and then of zeros. */
function words(...numbers: readonly bigint[]) {
  const hex = numbers.map((number) => number.toString(16).padStart(16, '0'));
  return new GivenBytes(hex.join('') + '00'.repeat(8)).take;
}

test('a word below both thresholds keeps the cell', () => {
  const last = words(CHANNEL.queryThreshold - 1n, URL_THRESHOLD - 1n);
  expect(privatize(1, CHANNEL, last)).toBe(1);
});

test('a word at the threshold of the URL gives another URL of the query', () => {
  const first = words(CHANNEL.queryThreshold - 1n, URL_THRESHOLD);
  expect(privatize(1, CHANNEL, first)).toBe(0);
});

test('a word at the threshold of the query gives another query', () => {
  expect(privatize(1, CHANNEL, words(CHANNEL.queryThreshold))).toBe(3);
});

test('a subset names the truth below its threshold, and not at it', () => {
  const channel = subsetChannel(8, exact('1'));
  expect(chooseSubset(5, channel, words(channel.threshold - 1n))).toContain(5);
  expect(chooseSubset(5, channel, words(channel.threshold))).not.toContain(5);
});

test('a list of one item is always told truly, and a huge ε nearly', () => {
  expect(truthThreshold(exact('1'), exact('0.1'), 1)).toBe(1n << 64n);
  expect(truthThreshold(exact('1000000'), exact('0.0'), 2)).toBe((1n << 64n) - 1n);
});

test('δ is halved, exactly', () => {
  // With e^-ε nearly 1 and two items, t is (1 + δ/2)/2.
  expect(truthThreshold(exact('1e-70'), exact('0.5'), 2)).toBe((5n << 64n) / 8n);
});

test('an ε too small for 64 bits is refused', () => {
  expect(() => truthThreshold(exact('1e-25'), exact('1e-30'), 3)).toThrow('epsilon must be large');
});
