// Ranking of queries: each with the places it may truly have, in groups that cannot be told apart.

function startTrendRanking(trends) {
  if (trends.ranking.length === 0) return;
  byId("ranking").hidden = false;
  const redraw = () => drawTrendRanking(trends);
  for (const name of ["ranking-rows", "ranking-axis"]) onChoice(name, redraw);
  startRows(byId("ranking-rows"), (item) => placeTooltipText(trends,
    trends.ranking[Number(item.dataset.index)]));
  redraw();
}

function drawTrendRanking(trends) {
  const all = trends.ranking;
  dropIdleChoices("ranking-rows", all.length);
  const most = chosen("ranking-rows");
  const rows = most === "all" ? all : all.slice(0, Number(most));
  const scale = placeScale(rows);
  sayRankingTitle(trends, rows.length);
  drawAxis(byId("ranking-axis"), scale, percentTick);
  const items = rows.flatMap((row, index) => {
    const isFirst = index === 0 || row.group !== rows[index - 1].group;
    return [isFirst ? groupHead(trends, row) : null, placeRow(row, index, scale)];
  });
  byId("ranking-rows").replaceChildren(...items.filter(Boolean));
  byId("ranking-rows").querySelector(".ranking-row").tabIndex = 0;
}

function placeScale(rows) {
  const most = rows.flatMap((row) => [row.probability, row.high]).filter(isNumber)
    .reduce((a, b) => Math.max(a, b), 0) || 0.01;
  if (chosen("ranking-axis") === "log") {
    return logScale(logStart(rows.map((row) => row.probability)) / 2, most);
  }
  return linearScale(0, most * 1.02);
}

function sayRankingTitle(trends, shown) {
  const sure = trends.ranking.filter((row) => row.best_rank === row.worst_rank).length;
  byId("ranking-title").textContent = sure === 0 ? "No place is certain"
    : `${plural(sure, "place is", "places are")} certain; the others may be exchanged`;
  byId("ranking-caption").textContent = `Each ${NOUNS.queries[0]} with its share, the interval of the share, and `
    + `in parentheses the places it may truly have. Showing ${count(shown)} of `
    + `${plural(trends.ranking.length, ...NOUNS.queries)}.`;
}

function groupHead(trends, row) {
  if (row.group === null) return html("li", { class: "group-head" }, "No interval, no place");
  const members = trends.ranking.filter(({ group }) => group === row.group);
  const [first, last] = [members[0].rank, members.at(-1).rank];
  const text = members.length === 1 ? `Place ${count(first)}`
    : `Places ${count(first)} to ${count(last)} cannot be told apart`;
  return html("li", { class: "group-head" }, text);
}

function placesOf({ best_rank: best, worst_rank: worst }) {
  return best === worst ? `${count(best)}` : `${count(best)}–${count(worst)}`;
}

function placeRow(row, index, scale) {
  const interval = given(row);
  const spoken = `: ${percent(row.probability)}, true place ${placesOf(row)}`;
  return html("li", { class: "ranking-row", "data-index": index, tabindex: -1 },
    html("span", { class: "rank", "aria-hidden": "true" },
      html("b", {}, row.rank === null ? ABSENT : count(row.rank)),
      html("span", { class: "rank-range" }, `(${placesOf(row)})`)),
    html("span", { class: "ranking-name clip" }, typed(row.query)),
    html("span", { class: "visually-hidden" }, spoken),
    html("span", { class: "ranking-value", "aria-hidden": "true" }, percent(row.probability)),
    trackOf(scale, "blend", row.probability, interval));
}

function placeTooltipText(trends, row) {
  const lines = [
    [markOf("blend", "circle"), "Share", percent(row.probability)],
    [null, `${plain(trends.confidence * 100)}${SPACE}% interval`, percentRange(row.low, row.high)],
    [null, "True place", placesOf(row)],
  ];
  return [html("p", { class: "tooltip-title" }, typed(row.query)), tooltipLines(lines)];
}
