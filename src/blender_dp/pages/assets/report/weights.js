// Chart of the weights of the groups in each estimate of a query or a record.

/** Start the chart of blend weights. */
function startWeights(report) {
  const weighed = (what) => report.listed[what].filter((row) => isNumber(row.opt_in_weight));
  if (weighed("queries").length + weighed("records").length === 0) return;
  byId("weights").hidden = false;
  if (weighed("queries").length === 0) {
    document.querySelector('input[name="weights-what"][value="records"]').checked = true;
  }
  const drawn = weightSeries([...weighed("queries"), ...weighed("records")]);
  const shown = new Set(drawn.map(({ id }) => id));
  const redraw = startPlane(byId("weights-plane"), (host, width) => {
    const what = chosen("weights-what");
    const rows = weighed(what);
    sayWeights(report, what, rows);
    dropIdleChoices("weights-rows", rows.length);
    const most = chosen("weights-rows");
    const series = drawn.filter(({ id }) => shown.has(id));
    host.replaceChildren(
      drawWeights(most === "all" ? rows : rows.slice(0, Number(most)), series, width, what));
  });
  byId("weights-caption").textContent = weightsCaption(drawn);
  if (drawn.length > 1) drawLegend(byId("weights-legend"), drawn, shown, redraw);
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

function drawWeights(rows, series, width, what) {
  const isAlone = !hasRelay(rows);
  const sizes = rows.map((row) => row.opt_in_weight);
  // Some room beyond 0 and 1 in any case, where the names of the two lines stand.
  const least = clamp(sizes.reduce((a, b) => Math.min(a, b), -0.14), WEIGHTS_DRAWN.least, 0);
  const most = clamp(sizes.reduce((a, b) => Math.max(a, b), 1.14), 1, WEIGHTS_DRAWN.most);
  const frame = planeFrame({ width,
    x: { scale: rankScale(rows, width), tick: count, title: `Rank of the ${NOUNS[what][0]}` },
    y: { scale: linearScale(least, most, 6), tick: plain, title: isAlone ? "Opt-in weight" : "Weight" },
    label: byId("weights-title").textContent + "." });
  drawReferences(frame, isAlone ? ["only opt-in users", "only clients"] : ["only this group", "without it"]);
  const all = series.flatMap((group) => rows.filter((row) => isNumber(group.weight(row))).map((row) => (
    { x: frame.atX(row.rank), y: frame.atY(group.weight(row)), row, group })));
  for (const group of series.filter(({ id }) => id !== "opt-in")) {
    frame.layer.append(svg("g", { class: `series-${group.id}` },
      pointsPath("curve-points", group.shape, all.filter((point) => point.group === group))));
  }
  const points = all.filter(({ group }) => group.id === "opt-in");
  const beyond = ({ row }) => row.opt_in_weight > WEIGHTS_DRAWN.most || row.opt_in_weight < WEIGHTS_DRAWN.least;
  const outside = points.filter((point) => isOutside(point.row) && !beyond(point));
  frame.layer.append(
    pointsPath("weight-points", "circle", points.filter(({ row }) => !isOutside(row))),
    pointsPath("weight-outside", "diamond", outside),
    svg("path", { class: "weight-beyond", d: points.filter(beyond).map(arrow).join("") }));
  attachReader(frame, all, describeWeight);
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

function drawReferences({ layer, inner, atY }, [most, least]) {
  layer.append(svg("rect", { class: "weight-range", width: inner.width, y: atY(1),
    height: atY(0) - atY(1) }));
  for (const [value, name, dy] of [[1, most, -7], [0, least, 16]]) {
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

function describeWeight({ row, group }) {
  const name = group.id === "opt-in" ? "Opt-in weight" : `Weight of the ${group.name.toLowerCase()}`;
  const outside = group.id === "opt-in" && isOutside(row) ? ", outside 0 to 1" : "";
  const lines = [
    [null, name, plain(Number(group.weight(row).toPrecision(4))) + outside],
    ...[OPT_IN, ...(hasRelay([row]) ? [RELAY] : []), CLIENTS, BLEND].map((one) => (
      [markOf(one.id, one.shape), one.name, percent(one.value(row))])),
  ];
  return { lines: [html("p", { class: "tooltip-title" }, `${count(row.rank)}. `, rowName(row)),
    tooltipLines(lines)],
  sentence: `${capitalised(NOUNS[row.cell === "query" ? "queries" : "records"][0])} of rank ${count(row.rank)}: ${name.toLowerCase()} ${lines[0][2]}` };
}
