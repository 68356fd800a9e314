// Columns of the table: the value that each sorts by, and how it shows a row.

function tableColumns(report, what) {
  const rows = report.rows[what];
  const decimals = columnDecimals(rows.map((row) => row.probability));
  const most = report.listed[what][0]?.probability ?? 1;
  const columns = [
    textColumn("query", capitalised(NOUNS.queries[0]), queryName),
    what === "records" ? textColumn("url", capitalised(NOUNS.url), urlName) : null,
    { id: "probability", name: "Probability", value: (row) => row.probability,
      show: (row) => probabilityBar(row, most, decimals) },
    { id: "interval", name: `${report.level} interval`, hint: "Sorts by width",
      value: (row) => (given(row) ? row.high - row.low : null),
      show: (row) => orAbsent(given(row), () => percentRange(row.low, row.high, decimals)) },
    countColumn(report),
    shareColumn("opt_in_probability", "Opt-in", decimals),
    shareColumn("client_probability", "Clients", decimals),
    hasRelay(rows) ? shareColumn("relay_probability", "Relay", decimals) : null,
    { id: "opt_in_weight", name: "Opt-in weight", value: (row) => row.opt_in_weight,
      show: weightShown },
    hasRelay(rows) ? { id: "relay_weight", name: "Relay weight", value: (row) => row.relay_weight,
      show: (row) => withDecimals(row.relay_weight, 3) } : null,
  ];
  return columns.filter(Boolean);
}

function textColumn(id, name, shown) {
  return { id, name, isText: true, value: (row) => row[id],
    show: (row) => html("span", { class: "clip" }, shown(row)) };
}

function shareColumn(id, name, decimals) {
  return { id, name, value: (row) => row[id],
    show: (row) => orAbsent(isNumber(row[id]), () => percent(row[id], decimals)) };
}

/** Estimated number of users behind a share; nothing where the users were not counted. */
function countColumn({ users }) {
  return users.total === 0 ? null : { id: "count", name: "Count",
    hint: "Estimated: the share times the number of users. Each user counts once, split over their records.",
    value: (row) => row.probability * users.total,
    show: (row) => count(row.probability * users.total) };
}

function orAbsent(isPresent, text) {
  if (isPresent) return text();
  return html("span", { class: "absent", "aria-label": "not available" }, ABSENT);
}

/** Show a probability on a bar of its size, for those listed: the rest would dwarf them. */
function probabilityBar(row, most, decimals) {
  const bar = isListed(row) ? shareBar(row.probability / most) : null;
  return html("span", { class: "bar-and-number" }, bar,
    html("span", {}, percent(row.probability, decimals)));
}

function weightShown(row) {
  const weight = row.opt_in_weight;
  if (!isNumber(weight)) return orAbsent(false);
  const text = Math.abs(weight) < 1000 ? withDecimals(weight, 3) : plain(weight);
  if (!isOutside(row)) return text;
  return html("span", { class: "weight-flag", title: "Outside 0 to 1" }, text);
}
