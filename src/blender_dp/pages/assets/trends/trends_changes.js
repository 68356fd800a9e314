// Queries that rose or fell, those without a clear change, and those on one of the lists only.

function startChanges(trends) {
  const changes = trends.changes;
  if (changes === null || changes.length === 0) return;
  byId("changes").hidden = false;
  const verdicts = changes.filter(({ verdict }) => verdict !== null);
  const unclear = changes.filter(({ verdict, difference }) => verdict === null
    && difference !== null);
  const measured = verdicts.filter(({ difference }) => difference !== null);
  const scale = changeScale([...measured, ...unclear]);
  byId("changes-title").textContent = changesTitle(changes);
  byId("changes-caption").textContent = changesCaption(trends);
  drawAxis(byId("changes-axis"), scale, pointsTick);
  byId("changes-axis").hidden = measured.length === 0;
  drawChanges(byId("changes-rows"), trends, measured, scale);
  byId("unclear").hidden = unclear.length === 0;
  byId("unclear-title").textContent = `${plural(unclear.length, ...NOUNS.queries)} without a `
    + "clear change";
  drawChanges(byId("unclear-rows"), trends, unclear, scale);
  drawNames("new", changes.filter(({ listing }) => listing === "new on the list"), "after");
  drawNames("left", changes.filter(({ listing }) => listing === "left the list"), "before");
}

function changeScale(rows) {
  const ends = rows.flatMap(({ low, high }) => [low, high]).filter(isNumber);
  const most = ends.reduce((a, b) => Math.max(a, b), 0);
  const least = ends.reduce((a, b) => Math.min(a, b), 0);
  const margin = (most - least) * 0.03 || 0.001;
  return linearScale(least - margin, most + margin, 10);
}

function drawChanges(list, trends, rows, scale) {
  list.replaceChildren(...rows.map((row, index) => changeRow(row, index, scale)));
  const [first] = list.querySelectorAll(".ranking-row");
  if (first) first.tabIndex = 0;
  startRows(list, (item) => changeTooltip(trends, rows[Number(item.dataset.index)]));
}

function changeRow(row, index, scale) {
  const series = row.verdict ?? "unclear";
  const value = `${points(row.difference)} points`;
  return html("li", { class: "ranking-row", "data-index": index, tabindex: -1 },
    html("span", { class: `rank verdict verdict-${series}` },
      html("span", { "aria-hidden": "true" }, SIGNS[row.verdict] ?? ""),
      html("span", { class: "verdict-name" }, row.verdict ?? "unclear")),
    html("span", { class: "ranking-name clip" }, typed(row.query)),
    html("span", { class: "visually-hidden" },
      `: from ${percent(row.before)} to ${percent(row.after)}`),
    html("span", { class: "ranking-value", "aria-hidden": "true" }, value),
    trackOf(scale, series, row.difference, given(row)));
}

function changeTooltip(trends, row) {
  const range = `${points(row.low)} to ${points(row.high)} points`;
  const lines = [
    [null, "Before", percent(row.before)], [null, "Now", percent(row.after)],
    [null, "Difference", `${points(row.difference)} points`],
    [null, `${plain(trends.confidence * 100)}${SPACE}% interval`, range],
    [null, "p-value", plain(row.p_value)],
  ];
  return [html("p", { class: "tooltip-title" }, typed(row.query)), tooltipLines(lines)];
}

function drawNames(id, rows, share) {
  byId(id).hidden = rows.length === 0;
  const where = { new: "new on the list", left: "left the list" }[id];
  byId(`${id}-title`).textContent = `${plural(rows.length, ...NOUNS.queries)} ${where}`;
  byId(`${id}-names`).replaceChildren(...rows.map((row) => html("li", {},
    row.verdict ? html("span", { class: `verdict verdict-${row.verdict}`,
      title: "More than an unlisted record can be" }, SIGNS[row.verdict]) : null,
    html("span", { class: "clip" }, typed(row.query)),
    html("span", { class: "share" }, percent(row[share])))));
}
