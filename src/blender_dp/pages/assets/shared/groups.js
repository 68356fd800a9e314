// Comparison of the groups: words, and the queries that differ most.

import { clamp, isNumber } from "./numbers.js";

/**
 * @typedef {object} Drift
 * @property {boolean} [is_significant]
 * @property {string} [sentence]
 * @property {readonly { query: string | null, z: number }[]} [widest]
 */

const WIDEST_Z = 4;

/** @param {Drift | null} drift @param {boolean} [withRelay] Whether there are more than two groups. */
export function driftTitle(drift, withRelay = false) {
  if (!drift) return "Opt-in users and clients were not compared";
  if (drift.is_significant === true) return "Opt-in users and clients differ";
  return `${withRelay ? "Opt-in users and clients" : "The two groups"} agree, as far as can be seen`;
}

/** @param {Drift} drift */
export function relayDriftTitle(drift) {
  return drift.is_significant === true ? "Relay clients and local clients differ"
    : "Relay clients and local clients agree, as far as can be seen";
}

/** @param {Drift | null} drift */
export function driftSentence(drift) {
  return drift ? drift.sentence ?? "" : "No query is frequent enough in both groups to compare them.";
}

/** Return the queries that differ most, by name, with the distance in standard errors. @param {Drift | null} drift */
export function widestDifferences(drift) {
  const rows = Array.isArray(drift?.widest) ? drift.widest : [];
  return rows.filter((row) => isNumber(row?.z)).map(({ query, z }) => ({ name: query ?? "", z }));
}

/** Return in which group a query is more popular. @param {number} z */
export function strongerGroup(z) {
  return z < 0 ? "clients" : "opt-in users";
}

/** Return in which group of clients a query is more popular. @param {number} z */
export function strongerClients(z) {
  return z < 0 ? "local clients" : "relay clients";
}

/** Return where a bar for a distance begins and how long it is, in percent of its track. @param {number} z */
export function driftBar(z) {
  const length = clamp(Math.abs(z) / WIDEST_Z, 0, 1) * 50;
  return { left: z < 0 ? 50 - length : 50, length };
}
