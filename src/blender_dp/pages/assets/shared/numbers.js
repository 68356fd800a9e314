// How numbers are written, the same everywhere on the page.

const ABSENT = "–";
const SPACE = "\u00a0";

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

function clamp(value, least, most) {
  return Math.min(most, Math.max(least, value));
}

const formats = new Map();

function withDecimals(value, decimals) {
  if (!formats.has(decimals)) {
    formats.set(decimals, new Intl.NumberFormat("en-GB", {
      minimumFractionDigits: decimals, maximumFractionDigits: decimals,
    }));
  }
  const text = formats.get(decimals).format(value).replace("-", "−");
  return /[1-9]/.test(text) ? text : text.replace("−", "");
}

/** Return the decimals at which a number shows three significant digits. */
function decimalsFor(value) {
  return value === 0 ? 0 : clamp(2 - Math.floor(Math.log10(Math.abs(value))), 0, 7);
}

function count(value) {
  return isNumber(value) ? withDecimals(value, 0) : ABSENT;
}

function plural(value, one, many) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Write a number with three significant digits and no padding zeros. */
function plain(value) {
  if (!isNumber(value)) return ABSENT;
  if (value !== 0 && Math.abs(value) < 1e-4) return scientific(value);
  if (Number.isInteger(value)) return count(value);
  const text = withDecimals(value, decimalsFor(value));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function scientific(value) {
  const [mantissa, exponent] = value.toExponential(2).split("e");
  const digits = mantissa.replace(/\.?0+$/, "").replace("-", "−");
  const power = `10${superscript(Number(exponent))}`;
  return digits === "1" ? power : `${digits}${SPACE}×${SPACE}${power}`;
}

function superscript(exponent) {
  const signs = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷",
    8: "⁸", 9: "⁹" };
  return [...String(exponent)].map((sign) => signs[sign]).join("");
}

/** Write a probability as a percentage: three significant digits unless decimals are given. */
function percent(probability, decimals = null) {
  if (!isNumber(probability)) return ABSENT;
  const value = probability * 100;
  if (decimals === null && value !== 0 && Math.abs(value) < 1e-6) {
    return `${scientific(value)}${SPACE}%`;
  }
  return `${withDecimals(value, decimals ?? decimalsFor(value))}${SPACE}%`;
}

/** Write a tick of a percentage axis, where padding zeros only take room. */
function percentTick(probability) {
  return `${plain(Number((probability * 100).toPrecision(6)))}${SPACE}%`;
}

/** Write an interval with the decimals its width calls for. */
function percentRange(low, high, decimals = null) {
  if (!isNumber(low) || !isNumber(high)) return ABSENT;
  const shared = decimals ?? Math.max(1, decimalsFor((high - low) * 100) - 1);
  return `${withDecimals(low * 100, shared)} to ${percent(high, shared)}`;
}

/** Return the decimals of a column of percentages, so that its numbers line up. */
function columnDecimals(probabilities) {
  const sizes = probabilities.filter((p) => isNumber(p) && p > 0).sort((a, b) => a - b);
  if (sizes.length === 0) return 2;
  const median = sizes[Math.floor(sizes.length / 2)] * 100;
  return clamp(Math.ceil(-Math.log10(median)) + 2, 2, 6);
}

function oneIn(probability) {
  return `1 in ${plain(Math.round(1 / probability))}`;
}

function day(timestamp) {
  const date = new Date(timestamp);
  if (typeof timestamp !== "string" || Number.isNaN(date.getTime())) return null;
  const parts = { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" };
  return new Intl.DateTimeFormat("en-GB", parts).format(date);
}
