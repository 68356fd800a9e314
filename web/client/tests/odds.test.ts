/** What people are told about reports is what reports do. */
import { expect, test } from 'vitest';
import { cellsOf } from '../src/cells.js';
import type { HeadList } from '../src/head-list.js';
import type { Mechanism } from '../src/mechanism.js';
import { oddsOf } from '../src/odds.js';

function listOf(mechanism: Mechanism): HeadList {
  const urls = Array.from({ length: 40 }, () => ['a.example']);
  const queries = urls.map((_, i) => `query ${i}`);
  return {
    queries,
    urls,
    mechanism,
    isPrivate: true,
    digest: '',
    cells: cellsOf(urls.map(() => 1)),
  };
}

test('the odds of subset selection are e^ε d to N − d, for both questions', () => {
  const odds = oddsOf(listOf({ name: 'subset-selection', epsilon: '2.0', queryShare: '0.25' }));
  expect(odds.map(({ question, size }) => [question, size])).toEqual([
    ['record', 81],
    ['query', 41],
  ]);
  for (const { size, named, missed } of odds) {
    expect(missed).toBeCloseTo((size - named) / (Math.exp(2) * named + size - named), 12);
  }
});

test('a question that nobody is asked has no odds', () => {
  const odds = oddsOf(listOf({ name: 'subset-selection', epsilon: '2.0', queryShare: '0.0' }));
  expect(odds.map(({ question }) => question)).toEqual(['record']);
});

test('LocalAlg names a random query as often as Fig. 6 says', () => {
  const [odds] = oddsOf(
    listOf({
      name: 'local-alg',
      epsilon: '4.0',
      delta: '1e-05',
      queryBudgetFraction: '0.85',
      recordsPerClient: 1,
    }),
  );
  const truth = (Math.exp(3.4) + (0.85e-5 / 2) * 40) / (Math.exp(3.4) + 40);
  expect(odds).toMatchObject({ question: 'query', size: 41, named: 1 });
  expect(odds?.missed).toBeCloseTo(1 - truth, 12);
});
