// The estimates of a row by group and their blend, which colour and shape tell apart, and their legend.

import { html, svg } from "./elements.js";
import { isNumber } from "./numbers.js";

/** @typedef {number | null | undefined} Maybe */
/**
 * @typedef {object} Estimated
 * @property {Maybe} [probability]
 * @property {Maybe} [low]
 * @property {Maybe} [high]
 * @property {Maybe} [opt_in_probability]
 * @property {Maybe} [opt_in_std_error]
 * @property {Maybe} [client_probability]
 * @property {Maybe} [client_std_error]
 * @property {Maybe} [relay_probability]
 * @property {Maybe} [relay_std_error]
 */
/**
 * @typedef {object} Group
 * @property {"opt-in" | "blend" | "relay" | "clients"} id
 * @property {string} name
 * @property {"diamond" | "circle" | "square" | "triangle"} shape
 * @property {(row: Estimated) => Maybe} value
 * @property {(row: Estimated, quantile: number) => [number, number] | null} interval
 */

/** @type {Group} */
export const OPT_IN = { id: "opt-in", name: "Opt-in users", shape: "diamond",
  value: (row) => row.opt_in_probability,
  interval: (row, quantile) => around(row.opt_in_probability, row.opt_in_std_error, quantile) };
/** @type {Group} */
export const BLEND = { id: "blend", name: "Blend", shape: "circle",
  value: (row) => row.probability, interval: (row) => given(row) };
/** @type {Group} */
export const RELAY = { id: "relay", name: "Relay clients", shape: "square",
  value: (row) => row.relay_probability,
  interval: (row, quantile) => around(row.relay_probability, row.relay_std_error, quantile) };
/** @type {Group} */
export const CLIENTS = { id: "clients", name: "Clients", shape: "triangle",
  value: (row) => row.client_probability,
  interval: (row, quantile) => around(row.client_probability, row.client_std_error, quantile) };

/** Tell whether relay clients estimate some of the rows. @param {readonly Estimated[]} rows */
export function hasRelay(rows) {
  return rows.some((row) => isNumber(row.relay_probability));
}

/**
 * Return the groups that estimate some of the rows, and the blend, in the order of their lanes.
 * @param {readonly Estimated[]} rows
 * @returns {Group[]}
 */
export function groupsOf(rows) {
  if (!hasRelay(rows)) return [OPT_IN, BLEND, CLIENTS];
  const hasLocal = rows.some((row) => isNumber(row.client_probability));
  return [OPT_IN, BLEND, RELAY, ...(hasLocal ? [CLIENTS] : [])];
}

/** Return how far a lane lies from the middle of a row, in pixels. @param {number} lane @param {number} lanes */
export function laneOffset(lane, lanes) {
  const apart = lanes > 3 ? 9 : 11;
  return (lane - (lanes - 1) / 2) * apart;
}

/** Outlines around the origin, as paths. */
export const SHAPES = {
  circle: "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
  diamond: "M0 -4.6L4.6 0L0 4.6L-4.6 0z",
  triangle: "M0 -4.2L4.4 3.6L-4.4 3.6z",
  square: "M-3.4 -3.4H3.4V3.4H-3.4z",
  dot: "M-1.8 0a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0 -3.6 0z",
  back: "M-1 0L6 -4V4z",
};
export const MARK_BOX = "-7 -7 14 14";

/** Return the interval that a release gives. @param {Estimated} row @returns {[number, number] | null} */
export function given({ low, high }) {
  return isNumber(low) && isNumber(high) ? [low, high] : null;
}

/** @param {Maybe} middle @param {Maybe} error @param {number} quantile @returns {[number, number] | null} */
function around(middle, error, quantile) {
  if (!isNumber(middle) || !isNumber(error)) return null;
  return [middle - quantile * error, middle + quantile * error];
}

/** Draw a series' mark alone, for legends and tooltips. @param {string} id @param {keyof typeof SHAPES} shape */
export function markOf(id, shape) {
  return svg("svg", { class: `mark series-${id}`, viewBox: MARK_BOX, width: 14, height: 14,
    "aria-hidden": "true" }, svg("path", { d: SHAPES[shape] }));
}

/**
 * Fill a legend with buttons that show or hide a series; `shown` is changed in place.
 * @param {Element} legend
 * @param {{ id: string, name: string, shape: keyof typeof SHAPES }[]} series
 * @param {Set<string>} shown
 * @param {() => void} redraw
 */
export function drawLegend(legend, series, shown, redraw) {
  legend.replaceChildren(...series.map(({ id, name, shape }) => {
    const button = html("button", { type: "button", class: "legend-button", "data-series": id,
      "aria-pressed": "true" }, markOf(id, shape), name);
    button.addEventListener("click", () => {
      if (shown.has(id)) shown.delete(id);
      else shown.add(id);
      button.setAttribute("aria-pressed", String(shown.has(id)));
      redraw();
    });
    return button;
  }));
}
