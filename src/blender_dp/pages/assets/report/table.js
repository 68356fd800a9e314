// Table of all estimates: sorted by any column, filtered, one page at a time.

const FIRST_ORDER = { column: "probability", direction: -1 };

/** Start the table of queries and records. */
function startTable(report) {
  const view = { report, what: "queries", order: FIRST_ORDER, page: 0 };
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
  whilePrinting((isPrinted) => drawTable(Object.assign(view, { isPrinted })));
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
  if (!columns.some(({ id }) => id === view.order.column)) view.order = FIRST_ORDER;
  const column = columns.findIndex(({ id }) => id === view.order.column);
  view.shown = sortedRows(matchingRows(view.report.rows[view.what]), columns,
    { ...view.order, column });
  const first = view.isPrinted ? 0 : view.page * ROWS_PER_PAGE;
  const page = view.shown.slice(first, view.isPrinted ? undefined : first + ROWS_PER_PAGE);
  const table = byId("estimates");
  drawHead(table.tHead, columns, view);
  table.tBodies[0].replaceChildren(...page.map((row) => tableRow(columns, row)));
  sayPage(view, first, page.length);
  markClipped(table);
}

function matchingRows(rows) {
  const withStars = byId("table-stars").checked;
  return filteredRows(rows.filter((row) => withStars || isListed(row)),
    ({ query, url }) => [query, url], byId("table-filter").value);
}

function drawHead(head, columns, view) {
  const focused = document.activeElement?.dataset?.column;
  head.replaceChildren(html("tr", {}, columns.map((column) => headCell(column, view))));
  if (focused) head.querySelector(`[data-column="${focused}"]`)?.focus();
}

function headCell(column, view) {
  const sorted = sortState(view.order, column.id);
  const button = html("button", { type: "button", class: "sort", "data-column": column.id,
    title: column.hint, click: () => sortBy(view, column) }, column.name,
  html("span", { class: "sort-sign", "aria-hidden": "true" },
    SORT_SIGNS[sorted]));
  return html("th", { scope: "col", class: column.isText ? "text" : "number",
    "aria-sort": sorted }, button);
}

function sortBy(view, column) {
  view.order = nextOrder(view.order, column.id, column.isText === true);
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
    : pageWords(first, rows, all);
  byId("page-back").disabled = view.page === 0;
  byId("page-on").disabled = first + rows >= all;
  byId("table-save").disabled = all === 0;
}
