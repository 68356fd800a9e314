// Curve of one predicted measure, with the range of nine collections in ten, with and without a relay.

const MEASURE_NAMES = { queries: "Queries on the list", records: "Records on the list",
  ndcg: "NDCG", query_l1: "L1 of the queries", record_l1: "L1 of the records",
  query_interval: "Width of a query's interval", record_interval: "Width of a record's interval" };
const KNOBS = {
  opt_in: { title: "Share of the users who opt in", tick: percentTick, scale: logScale,
    heading: "What more opt-in users would change" },
  epsilon: { title: "ε", tick: plain, scale: logScale, heading: "What another ε would change" },
  relay: { title: "Share of the clients who use a relay", tick: percentTick, scale: linearScale,
    heading: "What a relay would change" },
};
const WITH_RELAY = { id: "relay", name: "With a relay", shape: "square" };
const WITHOUT_RELAY = { id: "clients", name: "Without a relay", shape: "triangle" };
const PLANNED = { id: "queries", name: "", shape: "circle" };

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
  if (curve.of === "relay") document.querySelector('input[value="query_l1"]').checked = true;
  const series = planSeries(curve);
  const shown = new Set(series.map(({ id }) => id));
  const redraw = startPlane(byId("curve-plane"), (host, width) => {
    const drawn = series.filter(({ id }) => shown.has(id));
    host.replaceChildren(drawPlanCurve(curve, drawn, chosen("measure"), width));
  });
  onChoice("measure", redraw);
  if (series.length > 1) drawLegend(byId("curve-legend"), series, shown, redraw);
  byId("curve-title").textContent = KNOBS[curve.of].heading;
}

/** Return what is drawn: the plan, and the same users without a relay if that is another thing. */
function planSeries({ of, points, without_relay: without = [] }) {
  if (without.length === 0) return [{ ...PLANNED, points }];
  // Along the relay share the plan without one is the same everywhere.
  const level = points.map((point) => ({ ...without[0], [of]: point[of] }));
  return [{ ...WITH_RELAY, points },
    { ...WITHOUT_RELAY, points: of === "relay" ? level : without }];
}

function drawPlanCurve({ of, points }, series, name, width) {
  const rowsOf = (one) => one.points.map((point) => ({ at: point[of], ...point.measures[name] }))
    .filter((row) => isNumber(row.mean));
  const rows = series.flatMap(rowsOf);
  const top = rows.reduce((most, row) => Math.max(most, row.high), 0) || 1;
  const floor = name === "ndcg" ? Math.min(0.9, ...rows.map((row) => row.low)) : 0;
  const { scale, title, tick } = KNOBS[of];
  const frame = planeFrame({ width,
    x: { scale: scale(points[0][of], points.at(-1)[of]), title, tick },
    y: { scale: linearScale(floor, name === "ndcg" ? 1 : top), title: MEASURE_NAMES[name],
      tick: (value) => plain(Number(value.toPrecision(6))) },
    label: `${MEASURE_NAMES[name]}.` });
  const marks = series.flatMap((one) => drawSeries(frame, one, rowsOf(one)));
  attachReader(frame, marks, ({ row, one }) => describePoint(row, one, of, name));
  return frame.root;
}

function drawSeries({ layer, atX, atY }, one, rows) {
  const marks = rows.map((row) => ({ x: atX(row.at), y: atY(row.mean), row, one }));
  const place = (key) => ({ x, row }) => `${x.toFixed(1)} ${atY(row[key]).toFixed(1)}`;
  const outline = [...marks.map(place("high")), ...marks.map(place("low")).reverse()].join("L");
  layer.append(svg("g", { class: `series-${one.id}` },
    svg("path", { class: "band", d: `M${outline}z` }),
    pointsPath("curve-points", one.shape, marks)));
  return marks;
}

function describePoint(row, one, of, name) {
  const at = `${KNOBS[of].title}: ${KNOBS[of].tick(row.at)}`;
  const lines = [[one.name ? markOf(one.id, one.shape) : null, one.name || MEASURE_NAMES[name],
    measured(name, row.mean)],
  [null, "Nine of ten", `${measured(name, row.low)} to ${measured(name, row.high)}`]];
  const whose = one.name ? `${one.name}: ` : "";
  return { lines: [html("p", { class: "tooltip-title" }, at), tooltipLines(lines)],
    sentence: `${whose}${at}, ${MEASURE_NAMES[name]}: ${measured(name, row.mean)}` };
}
