/** What people are told about reports is what reports do. */
import { expect, test } from 'vitest';
import type { Fields } from '../src/canonical.js';
import { cellsOf } from '../src/cells.js';
import { readMechanism } from '../src/mechanism.js';
import type { Odds } from '../src/odds.js';

const SUBSETS = { name: 'subset-selection', version: 1, epsilon: '2.0' };

/** Returns the odds on a list of 40 queries with one URL each. */
function oddsOf(mechanism: Fields): readonly Odds[] {
  return readMechanism(mechanism).odds(cellsOf(Array.from({ length: 40 }, () => 1)));
}

test('the odds of subset selection are e^ε d to N − d, for both questions', () => {
  const odds = oddsOf({ ...SUBSETS, query_share: '0.25' });
  expect(odds.map(({ question, size }) => [question, size])).toEqual([
    ['record', 81],
    ['query', 41],
  ]);
  for (const { size, named, missed } of odds) {
    expect(missed).toBeCloseTo((size - named) / (Math.exp(2) * named + size - named), 12);
  }
});

test('a question that nobody is asked has no odds', () => {
  const odds = oddsOf({ ...SUBSETS, query_share: '0.0' });
  expect(odds.map(({ question }) => question)).toEqual(['record']);
});

test('LocalAlg names a random query as often as Fig. 6 says', () => {
  const [odds] = oddsOf({
    name: 'local-alg',
    version: 1,
    epsilon: '4.0',
    delta: '1e-05',
    query_budget_fraction: '0.85',
    records_per_client: 1,
  });
  const truth = (Math.exp(3.4) + (0.85e-5 / 2) * 40) / (Math.exp(3.4) + 40);
  expect(odds).toMatchObject({ question: 'query', size: 41, named: 1 });
  expect(odds?.missed).toBeCloseTo(1 - truth, 12);
});
