// Chart of the weight of the opt-in users in each estimate of a query or a record.

/** Start the chart of blend weights. */
function startWeights(report) {
  const weighed = (what) => report.listed[what].filter((row) => isNumber(row.opt_in_weight));
  if (weighed("queries").length + weighed("records").length === 0) return;
  byId("weights").hidden = false;
  if (weighed("queries").length === 0) {
    document.querySelector('input[name="weights-what"][value="records"]').checked = true;
  }
  const redraw = startPlane(byId("weights-plane"), (host, width) => {
    const what = chosen("weights-what");
    const rows = weighed(what);
    sayWeights(report, what, rows);
    dropIdleChoices("weights-rows", rows.length);
    const most = chosen("weights-rows");
    host.replaceChildren(drawWeights(most === "all" ? rows : rows.slice(0, Number(most)), width, what));
  });
  for (const name of ["weights-what", "weights-rows"]) onChoice(name, redraw);
  addSaving("weights", () => shownPlane("weights-plane"));
}

function sayWeights({ rows: all, listed }, what, rows) {
  byId("weights-title").textContent = weightsTitle(rows, NOUNS[what][1]);
  byId("weights-footnote").textContent = [outsideSentence(all[what]),
    weightlessSentence(listed[what].length - rows.length, what)].filter(Boolean).join(" ");
}

function weightlessSentence(weightless, what) {
  const [one, many] = NOUNS[what];
  return weightless === 0 ? null
    : `${plural(weightless, `${one} has`, `${many} have`)} no weight: only one group `
      + "estimates them.";
}

function drawWeights(rows, width, what) {
  const sizes = rows.map((row) => row.opt_in_weight);
  // Some room beyond 0 and 1 in any case, where the names of the two lines stand.
  const least = clamp(sizes.reduce((a, b) => Math.min(a, b), -0.14), WEIGHTS_DRAWN.least, 0);
  const most = clamp(sizes.reduce((a, b) => Math.max(a, b), 1.14), 1, WEIGHTS_DRAWN.most);
  const frame = planeFrame({ width,
    x: { scale: rankScale(rows, width), tick: count, title: `Rank of the ${NOUNS[what][0]}` },
    y: { scale: linearScale(least, most, 6), tick: plain, title: "Opt-in weight" },
    label: byId("weights-title").textContent + "." });
  drawReferences(frame);
  const points = rows.map((row) => (
    { x: frame.atX(row.rank), y: frame.atY(row.opt_in_weight), row }));
  const beyond = ({ row }) => row.opt_in_weight > WEIGHTS_DRAWN.most || row.opt_in_weight < WEIGHTS_DRAWN.least;
  const outside = points.filter((point) => isOutside(point.row) && !beyond(point));
  frame.layer.append(
    pointsPath("weight-points", "circle", points.filter(({ row }) => !isOutside(row))),
    pointsPath("weight-outside", "diamond", outside),
    svg("path", { class: "weight-beyond", d: points.filter(beyond).map(arrow).join("") }));
  attachReader(frame, points, describeWeight);
  return frame.root;
}

function rankScale(rows, width) {
  const last = rows.reduce((most, row) => Math.max(most, row.rank), 2);
  const round = linearScale(0, last, width < 480 ? 4 : 8);
  // A half rank of room on both sides; no label at rank 0, which there is not.
  const [from, to] = [0.5, last + 0.5];
  const ticks = [1, ...round.ticks.filter((tick) => tick > last / 20 && tick <= last
    && Number.isInteger(tick))];
  return { from, to, ticks, place: (value) => (value - from) / (to - from) };
}

function drawReferences({ layer, inner, atY }) {
  layer.append(svg("rect", { class: "weight-range", width: inner.width, y: atY(1),
    height: atY(0) - atY(1) }));
  for (const [value, name, dy] of [[1, "only opt-in users", -7], [0, "only clients", 16]]) {
    layer.append(
      svg("line", { class: "reference", x2: inner.width, y1: atY(value), y2: atY(value) }),
      svg("text", { class: "reference-text", x: inner.width - 6, y: atY(value) + dy,
        "text-anchor": "end" }, name));
  }
}

/** Point beyond the edge of the axis at which a far weight is drawn. */
function arrow({ x, y, row }) {
  const up = row.opt_in_weight > 0 ? 1 : -1;
  return `M${x - 4.5} ${y + 9 * up}l4.5 ${-8 * up}l4.5 ${8 * up}z`;
}

function describeWeight({ row }) {
  const lines = [
    [null, "Opt-in weight", plain(row.opt_in_weight) + (isOutside(row) ? ", outside 0 to 1" : "")],
    [markOf("opt-in", "diamond"), OPT_IN.name, percent(row.opt_in_probability)],
    [markOf("clients", "triangle"), "Clients", percent(row.client_probability)],
    ...(isNumber(row.relay_probability)
      ? [[null, "Relay clients", percent(row.relay_probability)]] : []),
    [markOf("blend", "circle"), BLEND.name, percent(row.probability)],
  ];
  return { lines: [html("p", { class: "tooltip-title" }, `${count(row.rank)}. `, rowName(row)),
    tooltipLines(lines)],
  sentence: `${capitalised(NOUNS[row.cell === "query" ? "queries" : "records"][0])} of rank ${count(row.rank)}: opt-in weight ${plain(row.opt_in_weight)}` };
}
