// Chart of probability by rank on two log axes, where a power law is a straight line.

const CURVES = [
  { id: "queries", shape: "circle" },
  { id: "records", shape: "square" },
];
const POINTS_A_CURVE = 400;

/** Start the chart of probability by rank. */
function startRankCurve(report) {
  const curves = CURVES.filter(({ id }) => report.listed[id].length > 0)
    .map((curve) => ({ ...curve, one: NOUNS[curve.id][0], name: capitalised(NOUNS[curve.id][1]) }));
  if (curves.length === 0) return;
  byId("shape").hidden = false;
  sayRankCurve(report);
  const shown = new Set(curves.map(({ id }) => id));
  const redraw = startPlane(byId("shape-plane"), (host, width) => {
    host.replaceChildren(drawRankCurve(report, curves.filter(({ id }) => shown.has(id)), width));
  });
  drawLegend(byId("shape-legend"), curves, shown, redraw);
  addSaving("shape", () => shownPlane("shape-plane"));
}

function sayRankCurve({ listed, level }) {
  const what = listed.queries.length > 0 ? "queries" : "records";
  const top = Math.min(10, Math.ceil(listed[what].length / 2));
  const share = total(listed[what].slice(0, top)) / total(listed[what]);
  const [one, many] = NOUNS[what];
  const first = top === 1 ? `first ${one} holds` : `first ${top} ${many} hold`;
  byId("shape-title").textContent = listed[what].length === 1 || !isNumber(share)
    ? "How popularity falls with rank"
    : `The ${first} ${percent(share)} of what the list covers`;
  byId("shape-caption").textContent = `Probability of each rank with its ${level} interval, both `
    + "axes logarithmic: a power law is a straight line here.";
  const zero = [...listed.queries, ...listed.records].filter((row) => row.probability <= 0).length;
  byId("shape-footnote").textContent = zero === 0 ? ""
    : `${plural(zero, "estimate is", "estimates are")} zero or less and cannot stand on a `
      + "log axis.";
}

function drawRankCurve({ listed, level }, curves, width) {
  const rows = curves.flatMap(({ id }) => listed[id]);
  const probabilities = rows.map((row) => row.probability);
  const most = rows.reduce((top, row) => Math.max(top, row.probability, row.high ?? 0), 1e-6);
  const ranks = rows.reduce((last, row) => Math.max(last, row.rank), 2);
  const frame = planeFrame({ width,
    x: { scale: logScale(1, ranks), tick: count, title: "Rank" },
    y: { scale: logScale(logStart(probabilities), most), tick: percentTick,
      title: `Share of ${NOUNS.all}` },
    label: byId("shape-title").textContent + "." });
  const points = curves.flatMap((curve) => drawCurve(frame, curve, thinned(listed[curve.id])));
  attachReader(frame, points, ({ row, curve }) => describeRank(row, curve, level));
  return frame.root;
}

/** Keep every early rank and evenly spaced later ones, as the log axis shows them. */
function thinned(rows) {
  const positive = rows.filter((row) => row.probability > 0);
  if (positive.length <= POINTS_A_CURVE) return positive;
  const kept = new Set();
  for (let step = 0; step < POINTS_A_CURVE; step += 1) {
    kept.add(Math.round(positive.length ** (step / (POINTS_A_CURVE - 1))) - 1);
  }
  return [...kept].map((index) => positive[index]);
}

function drawCurve({ layer, atX, atY }, curve, rows) {
  const points = rows.map((row) => (
    { x: atX(row.rank), y: atY(row.probability), row, curve }));
  const withBand = points.filter(({ row }) => given(row));
  const upper = withBand.map(({ x, row }) => `${x.toFixed(1)} ${atY(row.high).toFixed(1)}`);
  const lower = withBand.map(({ x, row }) => `${x.toFixed(1)} ${atY(row.low).toFixed(1)}`);
  const group = svg("g", { class: `series-${curve.id}` });
  if (upper.length > 1) {
    const outline = [...upper, ...lower.reverse()].join("L");
    group.append(svg("path", { class: "band", d: `M${outline}z` }));
  }
  group.append(pointsPath("curve-points", curve.shape, points));
  layer.append(group);
  return points;
}

function describeRank(row, curve, level) {
  const mark = markOf(curve.id, curve.shape);
  const lines = [[mark, `Rank ${count(row.rank)}`, percent(row.probability)]];
  if (given(row)) lines.push([null, `${level} interval`, percentRange(row.low, row.high)]);
  return { lines: [html("p", { class: "tooltip-title" }, rowName(row)), tooltipLines(lines)],
    sentence: `${curve.one} of rank ${count(row.rank)}: ${percent(row.probability)}` };
}
