// Page of trends: reads the figures in the page and starts its parts.

function showTrendSummary(trends) {
  const { ranking, changes } = trends;
  const banner = html("p", { class: "banner banner-danger", role: "note" },
    "Experiment: made with a seed, not private, do not publish.");
  byId("banners").replaceChildren(...(trends.private ? [] : [banner]));
  byId("made").textContent = releasesCompared(trends);
  byId("lead").textContent = leadOf(trends);
  const verdict = (name) => changes.filter((change) => change.verdict === name).length;
  const groups = new Set(ranking.map(({ group }) => group).filter(isNumber)).size;
  const facts = [[capitalised(NOUNS.queries[1]), count(ranking.length)], ["Groups", count(groups)]];
  if (changes !== null) {
    facts.push(["Rose", count(verdict("rose"))], ["Fell", count(verdict("fell"))],
      ["New", count(changes.filter(({ listing }) => listing === "new on the list").length)],
      ["Left", count(changes.filter(({ listing }) => listing === "left the list").length)]);
  }
  byId("tiles").replaceChildren(...facts.map(([name, value]) => html("div", { class: "tile" },
    html("dt", {}, name), html("dd", {}, value))));
  byId("notes").replaceChildren(...notesOf(trends).map((note) => html("p", { class: "callout" },
    note)));
}

/** Name the releases by day and number of queries; by the minute if both are of one day. */
function releasesCompared({ created, earlier_created: earlier, earlier_queries: queries, ranking }) {
  const isOneDay = earlier && longDay(created) === longDay(earlier);
  const name = (time, size) => `release of ${isOneDay ? moment(time) : longDay(time)} `
    + `(${plural(size, ...NOUNS.queries)})`;
  const now = name(created, ranking.length);
  const words = earlier ? `${now} compared with the ${name(earlier, queries)}` : now;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function leadOf({ ranking, changes }) {
  if (ranking.length === 0) return `No ${NOUNS.queries[0]} is listed, so nothing can be ranked.`;
  const listed = `${plural(ranking.length, ...nounsWith("is", "are"))} on the list.`;
  if (changes === null) return `${listed} Give an earlier release to see what rose and fell.`;
  return `${listed} Only statistically significant changes are called a rise or a fall.`;
}

function notesOf({ ranking, changes }) {
  const spoilt = ranking.filter(({ rank }) => rank === null).length;
  const untested = (changes ?? []).filter((change) => change.p_value === null);
  const apart = untested.filter(({ listing }) => ["new on the list", "left the list"]
    .includes(listing)).length;
  const silent = untested.filter(({ listing }) => listing === "listed in both").length;
  const notes = [];
  if (spoilt > 0) {
    notes.push(`${plural(spoilt, ...nounsWith("has", "have"))} no interval, because a variance `
      + "estimate is negative (flaw F1), and so no place.");
  }
  if (silent > 0) {
    notes.push(`${plural(silent, ...NOUNS.queries)} on both lists could not be tested, because `
      + "one of the estimates has no interval.");
  }
  if (apart > 0) {
    notes.push(`${plural(apart, ...nounsWith("is", "are"))} on one list only and not tested: a `
      + `list that was trimmed does not say how rare an absent ${NOUNS.queries[0]} is.`);
  }
  return [...notes, belowSentence(changes ?? [])].filter(Boolean);
}

function sayHowToRead(trends) {
  const sure = `${plain(trends.confidence * 100)}${SPACE}%`;
  const [one, many] = NOUNS.queries;
  byId("reading-places").textContent = `Every pair of ${many} is compared. The places in parentheses `
    + `hold for all ${many} at once, with probability ${sure}. Within a group no two ${many} can be `
    + "told apart; neighbouring groups may overlap. The intervals of the shares hold one by one.";
  byId("reading-changes").textContent = `For a ${one} on both lists, the difference of its two `
    + `estimates is tested. For a ${one} on one list only, its estimate is tested against the largest `
    + "share that an unlisted record can have, if the other list states it. The false discovery rate "
    + "counts all tests.";
}

function startTrends() {
  startTheme();
  startTooltips();
  const { trends, names, title } = JSON.parse(byId("figures").textContent);
  useNouns(names);
  showTitle(title);
  showTrendSummary(trends);
  startChanges(trends);
  startTrendRanking(trends);
  sayHowToRead(trends);
  byId("axis-title").textContent = `Share of ${NOUNS.all}`;
  byId("ranking-footnote").textContent = "A hollow mark has no interval. Intervals are cut at zero.";
  for (const link of document.querySelectorAll("nav a")) {
    link.hidden = byId(link.getAttribute("href").slice(1)).hidden;
  }
  for (const part of document.querySelectorAll(".ranking-rows, .name-list")) markClipped(part);
}

startTrends();
