// Charts: scales of their axes, the frame of a chart on two axes, and reading its points by pointer
// or by arrow keys. A scale maps its domain to 0..1; `ticks` are its labels.

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

const MARGIN = { top: 14, right: 20, bottom: 46, left: 74 };
const DENSE = 250;
const LETTER_WIDTH = 7;

/** Draw whenever the host's width changes; return the function that draws now. */
function startPlane(host, draw) {
  let width = 0;
  const redraw = () => {
    if (width > 0) draw(host, width);
  };
  new ResizeObserver(() => {
    const now = Math.floor(host.clientWidth);
    if (now === width) return;
    width = now;
    redraw();
  }).observe(host);
  return redraw;
}

/** Return an empty chart: its root element, a layer for marks, and places in pixels. */
function planeFrame({ width, x, y, label }) {
  const height = Math.round(clamp(width * 0.62, 260, 400));
  const inner = { width: width - MARGIN.left - MARGIN.right,
    height: height - MARGIN.top - MARGIN.bottom };
  const atX = (value) => clamp(x.scale.place(value), 0, 1) * inner.width;
  const atY = (value) => (1 - clamp(y.scale.place(value), 0, 1)) * inner.height;
  const layer = svg("g", { transform: `translate(${MARGIN.left} ${MARGIN.top})` });
  layer.append(...gridAcross(y, atY, inner), ...gridUp(x, atX, inner));
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "plane-root",
    role: "img", tabindex: 0, "aria-label": `${label} Arrow keys read the points.` }, layer);
  return { root, layer, inner, atX, atY };
}

function gridAcross({ scale, tick, title }, atY, inner) {
  const lines = scale.ticks.flatMap((value) => [
    svg("line", { class: "grid", x2: inner.width, y1: atY(value), y2: atY(value) }),
    svg("text", { class: "tick-text", x: -8, y: atY(value), dy: "0.32em", "text-anchor": "end" },
      tick(value)),
  ]);
  const name = svg("text", { class: "axis-text", transform: "rotate(-90)", x: -inner.height / 2,
    y: -MARGIN.left + 13, "text-anchor": "middle" }, title);
  return [...lines, name];
}

function gridUp({ scale, tick, title }, atX, inner) {
  let free = -Infinity;
  const lines = scale.ticks.flatMap((value) => {
    const [x, name] = [atX(value), tick(value)];
    const line = svg("line", { class: "grid", x1: x, x2: x, y2: inner.height });
    const half = name.length * LETTER_WIDTH / 2;
    if (x - half < free) return [line];
    free = x + half + LETTER_WIDTH;
    return [line, svg("text", { class: "tick-text", x, y: inner.height + 17,
      "text-anchor": "middle" }, name)];
  });
  const name = svg("text", { class: "axis-text", x: inner.width / 2, y: inner.height + 38,
    "text-anchor": "middle" }, title);
  return [...lines, name];
}

/** Draw the same shape at many points, as one element; very many get dots instead. */
function pointsPath(kind, shape, points) {
  const isDense = points.length > DENSE && shape !== "diamond";
  const outline = relative(SHAPES[isDense ? "dot" : shape]);
  return svg("path", { class: kind,
    d: points.map(({ x, y }) => `M${x.toFixed(1)} ${y.toFixed(1)}${outline}`).join("") });
}

/** Turn a shape around the origin into one that starts from the pen's place. */
function relative(path) {
  const [, x, y, rest] = path.match(/^M(-?[\d.]+) (-?[\d.]+)(.*)$/);
  let pen = [Number(x), Number(y)];
  const moves = rest.replace(/([LHV])(-?[\d.]*) ?(-?[\d.]*)/g, (_, kind, a, b) => {
    const to = { L: [Number(a), Number(b)], H: [Number(a), pen[1]], V: [pen[0], Number(a)] }[kind];
    const step = [to[0] - pen[0], to[1] - pen[1]];
    pen = to;
    return `l${step[0]} ${step[1]}`;
  });
  return `m${x} ${y}${moves}`;
}

/** Let pointer and arrow keys read the points; `describe` returns a tooltip and a sentence. */
function attachReader({ root, layer }, points, describe) {
  if (points.length === 0) return;
  const ring = svg("circle", { class: "reader-ring", r: 8, visibility: "hidden" });
  layer.append(ring);
  let current = -1;
  const read = (index) => {
    current = index;
    moveRing(ring, points[index]);
    return describe(points[index]);
  };
  const stop = () => {
    ring.setAttribute("visibility", "hidden");
    hideTooltip();
  };
  const point = (event) => {
    const { lines } = read(nearest(points, placeOf(event, root)));
    showTooltip(lines, event.clientX, event.clientY);
  };
  root.addEventListener("pointermove", point);
  root.addEventListener("pointerdown", point);
  root.addEventListener("keydown", (event) => {
    const next = nextPoint(event.key, current, points.length);
    if (next === null) return;
    event.preventDefault();
    const { lines, sentence } = read(next);
    showTooltipAt(lines, ring);
    byId("spoken").textContent = sentence;
  });
  root.addEventListener("pointerleave", ({ pointerType }) => {
    if (pointerType !== "touch") stop();
  });
  root.addEventListener("blur", stop);
}

function moveRing(ring, { x, y }) {
  ring.setAttribute("cx", x);
  ring.setAttribute("cy", y);
  ring.setAttribute("visibility", "visible");
}

/** Return where a pointer is, in the pixels the marks were placed in. */
function placeOf(event, root) {
  const box = root.getBoundingClientRect();
  const scale = root.viewBox.baseVal.width / box.width;
  return { x: (event.clientX - box.left) * scale - MARGIN.left,
    y: (event.clientY - box.top) * scale - MARGIN.top };
}

function nextPoint(key, current, points) {
  const steps = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 };
  if (key === "Home") return 0;
  if (key === "End") return points - 1;
  return key in steps ? clamp(current + steps[key], 0, points - 1) : null;
}

function nearest(points, place) {
  let best = 0;
  let least = Infinity;
  points.forEach((point, index) => {
    // Height counts less: a reader moves along the ranks.
    const distance = (point.x - place.x) ** 2 + ((point.y - place.y) / 3) ** 2;
    if (distance < least) [best, least] = [index, distance];
  });
  return best;
}
