// Promises in words: the meaning of ε and δ.

import { isNumber, oneIn, percent, plain, SPACE } from "./numbers.js";

/** Write ε and δ. @param {number} epsilon @param {number} delta */
export function lossWords(epsilon, delta) {
  return `ε = ${plain(epsilon)}, δ = ${plain(delta)}`;
}

/**
 * @typedef {object} RelayBatch
 * @property {string} outcome
 * @property {string} sentence
 */

/** Say why a relay's batch is not in a result; null if it is, or if there is no relay. @param {RelayBatch | undefined} batch */
export function absentRelay(batch) {
  return batch && batch.outcome !== "counted" ? batch.sentence : null;
}

/**
 * Return the accounts of a certificate whose users are in the result.
 * @template {{ model: string }} Account
 * @param {readonly Account[]} accounts
 * @param {RelayBatch | undefined} batch
 * @returns {Account[]}
 */
export function accountsInResult(accounts, batch) {
  return accounts.filter(({ model }) => model !== "relay" || absentRelay(batch) === null);
}

/**
 * Return how sure somebody can be at most who was `before` sure and then sees everything.
 * @param {number} before
 * @param {number} epsilon
 */
export function surestAfter(before, epsilon, delta = 0) {
  const odds = (before / (1 - before)) * Math.exp(epsilon);
  return Math.min(1, (odds === Infinity ? 1 : odds / (1 + odds)) + delta);
}

/**
 * Say what ε means, in sentences.
 * @param {unknown} epsilon
 * @param {string} [who] Whom it protects: "you" or "a person".
 */
export function epsilonMeaning(epsilon, who = "a person") {
  const meaning = `ε limits what anybody can learn about ${who} from what is published or from a `
    + "private report. This holds whatever else they know, and whatever computers they have. An ε of "
    + "0 would be nothing at all. Smaller is safer.";
  if (!isNumber(epsilon)) return [meaning];
  const after = surestAfter(0.001, epsilon);
  return [meaning,
    `With ε${SPACE}=${SPACE}${plain(epsilon)}, the odds of any guess about what ${who} did can grow `
    + `by a factor of ${plain(Math.exp(epsilon))} at most.`,
    `If somebody thinks it is 1 in 1,000 likely that ${who} searched for something, then after seeing `
    + `everything they can think it ${oneIn(after)} likely at most (${percent(after)}). Somebody who `
    + `gave it even odds can be ${certainty(surestAfter(0.5, epsilon))} sure at most. Usually they `
    + "learn far less."];
}

/** Write a bound on a certainty: rounded up, and with digits enough not to reach 100 %. @param {number} probability */
function certainty(probability) {
  if (probability > 1 - 1e-9) return "almost entirely";
  const decimals = Math.ceil(-Math.log10(1 - probability));
  const scale = 10 ** (decimals + 2);
  return percent(Math.ceil(probability * scale) / scale, decimals);
}

/** @param {unknown} delta */
export function deltaMeaning(delta) {
  const meaning = "δ is a small allowance on top: the probability by which anything seen may "
    + "exceed that limit.";
  if (!isNumber(delta)) return meaning;
  if (delta === 0) return `${meaning} Here it is zero: the limit holds as it stands.`;
  return `${meaning} Here it is at most ${oneIn(delta)}.`;
}
