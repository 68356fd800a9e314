// The three estimates of a row. Colour and shape both tell them apart.

const GROUPS = [
  { id: "opt-in", name: "Opt-in group", shape: "diamond", offset: -11,
    value: (row) => row.opt_in_probability, interval: (row, z) => around(row, "opt_in", z) },
  { id: "blend", name: "Blend of both", shape: "circle", offset: 0,
    value: (row) => row.probability, interval: (row) => given(row) },
  { id: "clients", name: "Clients", shape: "triangle", offset: 11,
    value: (row) => row.client_probability, interval: (row, z) => around(row, "client", z) },
];

const SHAPES = {
  circle: "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
  diamond: "M0 -4.6L4.6 0L0 4.6L-4.6 0z",
  triangle: "M0 -4.2L4.4 3.6L-4.4 3.6z",
  square: "M-3.4 -3.4H3.4V3.4H-3.4z",
  dot: "M-1.8 0a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0 -3.6 0z",
  back: "M-1 0L6 -4V4z",
};

function given(row) {
  return isNumber(row.low) && isNumber(row.high) ? [row.low, row.high] : null;
}

function around(row, group, z) {
  const [middle, error] = [row[`${group}_probability`], row[`${group}_std_error`]];
  return isNumber(middle) && isNumber(error) ? [middle - z * error, middle + z * error] : null;
}

/** Draw a series' mark alone, for legends and tooltips. */
function markOf(id, shape) {
  return svg("svg", { class: `mark series-${id}`, viewBox: "-7 -7 14 14", width: 14, height: 14,
    "aria-hidden": "true" }, svg("path", { d: SHAPES[shape] }));
}

/** Fill a legend with buttons that show or hide a series; `shown` is changed in place. */
function drawLegend(legend, series, shown, redraw) {
  legend.replaceChildren(...series.map(({ id, name, shape }) => html("button", {
    type: "button", class: "legend-button", "data-series": id, "aria-pressed": "true",
    click: ({ currentTarget }) => {
      if (shown.has(id)) shown.delete(id);
      else shown.add(id);
      currentTarget.setAttribute("aria-pressed", String(shown.has(id)));
      redraw();
    },
  }, markOf(id, shape), name)));
}
