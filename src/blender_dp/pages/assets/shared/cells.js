// The cells of a release and how they are named. A wildcard is an element of its own kind and
// never a string, because a user may search for "★" or for "everything else".

const WILDCARD_NAMES = {
  url: "any other URL",
  rest: "everything else",
};

function isListed(row) {
  return row.cell === "record" || row.cell === "query";
}

/** Return the rows with the most probable first, and each with its rank among those listed. */
function ranked(rows) {
  const sorted = (Array.isArray(rows) ? rows : [])
    .filter((row) => row && isNumber(row.probability))
    .sort((a, b) => b.probability - a.probability);
  let rank = 0;
  return sorted.map((row) => ({ ...row, rank: isListed(row) ? (rank += 1) : null }));
}

function wildcard(name) {
  return html("span", { class: "wildcard" },
    html("span", { class: "wildcard-sign", "aria-hidden": "true" }, "★"),
    html("span", {}, name));
}

/** Show what a user typed: text only, kept from turning the direction of what stands around. */
function typed(text) {
  if (text === "") return html("span", { class: "quiet" }, "(empty)");
  return html("bdi", { class: "typed" }, text);
}

function queryName(row) {
  return row.cell === "other" ? wildcard(WILDCARD_NAMES.rest) : typed(row.query ?? "");
}

function urlName(row) {
  if (row.cell === "other_url") return wildcard(WILDCARD_NAMES.url);
  return row.cell === "other" ? wildcard(WILDCARD_NAMES.rest) : typed(row.url ?? "");
}

/** Name a row in one line: the query, and for a record its URL. */
function rowName(row) {
  if (row.cell === "query" || row.cell === "other") return [queryName(row)];
  return [queryName(row), html("span", { class: "arrow", "aria-hidden": "true" }, " → "),
    html("span", { class: "url" }, urlName(row))];
}

function total(rows) {
  return rows.reduce((sum, row) => sum + row.probability, 0);
}
