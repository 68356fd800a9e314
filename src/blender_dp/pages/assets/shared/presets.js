// Presets: what the pages say or show differently for each. No other script compares their names.

import { NOUNS } from "./nouns.js";

/**
 * @typedef {object} Preset
 * @property {boolean} takesRelay Whether a relay and a known list can be used with it.
 * @property {boolean} deltaIsForAll Whether the promise to clients has the δ too.
 * @property {(hasRecords: boolean) => string} whyOutside Why a blend can lie outside the estimates of all groups.
 * @property {readonly string[]} unused Parameters that have no effect with it.
 */

/** @type {Readonly<Record<"sharp" | "paper", Preset>>} */
export const PRESETS = {
  sharp: {
    takesRelay: true,
    deltaIsForAll: false,
    whyOutside: (hasRecords) => {
      const [one = "", many = ""] = NOUNS.queries;
      const sums = hasRecords ? `, records add up to their ${one}` : "";
      return `all rows are estimated together, so that no estimate is negative${sums} and `
        + `everything adds up to 100\u00a0%. Rare ${hasRecords ? "records" : many} are also `
        + "lowered, because luck helped them onto the list.";
    },
    unused: ["head_list_user_fraction", "query_budget_fraction", "records_per_optin_user",
      "records_per_client", "project"],
  },
  paper: {
    takesRelay: false,
    deltaIsForAll: true,
    whyOutside: () => "the blend is moved so that no estimate is negative and everything adds up to "
      + "100\u00a0%, or its weight lies outside 0 to 1.",
    unused: ["one_record_each"],
  },
};

/**
 * Return the preset of this name; an unknown one is read as the paper's.
 * @param {unknown} name
 */
export function presetOf(name) {
  return name === "sharp" ? PRESETS.sharp : PRESETS.paper;
}
