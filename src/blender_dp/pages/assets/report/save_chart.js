// Charts as files: SVG that needs no style sheet, and PNG.

const CHART_STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity",
  "stroke-dasharray", "stroke-linecap", "font-family", "font-size", "font-weight", "paint-order",
  "overflow"];
const SAVED = { width: 900, name: 300, value: 80, row: 40, top: 64 };

/** Add buttons that save the chart of a section; `draw` returns it as one SVG element. */
function addSaving(id, draw) {
  const save = (kind, start) => html("button", { type: "button", class: "button",
    click: () => start(standalone(byId(id), draw()), `${id}.${kind.toLowerCase()}`) },
  `Save as ${kind}`);
  byId(id).append(html("p", { class: "save-chart" }, save("SVG", saveSvg), save("PNG", savePng)));
}

/** Return a copy of a chart with its title, its ground, and every style as an attribute. */
function standalone(section, chart) {
  section.append(chart);
  const { width, height } = chart.viewBox.baseVal;
  for (const node of [chart, ...chart.querySelectorAll("*")]) {
    const style = getComputedStyle(node);
    for (const name of CHART_STYLES) node.setAttribute(name, style.getPropertyValue(name));
  }
  const ground = getComputedStyle(section).backgroundColor;
  chart.remove();
  chart.querySelector(".reader-ring")?.remove();
  chart.prepend(svg("title", {}, visible(section.querySelector("h2").textContent)),
    svg("rect", { width, height, fill: ground }));
  for (const [name, value] of Object.entries({ width, height })) chart.setAttribute(name, value);
  return chart;
}

function svgText(chart) {
  return new XMLSerializer().serializeToString(chart);
}

function saveSvg(chart, name) {
  saveFile(new Blob([svgText(chart)], { type: "image/svg+xml" }), name);
}

async function savePng(chart, name) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(chart))}`;
  await image.decode();
  const canvas = html("canvas", { width: image.width * 2, height: image.height * 2 });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => saveFile(blob, name), "image/png");
}

/** Return a copy of a chart on two axes as it is shown. */
function shownPlane(id) {
  return byId(id).querySelector("svg").cloneNode(true);
}

/** Return the ranking as one chart: the rows that are chosen, a legend, names, tracks, values. */
function rankingChart(view) {
  const height = SAVED.top + view.rows.length * SAVED.row + 16;
  const track = { x: SAVED.name, width: SAVED.width - SAVED.name - SAVED.value };
  const chart = svg("svg", { viewBox: `0 0 ${SAVED.width} ${height}`, class: "saved-chart" });
  shownGroups(view).forEach((group, at) => {
    chart.append(svg("g", { class: `series-${group.id} mark`,
      transform: `translate(${SAVED.name + at * 150} 20)` }, svg("path", { d: SHAPES[group.shape] })),
    svg("text", { class: "tick-text", x: SAVED.name + at * 150 + 12, y: 24 }, group.name));
  });
  for (const tick of view.scale.ticks) {
    chart.append(svg("text", { class: "tick-text", "text-anchor": "middle", y: 50,
      x: track.x + view.scale.place(tick) * track.width }, percentTick(tick)));
  }
  view.rows.forEach((row, at) => {
    const [y, text] = [SAVED.top + at * SAVED.row, rowText(row)];
    const short = text.length > 40 ? `${text.slice(0, 39)}…` : text;
    const marks = rankingTrack(view, row);
    for (const [name, value] of Object.entries({ ...track, y, height: SAVED.row, class: "" })) {
      marks.setAttribute(name, value);
    }
    chart.append(
      svg("text", { class: "saved-name", x: 12, y: y + 21 }, `${count(row.rank)}. ${short}`), marks,
      svg("text", { class: "saved-name", x: SAVED.width - 12, y: y + 21, "text-anchor": "end" },
        percent(row.probability)));
  });
  return chart;
}
