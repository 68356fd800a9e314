// Rows of a chart: a name, a track with one estimate and its interval, a value.

/** Draw the axis over the tracks. */
function drawAxis(axis, scale, label) {
  const ticks = scale.ticks.map((tick) => {
    const mark = html("span", { class: tick === 0 ? "tick tick-zero" : "tick" }, label(tick));
    mark.style.left = `${scale.place(tick) * 100}%`;
    return mark;
  });
  axis.replaceChildren(html("div", { class: "ranking-ticks" }, ticks));
}

function trackOf(scale, series, value, interval) {
  const track = svg("svg", { class: "track", "aria-hidden": "true" });
  for (const tick of scale.ticks) {
    const x = `${scale.place(tick) * 100}%`;
    track.append(svg("line", { class: tick === 0 ? "grid grid-zero" : "grid", x1: x, x2: x,
      y1: 0, y2: "100%" }));
  }
  const at = (number) => `${clamp(scale.place(number), 0, 1) * 100}%`;
  const shape = SHAPES[value < scale.from ? "back" : "circle"];
  track.append(svg("svg", { class: `estimate series-${series}${interval ? "" : " is-bare"}`,
    y: "50%" },
  interval && interval[1] > scale.from
    ? svg("line", { class: "whisker", x1: at(interval[0]), x2: at(interval[1]) }) : null,
  svg("svg", { x: at(value), class: "estimate" }, svg("path", { d: shape }))));
  return track;
}

/** Let pointer, focus and arrow keys bring up the numbers of a row. */
function startRows(list, tooltipOf) {
  const rowOf = (target) => target.closest(".ranking-row");
  for (const name of ["pointermove", "pointerdown"]) {
    list.addEventListener(name, (event) => {
      const item = rowOf(event.target);
      if (item) showTooltip(tooltipOf(item), event.clientX, event.clientY);
    });
  }
  list.addEventListener("focusin", ({ target }) => {
    const item = rowOf(target);
    if (item && target.matches(":focus-visible")) showTooltipAt(tooltipOf(item), item);
  });
  list.addEventListener("keydown", (event) => {
    const items = [...list.querySelectorAll(".ranking-row")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = step ? items[items.indexOf(rowOf(event.target)) + step] : null;
    if (!next) return;
    event.preventDefault();
    list.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    next.tabIndex = 0;
    next.focus();
  });
}
