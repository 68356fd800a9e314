// From numbers to places on an axis. A scale maps its domain to 0..1; `ticks` are its labels.

/** Return a step of 1, 2 or 5 times a power of ten that gives about this many ticks. */
function roundStep(span, ticks) {
  const rough = span / ticks;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= rough * 0.999);
  return factor * power;
}

/** Return a linear scale from the least to the most value, with round ticks inside. */
function linearScale(least, most, ticks = 7) {
  const span = most - least;
  const step = roundStep(span, ticks);
  const first = Math.ceil(least / step - 1e-9);
  const last = Math.floor(most / step + 1e-9);
  const marks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  return { from: least, to: most, ticks: marks, place: (value) => (value - least) / span };
}

/** Return a logarithmic scale over positive values; what lies below is placed at its start. */
function logScale(least, most) {
  const from = 10 ** Math.floor(Math.log10(least) + 1e-9);
  const to = most > from ? roundUp(most) : from * 10;
  const span = Math.log10(to / from);
  const place = (value) => (value <= from ? 0 : Math.log10(value / from) / span);
  return { from, to, ticks: logTicks(from, to), place };
}

/** Return the smallest 1, 2 or 5 times a power of ten that is not below the value. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
  return power * [1, 2, 5, 10].find((factor) => factor * power >= value * 0.999999);
}

function logTicks(from, to) {
  const factors = to / from > 500 ? [1] : [1, 2, 5];
  const marks = [];
  for (let power = from; power <= to * 1.000001; power *= 10) {
    marks.push(...factors.map((factor) => factor * power).filter((mark) => mark <= to * 1.000001));
  }
  return marks;
}

/** Return the start of a log axis: the least positive value, but at most five decades down. */
function logStart(values) {
  const positive = values.filter((value) => isNumber(value) && value > 0);
  if (positive.length === 0) return 1e-6;
  const most = positive.reduce((a, b) => Math.max(a, b));
  const least = positive.reduce((a, b) => Math.min(a, b));
  return Math.max(least, most / 1e5);
}
