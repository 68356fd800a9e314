import { filteredRows, sortedRows } from '@blender-dp/pages/table_rows.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const ROWS = [
  { name: 'week 10', share: 0.2 },
  { name: 'Week 9', share: null },
  { name: 'news', share: 0.5 },
];
const COLUMNS = [
  { value: (row: (typeof ROWS)[number]) => row.name },
  { value: (row: (typeof ROWS)[number]) => row.share },
];
const names = (rows: readonly { name: string }[]) => rows.map(({ name }) => name);

test('numbers in names count as numbers', () => {
  const sorted = sortedRows(ROWS, COLUMNS, { column: 0, direction: 1 });
  expect(names(sorted)).toEqual(['news', 'Week 9', 'week 10']);
});

test('rows without a value come last either way', () => {
  const order = (direction: 1 | -1) => names(sortedRows(ROWS, COLUMNS, { column: 1, direction }));
  expect(order(1)).toEqual(['week 10', 'news', 'Week 9']);
  expect(order(-1)).toEqual(['news', 'week 10', 'Week 9']);
});

test('without an order rows stay as they came', () => {
  expect(sortedRows(ROWS, COLUMNS, null)).toBe(ROWS);
});

test('a filter takes no notice of case and spaces around it', () => {
  expect(names(filteredRows(ROWS, (row) => [row.name, null], '  WEEK '))).toEqual([
    'week 10',
    'Week 9',
  ]);
  expect(filteredRows(ROWS, undefined, 'x')).toBe(ROWS);
});

test('sorting loses and invents no row', () => {
  const row = fc.record({ name: fc.string(), share: fc.option(fc.double({ noNaN: true })) });
  fc.assert(
    fc.property(fc.array(row), fc.constantFrom(0, 1), (rows, column) => {
      const sorted = sortedRows(rows, COLUMNS, { column, direction: -1 });
      expect(new Set(sorted)).toEqual(new Set(rows));
      expect(sorted.length).toBe(rows.length);
    }),
  );
});
