// Ranking with error bars: the chosen rows, their axis, and the words around them.

/** Start the ranking of queries or records. */
function startRanking(report) {
  if (report.listed.queries.length === 0 && report.listed.records.length === 0) return;
  byId("ranking").hidden = false;
  const groups = groupsOf([...report.listed.queries, ...report.listed.records]);
  const shown = new Set(groups.map((group) => group.id));
  const view = { report, groups, shown, rows: [], scale: null };
  const redraw = () => drawRanking(view);
  drawLegend(byId("ranking-legend"), groups, shown, redraw);
  for (const name of ["ranking-what", "ranking-rows", "ranking-axis"]) onChoice(name, redraw);
  startRankingRows(view);
  addSaving("ranking", () => rankingChart(view));
  redraw();
}

function drawRanking(view) {
  const what = chosen("ranking-what");
  const all = view.report.listed[what];
  byId("ranking").dataset.what = what;
  dropIdleChoices("ranking-rows", all.length);
  const most = chosen("ranking-rows");
  view.rows = most === "all" ? all : all.slice(0, Number(most));
  view.isLog = chosen("ranking-axis") === "log";
  view.scale = rankingScale(view);
  sayRanking(view, what, all.length);
  drawRankingAxis(view);
  drawRankingRows(view);
}

/** Return the groups that are not hidden. */
function shownGroups({ groups, shown }) {
  return groups.filter(({ id }) => shown.has(id));
}

function rankingScale(view) {
  const { rows, isLog, report } = view;
  const values = [];
  for (const group of shownGroups(view)) {
    for (const row of rows) {
      values.push(group.value(row), ...(group.interval(row, report.quantile) ?? []));
    }
  }
  const numbers = values.filter(isNumber);
  const most = numbers.reduce((a, b) => Math.max(a, b), 0) || 0.01;
  const least = numbers.reduce((a, b) => Math.min(a, b), 0);
  const margin = (most - least) * 0.02;
  if (!isLog) return linearScale(least < 0 ? least - margin : 0, most + margin);
  return logScale(logStart(rows.map((row) => row.probability)) / 2, most);
}

function sayRanking({ rows, report, groups, isLog }, what, all) {
  const title = byId("ranking-title");
  const [first] = rows;
  title.replaceChildren();
  if (first) {
    title.append(...rowName(first),
      ` comes first, with ${percent(first.probability)} of ${NOUNS.all}`);
  } else {
    title.append(`No ${NOUNS[what][1]} on the list`);
  }
  byId("ranking-caption").textContent = `Each row has ${NUMBERS[groups.length]} estimates with their `
    + `${report.level} intervals: ${sourcesOf(groups)} and blended. Each interval holds by itself, not all of them at once: of 100 intervals about `
    + `${missedOf100(report.level)} miss the true share. `
    + `Showing ${count(rows.length)} of ${plural(all, ...NOUNS[what])}.`;
  byId("ranking-axis-title").textContent = `Share of ${NOUNS.all}${isLog ? ", log scale" : ""}`;
  byId("ranking-footnote").textContent = [rankingFootnote(isLog),
    blendOutsideSentence(rows, presetOf(report.release.preset),
      report.listed.records.length > 0)].filter(Boolean).join(" ");
}

const NUMBERS = ["no", "one", "two", "three", "four"];
const SOURCES = {
  "opt-in": "from opt-in users alone",
  relay: "from relay clients alone (people whose reports a relay shuffles)",
  clients: "from clients alone (people who send private reports)",
};

/** Return in words what the groups' own estimates are made from. */
function sourcesOf(groups) {
  return groups.filter(({ id }) => id in SOURCES).map(({ id }) => `${SOURCES[id]},`).join(" ");
}

function missedOf100(level) {
  return plain(100 - Number.parseFloat(level));
}

function rankingFootnote(isLog) {
  const hollow = "A hollow mark has no interval. The table also has everything that is not on the list.";
  if (!isLog) return `${hollow} Estimates below zero are noise: the true share is zero or more.`;
  return `${hollow} A log axis has no zero: an arrow at the left edge stands for an estimate at or `
    + "below the start of the axis, and intervals are cut there.";
}

function drawRankingAxis({ scale }) {
  const ticks = scale.ticks.map((tick) => {
    const label = html("span", { class: "tick" }, percentTick(tick));
    label.style.left = `${scale.place(tick) * 100}%`;
    return label;
  });
  byId("ranking-axis").replaceChildren(html("div", { class: "ranking-ticks" }, ticks));
}
