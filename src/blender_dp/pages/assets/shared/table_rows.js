// Rows of a table: filter, order, and the words about a page of rows.

import { count, isNumber } from "./numbers.js";

export const ROWS_PER_PAGE = 50;
export const SORT_SIGNS = /** @type {const} */ ({ none: "↕", ascending: "▲", descending: "▼" });

/** @typedef {string | number | null | undefined} Value */
/**
 * @template Key
 * @typedef {{ readonly column: Key, readonly direction: 1 | -1 }} Order
 */

/**
 * Return the rows that have the wanted letters in one of their texts.
 * @template Row
 * @param {readonly Row[]} rows
 * @param {((row: Row) => readonly (string | null | undefined)[]) | undefined} texts
 * @param {string} wanted
 * @returns {readonly Row[]}
 */
export function filteredRows(rows, texts, wanted) {
  const letters = wanted.trim().toLocaleLowerCase("en");
  if (!letters || !texts) return rows;
  return rows.filter((row) =>
    texts(row).some((text) => text?.toLocaleLowerCase("en").includes(letters)));
}

/**
 * Sort by the number of a column; rows without a value there come last either way.
 * @template Row
 * @param {readonly Row[]} rows
 * @param {readonly { readonly value: (row: Row) => Value }[]} columns
 * @param {Order<number> | null} order
 * @returns {readonly Row[]}
 */
export function sortedRows(rows, columns, order) {
  const column = order && columns[order.column];
  if (!column) return rows;
  const collator = new Intl.Collator("en", { numeric: true });
  /** @param {Value} value */
  const isAbsent = (value) => typeof value !== "string" && !isNumber(value);
  return rows
    .map((row) => ({ value: column.value(row), row }))
    .sort(({ value: a }, { value: b }) => {
      if (isAbsent(a) || isAbsent(b)) return Number(isAbsent(a)) - Number(isAbsent(b));
      const isNumeric = typeof a === "number" && typeof b === "number";
      return order.direction * (isNumeric ? a - b : collator.compare(`${a}`, `${b}`));
    })
    .map(({ row }) => row);
}

/**
 * Return the order after a click on a column's head: texts start with A, numbers with the largest.
 * @template Key
 * @param {Order<Key> | null} order
 * @param {Key} column
 * @param {boolean} isText
 * @returns {Order<Key>}
 */
export function nextOrder(order, column, isText) {
  if (order?.column === column) return { column, direction: order.direction === 1 ? -1 : 1 };
  return { column, direction: isText ? 1 : -1 };
}

/**
 * Return how a column is sorted, in the words of aria-sort.
 * @template Key
 * @param {Order<Key> | null} order
 * @param {Key} column
 */
export function sortState(order, column) {
  if (order?.column !== column) return "none";
  return order.direction === 1 ? "ascending" : "descending";
}

/** @param {number} first @param {number} shown @param {number} all */
export function pageWords(first, shown, all) {
  return `Rows ${count(first + 1)} to ${count(first + shown)} of ${count(all)}`;
}
