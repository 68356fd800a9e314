// Tooltip of the page: numbers of a mark, or the full text where it is clipped.

let tooltipAnchor = null;

/** Show the content near a point of the window. */
function showTooltip(content, x, y) {
  tooltipAnchor = null;
  byId("tooltip").replaceChildren(...content);
  placeTooltip(x, y);
}

/** Show the content below an element, and keep it there when the page scrolls. */
function showTooltipAt(content, anchor) {
  byId("tooltip").replaceChildren(...content);
  tooltipAnchor = anchor;
  followAnchor();
}

function followAnchor() {
  const { left, width, bottom } = tooltipAnchor.getBoundingClientRect();
  placeTooltip(left + Math.min(width, window.innerWidth) / 2, bottom - 10);
}

/** Put the tooltip near a point, but inside the window. */
function placeTooltip(x, y) {
  const box = byId("tooltip");
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const room = 12;
  const left = x + room + width > window.innerWidth - room ? x - room - width : x + room;
  const top = y + room + height > window.innerHeight - room ? y - room - height : y + room;
  box.style.left = `${clamp(left, room, Math.max(room, window.innerWidth - width - room))}px`;
  box.style.top = `${Math.max(room, top)}px`;
}

function hideTooltip() {
  tooltipAnchor = null;
  byId("tooltip").hidden = true;
}

/** Lay out lines of a tooltip: a mark or nothing, a name, a value. */
function tooltipLines(lines) {
  return html("div", { class: "tooltip-lines" }, lines.map(([mark, name, value]) => [
    mark ?? html("span"), html("span", { class: "tooltip-name" }, name),
    html("span", { class: "tooltip-value" }, value),
  ]));
}

function showWhole(node) {
  showTooltipAt([html("p", { class: "tooltip-text" }, typed(node.textContent))], node);
}

/** Show clipped texts whole, on hover and on focus, and let Escape dismiss any tooltip. */
function startTooltips() {
  for (const event of ["pointerover", "focusin"]) {
    document.addEventListener(event, ({ target }) => {
      const node = target.closest?.(".clip.is-clipped");
      if (node && !node.closest(".ranking-row")) showWhole(node);
    });
  }
  for (const event of ["pointerout", "focusout"]) {
    document.addEventListener(event, ({ target, pointerType }) => {
      // A finger that is lifted leaves the tooltip it asked for.
      if (pointerType === "touch") return;
      if (target.closest?.(".clip.is-clipped, .ranking-row, .plane")) hideTooltip();
    });
  }
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") hideTooltip();
  });
  document.addEventListener("scroll", () => {
    if (tooltipAnchor) followAnchor();
    else hideTooltip();
  }, { passive: true });
}
