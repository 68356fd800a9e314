// Page of a run: reads the figures in the page and starts its parts.

/** URL of every record if records have one level. */
const NO_URL = "-";

function isGroupSize([, size]) {
  return isNumber(size) && size > 0;
}

/** Gather what several parts of the page need. */
function readReport(figures) {
  const release = figures.release ?? {};
  const run = figures.run ?? {};
  useNouns(run.names ?? release.names);
  const rows = { queries: ranked(release.queries), records: ranked(release.records) };
  if (haveOneLevel(rows.records.filter(isListed))) rows.records = [];
  const listed = { queries: rows.queries.filter(isListed), records: rows.records.filter(isListed) };
  const groups = Object.entries(release.users ?? run.users ?? {}).filter(isGroupSize);
  const confidence = isNumber(release.confidence) ? release.confidence : 0.95;
  return {
    release, run, rows, listed, quantile: figures.normal_quantile,
    covered: total(listed.queries.length > 0 ? listed.queries : listed.records),
    users: { groups, total: groups.reduce((sum, [, size]) => sum + size, 0) },
    promise: release.promise ?? run.parameters ?? {},
    level: `${plain(confidence * 100)}${SPACE}%`,
  };
}

/** Tell whether records have no second level, so that they are the queries. */
function haveOneLevel(records) {
  return records.length > 0 && records.every((row) => row.url === NO_URL);
}

/** Offer no choice between queries and records where there are only queries. */
function hideEmptyChoices({ listed }) {
  if (listed.records.length > 0 || listed.queries.length === 0) return;
  for (const choice of document.querySelectorAll('input[value="records"]')) {
    choice.closest("fieldset").hidden = true;
  }
}

function hideDeadLinks() {
  for (const link of document.querySelectorAll("nav a")) {
    const section = byId(link.getAttribute("href").slice(1));
    link.hidden = section.hidden;
  }
}

function startPage() {
  startTheme();
  startTooltips();
  const figures = JSON.parse(byId("figures").textContent);
  const report = readReport(figures);
  showNouns();
  hideEmptyChoices(report);
  showTitle(report.run.title);
  showSummary(report);
  startRanking(report);
  startRankCurve(report);
  startWeights(report);
  showDrift(report);
  showPromises(report);
  startTable(report);
  showFacts(report);
  showFiles(figures.has_files);
  byId("foot").textContent = footLine(report);
  hideDeadLinks();
}

/** Say where the files are; a page that was saved from a service has none beside it. */
function showFiles(areBeside) {
  byId("files-caption").textContent = areBeside
    ? "These files were written beside this page. If it was moved without them, use “Save as CSV” "
      + "above the table, which needs only this page."
    : "The service that published this result has these files under “Downloads”. “Save as CSV” above "
      + "the table needs only this page.";
  if (areBeside) return;
  for (const link of document.querySelectorAll("#files a")) {
    if (link.hasAttribute("data-run-only")) link.closest("li").remove();
    else link.replaceWith(html("code", {}, link.textContent));
  }
}

function footLine({ release, run }) {
  const version = run.software?.["blender-dp"];
  return [`Made by blender-dp${version ? ` ${version}` : ""}`, release.created ?? run.created,
    release.head_list ? `head list ${release.head_list}` : null].filter(Boolean).join(" · ");
}

startPage();
