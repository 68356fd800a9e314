// Weights of the groups in the blend, and estimates that lie outside all groups: series and words.

import { isListed } from "./cells.js";
import { count, isNumber, plain, plural } from "./numbers.js";
import { CLIENTS, groupsOf, hasRelay, OPT_IN, RELAY } from "./series.js";

/** @typedef {number | null | undefined} Maybe */
/**
 * @typedef {object} Weighed
 * @property {string} cell
 * @property {number} probability
 * @property {Maybe} [opt_in_weight]
 * @property {Maybe} [relay_weight]
 * @property {Maybe} [opt_in_probability]
 * @property {Maybe} [client_probability]
 * @property {Maybe} [relay_probability]
 */

/** Weights beyond these are drawn at the edge of the chart. */
export const WEIGHTS_DRAWN = { least: -1, most: 2 };

/** Tell whether a weight lies outside 0 to 1. @param {Weighed} row */
export function isOutside({ opt_in_weight: weight }) {
  return isNumber(weight) && (weight < 0 || weight > 1);
}

/** Return the weight of the clients who report directly; with a relay all weights add up to 1. @param {Weighed} row */
export function localWeight({ opt_in_weight: optIn, relay_weight: relay }) {
  return isNumber(optIn) && isNumber(relay) ? Math.max(0, 1 - optIn - relay) : null;
}

/** @typedef {typeof OPT_IN & { weight: (row: Weighed) => Maybe }} WeighedGroup */

/**
 * Return the groups whose weight is drawn: with two groups one weight says both.
 * @param {readonly Weighed[]} rows
 * @returns {WeighedGroup[]}
 */
export function weightSeries(rows) {
  /** @type {WeighedGroup} */
  const optIn = { ...OPT_IN, shape: "circle", weight: (row) => row.opt_in_weight };
  if (!hasRelay(rows)) return [optIn];
  const local = { ...CLIENTS, weight: localWeight };
  return [optIn, { ...RELAY, weight: (row) => row.relay_weight },
    ...(groupsOf(rows).includes(CLIENTS) ? [local] : [])];
}

/** Say what the drawn weights are. @param {readonly WeighedGroup[]} series */
export function weightsCaption(series) {
  return series.length > 1
    ? "The share of each group in each blended estimate; the shares add up to 1."
    : "The share of the opt-in users in each blended estimate. At 1 it comes from opt-in users alone, at 0 from "
      + "clients alone.";
}

/** @param {Maybe[]} weights */
function median(weights) {
  const sorted = weights.filter(isNumber).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Say which group decides more. @param {readonly Weighed[]} rows @param {string} noun */
export function weightsTitle(rows, noun) {
  const optIn = median(rows.map((row) => row.opt_in_weight));
  const relay = median(rows.map((row) => row.relay_weight));
  const local = rows.some((row) => isNumber(row.relay_weight))
    ? median(rows.map(localWeight)) : 1 - optIn;
  const of = (/** @type {string} */ name, /** @type {number} */ weight) => `the median ${name} weight of ${noun} is `
    + plain(Number(weight.toFixed(3)));
  if (relay > optIn && relay >= local) return `Relay clients decide most: ${of("relay", relay)}`;
  return `${local > optIn ? "Clients" : "Opt-in users"} decide most: ${of("opt-in", optIn)}`;
}

/**
 * Say how many weights lie outside 0 to 1, in all rows of the table.
 * @param {readonly Weighed[]} rows
 */
export function outsideSentence(rows) {
  const outside = rows.filter(isOutside);
  if (outside.length === 0) return "All weights lie between 0 and 1.";
  const sizes = outside.map((row) => row.opt_in_weight ?? 0);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const range = least === most ? plain(most) : `from ${plain(least)} to ${plain(most)}`;
  const undrawn = outside.filter((row) => !isListed(row)).length;
  const only = undrawn === 0 ? "" : ` ${count(undrawn)} of them stand in the table only, in ★ rows.`;
  return `${plural(outside.length, "weight lies", "weights lie")} outside 0 to 1 (${range}), `
    + "marked by hollow diamonds: a variance was estimated as negative there. Arrows point to "
    + `weights beyond the axis.${only}`;
}

/**
 * Say why a blend can lie outside the estimates of both groups, if some do.
 * @param {readonly Weighed[]} rows
 * @param {{ readonly whyOutside: (hasRecords: boolean) => string }} preset
 * @param {boolean} hasRecords Whether the release lists records, too.
 */
export function blendOutsideSentence(rows, { whyOutside }, hasRecords) {
  const outside = rows.filter((row) => {
    const said = [row.opt_in_probability, row.client_probability, row.relay_probability]
      .filter(isNumber);
    return said.length > 1
      && (row.probability > Math.max(...said) || row.probability < Math.min(...said));
  });
  const groups = rows.some((row) => isNumber(row.relay_probability)) ? "all" : "both";
  if (outside.length === 0) return "";
  return `In ${plural(outside.length, "row", "rows")} the blend lies outside the estimates of `
    + `${groups} groups: ${whyOutside(hasRecords)}`;
}
