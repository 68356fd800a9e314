// Promises in words: the meaning of ε and δ.

import { count, isNumber, oneIn, percent, plain, SPACE, withDecimals } from "./numbers.js";

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

/** Write to whom a promise was made; documents call the organisation the collector. @param {string} to */
export function promisedTo(to) {
  return to
    .replace("unless relay and collector collude", "as long as relay and organisation do not work together")
    .replace("if relay and collector collude", "if relay and organisation work together");
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

/** Write how many times more likely a guess may become: rounded up. @param {number} epsilon */
export function factorAtMost(epsilon) {
  const factor = Math.exp(epsilon) * (1 - 1e-12);
  return factor < 10 ? withDecimals(Math.ceil(factor * 10) / 10, 1) : count(Math.ceil(factor));
}

/** Say what ε limits. @param {number} epsilon @param {string} [who] Whom it protects: "you" or "a person". */
export function guessLimit(epsilon, who = "you") {
  return Math.exp(epsilon) < 1e6
    ? `any guess about ${who} becomes at most ${factorAtMost(epsilon)} times more likely`
    : `a guess about ${who} may become almost certain`;
}

/** Say what ε limits by an example; the share page says the same. @param {number} epsilon @param {string} [who] */
export function guessExample(epsilon, who = "you") {
  const few = surestAfter(0.001, epsilon);
  return `For example, somebody thinks the chance is 1 in 1,000 that ${who} searched for one certain thing. `
    + `Afterwards they can think it is ${few > 0.1 ? certainty(few) : oneIn(few)} at most. `
    + `Somebody who was half sure can be ${certainty(surestAfter(0.5, epsilon))} sure at most. `
    + "Usually they learn far less.";
}

/**
 * Say for whom the limit may fail; the share page says the same.
 * @param {number} delta
 * @param {boolean} isForAll Whether reports have the δ too.
 * @param {boolean} [hasRelay]
 */
export function limitFails(delta, isForAll, hasRelay = false) {
  const fails = `this limit may fail with a chance of at most ${oneIn(delta)}.`;
  if (isForAll) return `Whatever you choose, ${fails}`;
  return `If you opt in${hasRelay ? " or use the relay" : ""}, ${fails} For private reports it never fails.`;
}

/**
 * Say how often a report names the truth.
 * @param {number} truth
 * @param {number} named
 */
export function truthInReports(truth, named) {
  const others = named === 1 ? "All other reports name a random one." : "All other reports name only random ones.";
  return `In ${reportsOfHundred(truth)} the true one is ${named === 1 ? "named" : "among them"}. ${others} `
    + "Nobody can tell for sure which report is which.";
}

/** Write a probability as a number of reports, never as certain when it is not. @param {number} probability */
function reportsOfHundred(probability) {
  if (probability < 0.005) return "fewer than 1 of 100 reports";
  if (probability > 0.995) return "more than 99 of 100 reports";
  return `about ${count(Math.round(probability * 100))} of 100 reports`;
}

/**
 * Say what ε means, in paragraphs.
 * @param {unknown} epsilon
 * @param {string} [who] Whom it protects: "you" or "a person".
 */
export function epsilonMeaning(epsilon, who = "a person") {
  const meaning = `ε limits what others can learn about ${who} from what is published, or from a private report. `
    + "This holds whatever else they know, and whatever computers they have. With an ε of 0 they would learn "
    + "nothing at all. Smaller is safer.";
  if (!isNumber(epsilon)) return [meaning];
  return [meaning,
    `With ε${SPACE}=${SPACE}${plain(epsilon)}, ${guessLimit(epsilon, who)}.`,
    guessExample(epsilon, who)];
}

/** Write a bound on a certainty: rounded up, and with digits enough not to reach 100 %. @param {number} probability */
function certainty(probability) {
  if (probability > 1 - 1e-9) return `almost 100${SPACE}%`;
  const decimals = Math.max(1, Math.ceil(-Math.log10(1 - probability)) - 1);
  const scale = 10 ** (decimals + 2);
  return percent(Math.ceil(probability * scale) / scale, decimals);
}

/** @param {unknown} delta */
export function deltaMeaning(delta) {
  const meaning = "δ is the chance that this limit fails.";
  if (!isNumber(delta)) return meaning;
  if (delta === 0) return `${meaning} Here it is zero: the limit never fails.`;
  return `${meaning} Here it is at most ${oneIn(delta)}. For a group with δ${SPACE}=${SPACE}0 the limit never fails.`;
}
