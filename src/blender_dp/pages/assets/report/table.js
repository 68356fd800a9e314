// The table of all estimates: sorted by any column, filtered, a page at a time.

const ROWS_A_PAGE = 50;

/** Start the table of queries and records. */
function startTable(report) {
  const view = { report, what: "queries", sortedBy: "probability", direction: -1, page: 0 };
  if (report.rows.queries.length === 0) {
    document.querySelector('input[name="table-what"][value="records"]').checked = true;
  }
  const restart = () => {
    view.page = 0;
    drawTable(view);
  };
  onChoice("table-what", restart);
  byId("table-filter").addEventListener("input", restart);
  byId("table-stars").addEventListener("change", restart);
  byId("page-back").addEventListener("click", () => turnPage(view, -1));
  byId("page-on").addEventListener("click", () => turnPage(view, 1));
  byId("table-save").addEventListener("click", () => saveCsv(view.shown, `${view.what}-shown.csv`));
  new ResizeObserver(() => markClipped(byId("estimates"))).observe(byId("table-scroll"));
  drawTable(view);
}

function turnPage(view, step) {
  view.page += step;
  drawTable(view);
  byId("table-scroll").scrollTop = 0;
}

function drawTable(view) {
  view.what = chosen("table-what");
  const columns = tableColumns(view.report, view.what);
  if (!columns.some(({ id }) => id === view.sortedBy)) view.sortedBy = "probability";
  view.shown = sortedRows(filteredRows(view.report.rows[view.what]), columns, view);
  const first = view.page * ROWS_A_PAGE;
  const page = view.shown.slice(first, first + ROWS_A_PAGE);
  const table = byId("estimates");
  drawHead(table.tHead, columns, view);
  table.tBodies[0].replaceChildren(...page.map((row) => tableRow(columns, row)));
  sayPage(view, first, page.length);
  markClipped(table);
}

function filteredRows(rows) {
  const wanted = byId("table-filter").value.trim().toLocaleLowerCase("en");
  const withStars = byId("table-stars").checked;
  const matches = (text) => typeof text === "string"
    && text.toLocaleLowerCase("en").includes(wanted);
  return rows.filter((row) => (withStars || isListed(row))
    && (wanted === "" || matches(row.query) || matches(row.url)));
}

/** Sort by the chosen column; rows without a value there come last either way. */
function sortedRows(rows, columns, { sortedBy, direction }) {
  const { value, isText } = columns.find(({ id }) => id === sortedBy);
  const collator = new Intl.Collator("en", { numeric: true });
  const compare = isText ? collator.compare : (a, b) => a - b;
  const isAbsent = (x) => (isText ? typeof x !== "string" : !isNumber(x));
  const keyed = rows.map((row) => [value(row), row]);
  keyed.sort(([a], [b]) => {
    if (isAbsent(a) || isAbsent(b)) return Number(isAbsent(a)) - Number(isAbsent(b));
    return direction * compare(a, b);
  });
  return keyed.map(([, row]) => row);
}

function drawHead(head, columns, view) {
  const focused = document.activeElement?.dataset?.column;
  head.replaceChildren(html("tr", {}, columns.map((column) => headCell(column, view))));
  if (focused) head.querySelector(`[data-column="${focused}"]`)?.focus();
}

function headCell(column, view) {
  const isSorted = view.sortedBy === column.id;
  const order = view.direction > 0 ? "ascending" : "descending";
  const button = html("button", { type: "button", class: "sort", "data-column": column.id,
    title: column.hint, click: () => sortBy(view, column) }, column.name,
  html("span", { class: "sort-sign", "aria-hidden": "true" },
    isSorted ? { ascending: "▲", descending: "▼" }[order] : "↕"));
  return html("th", { scope: "col", class: column.isText ? "text" : "number",
    "aria-sort": isSorted ? order : "none" }, button);
}

function sortBy(view, column) {
  const isAgain = view.sortedBy === column.id;
  view.direction = isAgain ? -view.direction : (column.isText ? 1 : -1);
  view.sortedBy = column.id;
  view.page = 0;
  drawTable(view);
}

function tableRow(columns, row) {
  return html("tr", { class: isListed(row) ? null : "wildcard-row" },
    columns.map((column, index) => html(index === 0 ? "th" : "td", {
      class: column.isText ? "text" : "number", scope: index === 0 ? "row" : null,
    }, column.show(row))));
}

function sayPage(view, first, rows) {
  const all = view.shown.length;
  byId("table-count").textContent = all === 0 ? "No rows match."
    : `Rows ${count(first + 1)} to ${count(first + rows)} of ${count(all)}`;
  byId("page-back").disabled = view.page === 0;
  byId("page-on").disabled = first + rows >= all;
  byId("table-save").disabled = all === 0;
}
