// Curve of one predicted measure, with the range of nine collections in ten.

const MEASURE_NAMES = { queries: "Queries on the list", records: "Records on the list",
  ndcg: "NDCG", query_l1: "L1 of the queries", record_l1: "L1 of the records",
  query_interval: "Width of a query's interval", record_interval: "Width of a record's interval" };
const KNOBS = { opt_in: { title: "Share of the users who opt in", tick: percentTick },
  epsilon: { title: "ε", tick: plain } };

/** Return a measure as text. */
function measured(name, value) {
  if (!isNumber(value)) return "none";
  if (name === "queries" || name === "records") return count(Math.round(value));
  return plain(Number(value.toPrecision(value < 0.01 ? 2 : 4)));
}

/** Start the chart along the knob; nothing is shown of a plan without one. */
function startPlanCurve({ curve }) {
  if (curve.points.length < 2) return;
  byId("curve").hidden = false;
  const redraw = startPlane(byId("curve-plane"), (host, width) => {
    host.replaceChildren(drawPlanCurve(curve, chosen("measure"), width));
  });
  onChoice("measure", redraw);
  byId("curve-title").textContent = curve.of === "epsilon"
    ? "What another ε would change" : "What more opt-in users would change";
}

function drawPlanCurve({ of, points }, name, width) {
  const rows = points.map((point) => ({ at: point[of], ...point.measures[name] }))
    .filter((row) => isNumber(row.mean));
  const top = rows.reduce((most, row) => Math.max(most, row.high), 0) || 1;
  const floor = name === "ndcg" ? Math.min(0.9, ...rows.map((row) => row.low)) : 0;
  const frame = planeFrame({ width,
    x: { scale: logScale(rows[0].at, rows.at(-1).at), ...KNOBS[of] },
    y: { scale: linearScale(floor, name === "ndcg" ? 1 : top), title: MEASURE_NAMES[name],
      tick: (value) => plain(Number(value.toPrecision(6))) },
    label: `${MEASURE_NAMES[name]}.` });
  const marks = rows.map((row) => ({ x: frame.atX(row.at), y: frame.atY(row.mean), row }));
  const place = (key) => ({ x, row }) => `${x.toFixed(1)} ${frame.atY(row[key]).toFixed(1)}`;
  const outline = [...marks.map(place("high")), ...marks.map(place("low")).reverse()].join("L");
  frame.layer.append(svg("g", { class: "series-queries" },
    svg("path", { class: "band", d: `M${outline}z` }), pointsPath("curve-points", "circle", marks)));
  attachReader(frame, marks, ({ row }) => describePoint(row, of, name));
  return frame.root;
}

function describePoint(row, of, name) {
  const at = `${KNOBS[of].title}: ${KNOBS[of].tick(row.at)}`;
  const lines = [[null, MEASURE_NAMES[name], measured(name, row.mean)],
    [null, "Nine of ten", `${measured(name, row.low)} to ${measured(name, row.high)}`]];
  return { lines: [html("p", { class: "tooltip-title" }, at), tooltipLines(lines)],
    sentence: `${at}, ${MEASURE_NAMES[name]}: ${measured(name, row.mean)}` };
}
