// The cells of a release and how they are named. A wildcard is an element of its own kind and
// never a string, because a user may search for "★" or for "everything else".

import { html } from "./elements.js";
import { NOUNS } from "./nouns.js";
import { isNumber } from "./numbers.js";
import { visible } from "./visible.js";

/**
 * @typedef {object} Row
 * @property {string} cell
 * @property {string | null} [query]
 * @property {string | null} [url]
 * @property {number} probability
 */

export const WILDCARD_SIGN = "★";
export const WILDCARD_NAMES = { get url() { return NOUNS.elsewhere; }, rest: "everything else" };

/** Tell whether a row is one record or one query, not the rest of something. @param {Row} row */
export function isListed(row) {
  return row.cell === "record" || row.cell === "query";
}

/**
 * Return the rows with the most probable first, and each with its rank among those listed.
 * @param {unknown} rows
 */
export function ranked(rows) {
  const sorted = (Array.isArray(rows) ? /** @type {Row[]} */ (rows) : [])
    .filter((row) => row && isNumber(row.probability))
    .sort((a, b) => b.probability - a.probability);
  let rank = 0;
  return sorted.map((row) => ({ ...row, rank: isListed(row) ? (rank += 1) : null }));
}

/** @param {string} name */
function wildcard(name) {
  return html("span", { class: "wildcard" },
    html("span", { class: "wildcard-sign", "aria-hidden": "true" }, WILDCARD_SIGN),
    html("span", {}, name));
}

/**
 * Show what a user typed: text only, every sign visible, kept from turning what stands around.
 * @param {string} text
 */
export function typed(text) {
  if (text === "") return html("span", { class: "quiet" }, "(empty)");
  return html("bdi", { class: "typed" }, visible(text));
}

/** @param {Row} row */
export function queryName(row) {
  return row.cell === "other" ? wildcard(WILDCARD_NAMES.rest) : typed(row.query ?? "");
}

/** @param {Row} row */
export function urlName(row) {
  if (row.cell === "other_url") return wildcard(WILDCARD_NAMES.url);
  return row.cell === "other" ? wildcard(WILDCARD_NAMES.rest) : typed(row.url ?? "");
}

/** Name a row in one line: the query, and for a record its URL. @param {Row} row */
export function rowName(row) {
  if (row.cell === "query" || row.cell === "other") return [queryName(row)];
  return [queryName(row), html("span", { class: "arrow", "aria-hidden": "true" }, " → "),
    html("span", { class: "url" }, urlName(row))];
}

/** Name a row in one line of plain text. @param {Row} row */
export function rowText(row) {
  if (row.cell === "other") return `${WILDCARD_SIGN} ${WILDCARD_NAMES.rest}`;
  const query = visible(row.query ?? "");
  return row.cell === "query" ? query : `${query} → ${visible(row.url ?? WILDCARD_SIGN)}`;
}

/** @param {Row[]} rows */
export function total(rows) {
  return rows.reduce((sum, row) => sum + row.probability, 0);
}

/** Show the title that a page was given, if any. @param {unknown} title */
export function showTitle(title) {
  if (typeof title !== "string" || title === "") return;
  document.getElementById("title")?.replaceChildren(typed(title));
  document.title = visible(title);
}
