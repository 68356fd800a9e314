/** Tables of any length: sorted by any column, filtered, a page at a time. */

import {
  filteredRows,
  nextOrder,
  type Order,
  pageWords,
  ROWS_PER_PAGE,
  SORT_SIGNS,
  sortedRows,
  sortState,
} from '@blender-dp/pages/table_rows.js';
import type { ComponentChildren } from 'preact';
import { flushSync } from 'preact/compat';
import { useEffect, useMemo, useState } from 'preact/hooks';

/** At most this many rows need no filter and no words about pages. */
const FEW = 10;

export interface Column<Row> {
  readonly name: string;
  readonly hint?: string;
  /** What rows are sorted by; a text or a number, null where there is none. */
  readonly value: (row: Row) => string | number | null;
  readonly show: (row: Row) => ComponentChildren;
  readonly isText?: boolean;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** Texts that the filter looks into; no filter if left out. */
  readonly texts?: (row: Row) => readonly (string | null | undefined)[];
  readonly rowsAPage?: number;
}

export function Table<Row>({ caption, rows, columns, texts, rowsAPage }: TableProps<Row>) {
  const [order, setOrder] = useState<Order<number> | null>(null);
  const [wanted, setWanted] = useState('');
  const [page, setPage] = useState(0);
  const shown = useMemo(
    () => sortedRows(filteredRows(rows, texts, wanted), columns, order),
    [rows, texts, wanted, columns, order],
  );
  const isPrinted = usePrinted();
  const length = isPrinted ? Math.max(shown.length, 1) : (rowsAPage ?? ROWS_PER_PAGE);
  const first = Math.min(page, Math.max(Math.ceil(shown.length / length) - 1, 0)) * length;
  const restart = (change: () => void) => {
    change();
    setPage(0);
  };
  return (
    <>
      {texts && rows.length > FEW && (
        <div class="controls">
          <label class="filter">
            <span class="visually-hidden">Filter: {caption}</span>
            <input
              type="search"
              placeholder="Filter"
              value={wanted}
              onInput={(event) => restart(() => setWanted(event.currentTarget.value))}
            />
          </label>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse must scroll it too */}
      <section class="table-scroll" tabIndex={0} aria-label={`Table: ${caption}`}>
        <table>
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map((column, at) => (
                <Head
                  key={column.name}
                  column={column}
                  sorted={sortState(order, at)}
                  sort={() => restart(() => setOrder(nextOrder(order, at, column.isText ?? false)))}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.slice(first, first + length).map((row, at) => (
              <Line key={first + at} row={row} columns={columns} />
            ))}
          </tbody>
        </table>
      </section>
      <Pager first={first} length={length} all={shown.length} turn={setPage} />
    </>
  );
}

/** Tells whether the page is being printed: a table then has all its rows. */
function usePrinted(): boolean {
  const [isPrinted, setPrinted] = useState(false);
  useEffect(() => {
    const begin = () => flushSync(() => setPrinted(true));
    const end = () => setPrinted(false);
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinted;
}

interface HeadProps<Row> {
  readonly column: Column<Row>;
  readonly sorted: 'none' | 'ascending' | 'descending';
  readonly sort: () => void;
}

function Head<Row>({ column, sorted, sort }: HeadProps<Row>) {
  return (
    <th scope="col" class={column.isText ? 'text' : 'number'} aria-sort={sorted}>
      <button type="button" class="sort" title={column.hint} onClick={sort}>
        {column.name}
        <span class="sort-sign" aria-hidden="true">
          {SORT_SIGNS[sorted]}
        </span>
      </button>
    </th>
  );
}

function Line<Row>({ row, columns }: { row: Row; columns: readonly Column<Row>[] }) {
  return (
    <tr>
      {columns.map((column, at) => {
        const kind = column.isText ? 'text' : 'number';
        return at === 0 ? (
          <th scope="row" class={kind} key={column.name}>
            {column.show(row)}
          </th>
        ) : (
          <td class={kind} key={column.name}>
            {column.show(row)}
          </td>
        );
      })}
    </tr>
  );
}

interface PagerProps {
  readonly first: number;
  readonly length: number;
  readonly all: number;
  readonly turn: (page: number) => void;
}

function Pager({ first, length, all, turn }: PagerProps) {
  const page = Math.floor(first / length);
  const last = Math.min(first + length, all);
  if (all > 0 && all <= FEW) return null;
  return (
    <div class="pager">
      <span aria-live="polite">{all === 0 ? 'No rows.' : pageWords(first, last - first, all)}</span>
      {all > length && (
        <span class="pager-buttons">
          <button type="button" class="button" disabled={page === 0} onClick={() => turn(page - 1)}>
            Back
          </button>
          <button
            type="button"
            class="button"
            disabled={last >= all}
            onClick={() => turn(page + 1)}
          >
            Next
          </button>
        </span>
      )}
    </div>
  );
}
