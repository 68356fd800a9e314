// Changes between two releases: signs and words.

import { NOUNS, nounsWith } from "./nouns.js";
import { count, percent, plain, plural, SPACE } from "./numbers.js";

/** @typedef {{ readonly verdict: "rose" | "fell" | null }} Judged */

export const SIGNS = { rose: "▲", fell: "▼" };

/** @param {readonly Judged[]} changes */
export function changesTitle(changes) {
  const rose = changes.filter(({ verdict }) => verdict === "rose").length;
  const fell = changes.filter(({ verdict }) => verdict === "fell").length;
  if (rose + fell === 0) return "No change is statistically significant";
  return `${plural(rose, ...nounsWith())} rose and ${count(fell)} fell`;
}

/** @param {{ readonly confidence: number, readonly false_discovery_rate: number }} trends */
export function changesCaption({ confidence, false_discovery_rate: rate }) {
  return `Differences in percentage points, with ${plain(confidence * 100)}${SPACE}% intervals. Each interval `
    + "holds by itself, not all of them at once. Of "
    + `the ${NOUNS.queries[1]} called rising or falling, at most ${percent(rate, 0)} did not change, on average.`;
}

/** Why a query of one list is not called new or gone. @type {readonly [string, string][]} */
const REASONS = [
  ["below the other list", "on one list only and rarer than everything on the other list"],
  ["the other list is empty", "on one list only, and the other list is empty"],
];

/**
 * Say how many queries stand on one list only because the other one is too short for them.
 * @param {readonly { readonly listing: string }[]} changes
 */
export function belowSentence(changes) {
  return REASONS.map(([listing, reason]) => {
    const alone = changes.filter((change) => change.listing === listing).length;
    return alone === 0 ? ""
      : `${plural(alone, ...nounsWith("is", "are"))} ${reason}. Whether they are new or gone is not `
        + "known, so they are not counted as such.";
  }).filter(Boolean).join(" ");
}

/** Write a tick of an axis of differences. @param {number} difference */
export function pointsTick(difference) {
  return `${difference > 0 ? "+" : ""}${plain(Number((difference * 100).toPrecision(6)))}`;
}
