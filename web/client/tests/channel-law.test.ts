/** A million draws of each mechanism against its law, derived a second time here. */
import { expect, test } from 'vitest';
import { cellsOf } from '../src/cells.js';
import { exact, toDecimal } from '../src/fraction.js';
import { localAlgChannel, privatize } from '../src/local-alg.js';
import { chooseSubset, subsetChannel } from '../src/subset-selection.js';
import { drawBelow, secureBytes, type UniformBytes } from '../src/uniform.js';
import {
  binomialPValue,
  countEvents,
  expectLaw,
  FALSE_ALARM,
  type Law,
  missProbability,
  worstPValue,
} from './exact-tests.js';
import { GivenBytes } from './vectors.js';

const DRAWS = 1_000_000;
const [EPSILON, DELTA, QUERY_SHARE] = [2, 1e-3, 0.85];
/** The device's own source, asked for many bytes at once: asking costs more than drawing. */
const bulkBytes: UniformBytes = (() => {
  let [bytes, next] = [secureBytes(65_536), 0];
  return (count) => {
    if (next + count > bytes.length) [bytes, next] = [secureBytes(65_536), 0];
    next += count;
    return bytes.subarray(next - count, next);
  };
})();
/** The client holds this one. */
const TRUE_ITEM = 1;
const SUBSET_ITEMS = 8;
const TRUTH = 'names the truth';

/** Derives Fig. 6 by hand for two queries with two and one URL: cells 012, 34, 5. */
function localAlgLaw(epsilon: number): Law {
  const truth = (share: number, k: number) =>
    (Math.exp(share * epsilon) + (share * DELTA * (k - 1)) / 2) /
    (Math.exp(share * epsilon) + k - 1);
  const query = truth(QUERY_SHARE, 3);
  const url = truth(1 - QUERY_SHARE, 3);
  const sibling = (query * (1 - url)) / 2;
  const stranger = (1 - query) / 2;
  return new Map([
    ['0', sibling],
    ['1', query * url],
    ['2', sibling],
    ['3', stranger / 2],
    ['4', stranger / 2],
    ['5', stranger],
  ]);
}

function drawLocalAlg(epsilon: number): Map<string, number> {
  const channel = localAlgChannel(cellsOf([2, 1]), {
    epsilon: toDecimal(epsilon),
    delta: toDecimal(DELTA),
    queryBudgetFraction: toDecimal(QUERY_SHARE),
    recordsPerClient: 1,
  });
  return countEvents(DRAWS, () => [String(privatize(TRUE_ITEM, channel, bulkBytes))]);
}

/** Enumerates all pairs of eight items: at ε = 1 a client names two. */
function subsetLaw(epsilon: number): Law {
  const odds = (Math.exp(epsilon) * 2) / (SUBSET_ITEMS - 2);
  const pin = odds / (1 + odds);
  const law = new Map([[TRUTH, pin]]);
  for (let a = 0; a < SUBSET_ITEMS; a++) {
    for (let b = a + 1; b < SUBSET_ITEMS; b++) {
      const hasTruth = a === TRUE_ITEM || b === TRUE_ITEM;
      law.set(`${a},${b}`, hasTruth ? pin / 7 : (1 - pin) / 21);
    }
  }
  return law;
}

function drawSubsets(epsilon: number): Map<string, number> {
  const channel = subsetChannel(SUBSET_ITEMS, exact(toDecimal(epsilon)));
  expect(channel.subsetSize).toBe(2);
  return countEvents(DRAWS, () => {
    const named = chooseSubset(TRUE_ITEM, channel, bulkBytes);
    return named.includes(TRUE_ITEM) ? [named.join(), TRUTH] : [named.join()];
  });
}

const MECHANISMS = {
  LocalAlg: { law: localAlgLaw, draw: drawLocalAlg, epsilon: EPSILON },
  'subset selection': { law: subsetLaw, draw: drawSubsets, epsilon: 1 },
};

for (const [name, { law, draw, epsilon }] of Object.entries(MECHANISMS)) {
  test(`a million draws of ${name} follow its law`, () => {
    expectLaw(draw(epsilon), DRAWS, law(epsilon));
  });

  test.each([0.95, 1.05])(`${name} with ε wrong by a factor of %f is caught`, (error) => {
    const expected = law(epsilon);
    const off = law(epsilon * error);
    const perEvent = FALSE_ALARM / expected.size;
    const misses = Array.from(expected, ([event, p]) =>
      missProbability(DRAWS, p, off.get(event) ?? 0, perEvent),
    );
    expect(Math.min(...misses), 'so many draws must catch it').toBeLessThan(FALSE_ALARM);
    expect(worstPValue(draw(epsilon * error), DRAWS, expected)).toBeLessThan(perEvent);
  });
}

test('numbers below a bound are uniform', () => {
  const law = new Map(Array.from({ length: 300 }, (_, i) => [String(i), 1 / 300] as const));
  expectLaw(
    countEvents(DRAWS, () => [String(drawBelow(300, bulkBytes))]),
    DRAWS,
    law,
  );
});

test('a bound of one takes no byte', () => {
  const source = new GivenBytes('');
  expect(drawBelow(1, source.take)).toBe(0);
});

test('the p-value of a small case is the one counted by hand', () => {
  expect(binomialPValue(0, 4, 0.5)).toBeCloseTo(2 / 16, 12);
  expect(binomialPValue(3, 4, 0.5)).toBeCloseTo((2 * 5) / 16, 12);
  expect(binomialPValue(2, 4, 0.5)).toBe(1);
});
