// Numbers as text, the same on every page.

export const ABSENT = "–";
export const SPACE = "\u00a0";

/** @typedef {number | null | undefined} MaybeNumber */

/** @param {unknown} value @returns {value is number} */
export function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

/** @param {number} value @param {number} least @param {number} most */
export function clamp(value, least, most) {
  return Math.min(most, Math.max(least, value));
}

/** @type {Map<number, Intl.NumberFormat>} */
const formats = new Map();

/** @param {number} value @param {number} decimals */
export function withDecimals(value, decimals) {
  const options = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const format = formats.get(decimals) ?? new Intl.NumberFormat("en-GB", options);
  formats.set(decimals, format);
  const text = format.format(value).replace("-", "−");
  return /[1-9]/.test(text) ? text : text.replace("−", "");
}

/** Return the decimals at which a number shows three significant digits. @param {number} value */
function decimalsFor(value) {
  return value === 0 ? 0 : clamp(2 - Math.floor(Math.log10(Math.abs(value))), 0, 7);
}

/** @param {MaybeNumber} value */
export function count(value) {
  return isNumber(value) ? withDecimals(value, 0) : ABSENT;
}

/** @param {number} value @param {string} one @param {string} many */
export function plural(value, one, many) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Write a number with three significant digits and no padding zeros. @param {MaybeNumber} value */
export function plain(value) {
  if (!isNumber(value)) return ABSENT;
  if (value !== 0 && Math.abs(value) < 1.005e-4) return scientific(value);
  if (Number.isInteger(value)) return count(value);
  const text = withDecimals(value, decimalsFor(value));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** @param {number} value */
function scientific(value) {
  const [mantissa = "", exponent = "0"] = value.toExponential(2).split("e");
  const digits = mantissa.replace(/\.?0+$/, "").replace("-", "−");
  const power = `10${superscript(Number(exponent))}`;
  return digits === "1" ? power : `${digits}${SPACE}×${SPACE}${power}`;
}

/** @param {number} exponent */
function superscript(exponent) {
  return Array.from(String(exponent), (sign) =>
    "⁻⁰¹²³⁴⁵⁶⁷⁸⁹".charAt("-0123456789".indexOf(sign))).join("");
}

/**
 * Write a probability as a percentage: three significant digits unless decimals are given.
 * @param {MaybeNumber} probability
 * @param {number | null} [decimals]
 */
export function percent(probability, decimals = null) {
  if (!isNumber(probability)) return ABSENT;
  const value = probability * 100;
  if (decimals === null && value !== 0 && Math.abs(value) < 1e-6) {
    return `${scientific(value)}${SPACE}%`;
  }
  return `${withDecimals(value, decimals ?? decimalsFor(value))}${SPACE}%`;
}

/** Write a tick of a percentage axis, where padding zeros only take room. @param {number} share */
export function percentTick(share) {
  return `${plain(Number((share * 100).toPrecision(6)))}${SPACE}%`;
}

/**
 * Write an interval with the decimals its width calls for, unless they are given.
 * @param {MaybeNumber} low
 * @param {MaybeNumber} high
 * @param {number | null} [decimals]
 */
export function percentRange(low, high, decimals = null) {
  if (!isNumber(low) || !isNumber(high)) return ABSENT;
  const shared = decimals ?? Math.max(1, decimalsFor((high - low) * 100) - 1);
  return `${withDecimals(low * 100, shared)} to ${percent(high, shared)}`;
}

/**
 * Write an estimate with its 95 % interval, from its standard error: 1.23 ± 0.08 %.
 * @param {MaybeNumber} probability
 * @param {MaybeNumber} error
 */
export function percentWithMargin(probability, error) {
  if (!isNumber(probability)) return ABSENT;
  if (!isNumber(error)) return percent(probability);
  const margin = marginOf(error);
  const decimals = Math.max(1, decimalsFor(margin * 100) - 1);
  return `${withDecimals(probability * 100, decimals)} ± ${percent(margin, decimals)}`;
}

/** Return half the width of the normal 95 % interval; every ± is this. @param {number} error */
export function marginOf(error) {
  return 1.959963984540054 * error;
}

/** Write a difference of shares in percentage points. @param {MaybeNumber} difference */
export function points(difference) {
  if (!isNumber(difference)) return ABSENT;
  const value = difference * 100;
  return `${value > 0 ? "+" : ""}${withDecimals(value, decimalsFor(value))}`;
}

/** @param {MaybeNumber} low @param {MaybeNumber} high */
export function pointsRange(low, high) {
  return isNumber(low) && isNumber(high) ? `${points(low)} to ${points(high)}` : ABSENT;
}

/**
 * Return the decimals of a column of percentages, so that its numbers line up.
 * @param {MaybeNumber[]} probabilities
 */
export function columnDecimals(probabilities) {
  const sizes = probabilities.filter(isNumber).filter((p) => p > 0).sort((a, b) => a - b);
  const median = sizes[Math.floor(sizes.length / 2)];
  return median === undefined ? 2 : clamp(Math.ceil(-Math.log10(median * 100)) + 2, 2, 6);
}

const LARGE_NUMBERS = [[1e12, "trillion"], [1e9, "billion"], [1e6, "million"]];

/** Write a bound on a small probability, never too small: 1 in 19, 1 in 10 million. @param {number} probability */
export function oneIn(probability) {
  const chances = Math.min(Math.floor((1 + 1e-12) / probability), 1e15);
  const [unit, word] = LARGE_NUMBERS.find(([least]) => chances >= Number(least)) ?? [1, ""];
  if (!word) return `1 in ${count(chances)}`;
  const number = chances / Number(unit);
  return `1 in ${plain(number < 10 ? Math.floor(number * 10) / 10 : Math.floor(number))} ${word}`;
}

/** Return the number that a certificate writes as a decimal or a fraction. @param {string | null} exact */
export function numberOf(exact) {
  const [over = "NaN", under = "1"] = (exact ?? "").split("/");
  return over === "" ? Number.NaN : Number(over) / Number(under);
}

/**
 * Write a moment in UTC; by default to the minute.
 * @param {unknown} timestamp
 * @param {Intl.DateTimeFormatOptions} [style]
 */
export function moment(timestamp, style = { dateStyle: "medium", timeStyle: "short" }) {
  const date = new Date(typeof timestamp === "string" ? timestamp : "");
  if (Number.isNaN(date.getTime())) return ABSENT;
  return new Intl.DateTimeFormat("en-GB", { ...style, timeZone: "UTC" }).format(date);
}

/** Write the day of a moment, such as 15 Nov 2026. @param {unknown} timestamp */
export function day(timestamp) {
  return moment(timestamp, { dateStyle: "medium" });
}

/** Write the day of a moment with the month as a word. @param {unknown} timestamp */
export function longDay(timestamp) {
  return moment(timestamp, { dateStyle: "long" });
}
