import { rowText } from '@blender-dp/pages/cells.js';
import { expect, test } from 'vitest';
import type { Estimate } from '../src/api/documents.js';
import { blended, estimatingGroups, groupsApart, normalQuantile } from '../src/charts/estimates.js';
import { fitted, shortened } from '../src/charts/rows.js';
import { weightPoints } from '../src/charts/weights.js';

const ROW: Estimate = {
  cell: 'record',
  query: 'weather',
  url: 'a.example',
  probability: 0.02,
  raw_probability: 0.02,
  std_error: 0.001,
  low: 0.018,
  high: 0.022,
  opt_in_probability: 0.03,
  opt_in_std_error: 0.002,
  client_probability: 0.019,
  client_std_error: null,
  opt_in_weight: 0.4,
};

test('every estimate is drawn with its interval, and bare where it has none', () => {
  expect(blended([ROW]).marks).toEqual([{ row: 0, value: 0.02, low: 0.018, high: 0.022 }]);
  const [optIn, clients] = groupsApart([ROW], 0.95);
  expect(optIn?.marks[0]?.low).toBeCloseTo(0.03 - 1.959964 * 0.002, 8);
  expect(optIn?.marks[0]?.high).toBeCloseTo(0.03 + 1.959964 * 0.002, 8);
  expect(clients?.marks).toEqual([{ row: 0, value: 0.019, low: null, high: null }]);
});

test('relay clients are drawn between the other groups, and clients only if they report', () => {
  const relayed = { ...ROW, relay_probability: 0.021, relay_std_error: 0.001 };
  const drawn = groupsApart([relayed], 0.95);
  expect(drawn.map(({ colour, symbol }) => [colour, symbol])).toEqual([
    ['--opt-in', 'diamond'],
    ['--relay', 'square'],
    ['--clients', 'triangle'],
  ]);
  expect(drawn[1]?.marks[0]?.low).toBeCloseTo(0.021 - 1.959964 * 0.001, 8);
  expect(estimatingGroups([{ ...relayed, client_probability: null }]).map(({ id }) => id)).toEqual([
    'opt-in',
    'relay',
  ]);
});

test('the weight of each group is drawn with relay clients, that of opt-in users alone without', () => {
  const drawn = (row: Estimate) =>
    weightPoints([row]).map(({ group, weight }) => [group.id, weight]);
  expect(drawn(ROW)).toEqual([['opt-in', 0.4]]);
  const relayed = { ...ROW, relay_probability: 0.021, relay_weight: 0.5 };
  const [optIn, relay, clients] = drawn(relayed);
  expect([optIn, relay]).toEqual([
    ['opt-in', 0.4],
    ['relay', 0.5],
  ]);
  expect(clients?.[0]).toBe('clients');
  expect(clients?.[1]).toBeCloseTo(0.1, 12);
  expect(drawn({ ...relayed, client_probability: null }).length).toBe(2);
  expect(drawn({ ...relayed, probability: 0 })).toEqual([]);
});

test('intervals reach as far as Python’s NormalDist says', () => {
  expect(normalQuantile(0.5)).toBeCloseTo(0.6744897501960817, 12);
  expect(normalQuantile(0.95)).toBeCloseTo(1.9599639845400536, 12);
  expect(normalQuantile(0.999999)).toBeCloseTo(4.891638475671084, 8);
});

test('a group that says nothing of a row is not drawn there', () => {
  const silent = { ...ROW, cell: 'other_url' as const, url: null, opt_in_probability: null };
  expect(groupsApart([silent, ROW], 0.95)[0]?.marks.map(({ row }) => row)).toEqual([1]);
});

test('rows have names in plain text', () => {
  expect(rowText(ROW)).toBe('weather → a.example');
  expect(rowText({ ...ROW, cell: 'other_url', url: null })).toBe('weather → ★');
  expect(rowText({ ...ROW, cell: 'other', query: null, url: null })).toBe('★ everything else');
});

test('names are cut between whole letters', () => {
  expect(shortened('weather', 7)).toBe('weather');
  expect(shortened('weathers', 7)).toBe('weathe…');
  expect(shortened('👍👍👍', 2)).toBe('👍…');
});

test('a name beside an axis is cut to its room, sooner if its letters are wide', () => {
  expect(fitted('weather', 14)).toBe('weather');
  expect(fitted('a'.repeat(40), 14)).toHaveLength(14);
  expect(Array.from(fitted('天気予報'.repeat(10), 14)).length).toBeLessThanOrEqual(8);
  expect(fitted('W'.repeat(40), 14).length).toBeLessThanOrEqual(8);
});
