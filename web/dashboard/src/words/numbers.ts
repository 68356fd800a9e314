/** How numbers are written, the same on every page. */

export const ABSENT = '–';
const SPACE = '\u00a0';
const formats = new Map<number, Intl.NumberFormat>();

function withDecimals(value: number, decimals: number): string {
  let format = formats.get(decimals);
  if (!format) {
    const options = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    format = new Intl.NumberFormat('en-GB', options);
    formats.set(decimals, format);
  }
  const text = format.format(value).replace('-', '−');
  return /[1-9]/.test(text) ? text : text.replace('−', '');
}

/** Returns the decimals at which a number shows three significant digits. */
function decimalsFor(value: number): number {
  if (value === 0) return 0;
  return Math.min(Math.max(2 - Math.floor(Math.log10(Math.abs(value))), 0), 7);
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

export function count(value: number | null | undefined): string {
  return isNumber(value) ? withDecimals(value, 0) : ABSENT;
}

export function plural(value: number, one: string, many: string): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Writes a number with three significant digits and no padding zeros. */
export function plain(value: number | null | undefined): string {
  if (!isNumber(value)) return ABSENT;
  if (value !== 0 && Math.abs(value) < 1.005e-4) return scientific(value);
  if (Number.isInteger(value)) return count(value);
  const text = withDecimals(value, decimalsFor(value));
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function scientific(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential(2).split('e');
  const mantissa = digits.replace(/\.?0+$/, '').replace('-', '−');
  const power = `10${superscript(Number(exponent))}`;
  return mantissa === '1' ? power : `${mantissa}${SPACE}×${SPACE}${power}`;
}

function superscript(exponent: number): string {
  return Array.from(String(exponent), (sign) =>
    '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'.charAt('-0123456789'.indexOf(sign)),
  ).join('');
}

/** Writes a probability as a percentage with three significant digits, or with given decimals. */
export function percent(probability: number | null | undefined, decimals?: number): string {
  if (!isNumber(probability)) return ABSENT;
  const value = probability * 100;
  return `${withDecimals(value, decimals ?? decimalsFor(value))}${SPACE}%`;
}

/** Writes an interval with the decimals that its width calls for. */
export function percentRange(low: number | null, high: number | null): string {
  if (!isNumber(low) || !isNumber(high)) return ABSENT;
  const decimals = Math.max(1, decimalsFor((high - low) * 100) - 1);
  return `${withDecimals(low * 100, decimals)} to ${percent(high, decimals)}`;
}

/** Writes an estimate with its standard error: 1.23 ± 0.04 %. */
export function percentWithError(probability: number | null, error: number | null): string {
  if (!isNumber(probability)) return ABSENT;
  if (!isNumber(error)) return percent(probability);
  const decimals = Math.max(1, decimalsFor(error * 100) - 1);
  return `${withDecimals(probability * 100, decimals)} ± ${percent(error, decimals)}`;
}

/** Writes a difference of shares in percentage points. */
export function points(difference: number | null): string {
  if (!isNumber(difference)) return ABSENT;
  const value = difference * 100;
  return `${value > 0 ? '+' : ''}${withDecimals(value, decimalsFor(value))}`;
}

export function pointsRange(low: number | null, high: number | null): string {
  return isNumber(low) && isNumber(high) ? `${points(low)} to ${points(high)}` : ABSENT;
}

/** Returns a number that a certificate writes as a decimal or a fraction. */
export function numberOf(exact: string | null): number {
  const [over = 'NaN', under = '1'] = (exact ?? '').split('/');
  return over === '' ? Number.NaN : Number(over) / Number(under);
}

/** Writes a moment to the minute, in UTC as the service has it. */
export function moment(timestamp: string | null | undefined): string {
  const date = new Date(timestamp ?? '');
  if (!timestamp || Number.isNaN(date.getTime())) return ABSENT;
  return new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  }).format(date);
}

export function day(timestamp: string): string {
  return moment(timestamp).replace(/, .*/, '');
}
