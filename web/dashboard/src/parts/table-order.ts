/** Which rows of a table are shown, and in which order. */

export interface Order {
  readonly column: number;
  readonly direction: 1 | -1;
}

interface Sortable<Row> {
  readonly value: (row: Row) => string | number | null;
}

/** Returns the rows that have the wanted letters somewhere. */
export function filteredRows<Row>(
  rows: readonly Row[],
  texts: ((row: Row) => readonly (string | null | undefined)[]) | undefined,
  wanted: string,
): readonly Row[] {
  const letters = wanted.trim().toLocaleLowerCase('en');
  if (!letters || !texts) return rows;
  return rows.filter((row) =>
    texts(row).some((text) => text?.toLocaleLowerCase('en').includes(letters)),
  );
}

/** Sorts by a column; rows without a value there come last either way. */
export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly Sortable<Row>[],
  order: Order | null,
): readonly Row[] {
  const column = order && columns[order.column];
  if (!column) return rows;
  const collator = new Intl.Collator('en', { numeric: true });
  return rows
    .map((row) => [column.value(row), row] as const)
    .sort(([a], [b]) => {
      if (a === null || b === null) return Number(a === null) - Number(b === null);
      const difference =
        typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(`${a}`, `${b}`);
      return order.direction * difference;
    })
    .map(([, row]) => row);
}
