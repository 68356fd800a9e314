// The rows of the ranking. Places are percentages, so that the rows fit any width without being
// drawn again; of a long list only the rows in sight are drawn.

const DRAWN_WHOLE = 100;
const ROWS_BEYOND_SIGHT = 12;

/** Listen for what moves the rows or asks for their numbers. */
function startRankingRows(view) {
  const list = byId("ranking-rows");
  whilePrinting((isPrinted) => drawRankingRows(Object.assign(view, { isPrinted })));
  list.addEventListener("scroll", () => drawRankingRows(view, { keepPlace: true }));
  for (const name of ["pointermove", "pointerdown"]) {
    list.addEventListener(name, (event) => {
      const row = rowAt(view, event.target);
      if (row) showTooltip(rankingTooltip(view, row), event.clientX, event.clientY);
    });
  }
  list.addEventListener("focusin", ({ target }) => {
    const row = rowAt(view, target);
    if (row && target.matches(":focus-visible")) showTooltipAt(rankingTooltip(view, row), target);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const item = event.target.closest(".ranking-row");
    if (!step || !item) return;
    event.preventDefault();
    focusRow(list, Number(item.dataset.index) + step);
  });
}

function rowAt(view, target) {
  const item = target.closest(".ranking-row");
  return item ? view.rows[Number(item.dataset.index)] : null;
}

function focusRow(list, index) {
  const next = list.querySelector(`[data-index="${index}"]`);
  if (!next) return;
  list.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
  next.tabIndex = 0;
  next.focus();
}

function drawRankingRows(view, { keepPlace = false } = {}) {
  const list = byId("ranking-rows");
  const isLong = view.rows.length > DRAWN_WHOLE && !view.isPrinted;
  list.classList.toggle("is-long", isLong);
  if (!keepPlace) list.scrollTop = 0;
  const [from, to] = isLong ? rowsInSight(list, view.rows.length) : [0, view.rows.length];
  if (keepPlace && view.drawnFrom === from && view.drawnTo === to) return;
  [view.drawnFrom, view.drawnTo] = [from, to];
  const focused = list.contains(document.activeElement)
    ? document.activeElement.dataset.index : undefined;
  list.replaceChildren(
    spacer(from * rowHeight(list)),
    ...view.rows.slice(from, to).map((row, index) => rankingRow(view, row, from + index)),
    spacer((view.rows.length - to) * rowHeight(list)),
  );
  const reachable = list.querySelector(`[data-index="${focused ?? from}"]`)
    ?? list.querySelector(".ranking-row");
  if (reachable) reachable.tabIndex = 0;
  if (focused !== undefined) reachable?.focus({ preventScroll: true });
  if (!keepPlace) alignAxis(list, isLong);
}

/** Keep the axis over the tracks when a scrollbar takes room from the rows. */
function alignAxis(list, isLong) {
  const axis = byId("ranking-axis");
  axis.classList.toggle("is-long", isLong);
  axis.style.setProperty("--scrollbar", `${list.offsetWidth - list.clientWidth}px`);
}

function rowHeight(list) {
  return parseFloat(getComputedStyle(list).getPropertyValue("--row-height"));
}

function rowsInSight(list, rows) {
  const height = rowHeight(list);
  // In steps, so that scrolling by a few pixels draws nothing anew.
  const first = Math.floor(list.scrollTop / height / ROWS_BEYOND_SIGHT) * ROWS_BEYOND_SIGHT;
  const inSight = Math.ceil((list.clientHeight || 800) / height);
  return [Math.max(0, first - ROWS_BEYOND_SIGHT),
    Math.min(rows, first + inSight + 2 * ROWS_BEYOND_SIGHT)];
}

function spacer(height) {
  const gap = html("li", { class: "spacer", "aria-hidden": "true" });
  gap.style.height = `${height}px`;
  return gap;
}

function rankingRow(view, row, index) {
  return html("li", { class: "ranking-row", "data-index": index, tabindex: -1 },
    html("span", { class: "rank", "aria-hidden": "true" }, count(row.rank)),
    html("span", { class: "ranking-name clip" }, rowName(row)),
    html("span", { class: "visually-hidden" }, `: ${spokenEstimates(view, row)}`),
    html("span", { class: "ranking-value", "aria-hidden": "true" }, percent(row.probability)),
    rankingTrack(view, row));
}

function spokenEstimates(view, row) {
  return shownGroups(view).map((group) => {
    const interval = group.interval(row, view.report.quantile);
    const range = interval ? `, ${view.report.level} interval ${percentRange(...interval)}` : "";
    const value = group.value(row);
    return `${group.name} ${isNumber(value) ? percent(value) : "none"}${range}`;
  }).join("; ");
}

function rankingTrack(view, row) {
  const track = svg("svg", { class: "track", "aria-hidden": "true" });
  for (const tick of view.scale.ticks) {
    const x = `${view.scale.place(tick) * 100}%`;
    const kind = tick === 0 ? "grid grid-zero" : "grid";
    track.append(svg("line", { class: kind, x1: x, x2: x, y1: 0, y2: "100%" }));
  }
  const lanes = view.shown.size === 1 ? shownGroups(view) : view.groups;
  for (const group of shownGroups(view)) {
    const mark = estimateMark(view, group, row, laneOffset(lanes.indexOf(group), lanes.length));
    if (mark) track.append(mark);
  }
  return track;
}

/** Draw one estimate and its interval, in the lane of its series: `y` from the middle of the row. */
function estimateMark({ scale, report }, group, row, y) {
  const value = group.value(row);
  if (!isNumber(value)) return null;
  const at = (number) => `${clamp(scale.place(number), 0, 1) * 100}%`;
  const interval = group.interval(row, report.quantile);
  const isBeyond = value < scale.from;
  const mark = svg("path", { d: SHAPES[isBeyond ? "back" : group.shape] });
  return svg("svg", { class: `estimate series-${group.id}${interval ? "" : " is-bare"}`, y: "50%" },
    svg("g", { transform: `translate(0 ${y})` },
      interval && interval[1] > scale.from
        ? svg("line", { class: "whisker", x1: at(interval[0]), x2: at(interval[1]) }) : null,
      svg("svg", { x: at(value), class: "estimate" }, mark)));
}

function rankingTooltip({ report, groups }, row) {
  const lines = groups.map((group) => {
    const interval = group.interval(row, report.quantile);
    const range = interval ? ` (${percentRange(...interval)})` : "";
    return [markOf(group.id, group.shape), group.name, percent(group.value(row)) + range];
  });
  if (isNumber(row.opt_in_weight)) lines.push([null, "Opt-in weight", plain(row.opt_in_weight)]);
  if (isNumber(row.relay_weight)) lines.push([null, "Relay weight", plain(row.relay_weight)]);
  const raw = percent(row.raw_probability);
  if (isNumber(row.raw_probability) && raw !== percent(row.probability)) {
    lines.push([null, "Before projection", raw]);
  }
  return [html("p", { class: "tooltip-title" }, `${count(row.rank)}. `, rowName(row)),
    tooltipLines(lines)];
}
