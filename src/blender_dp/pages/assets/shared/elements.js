// Elements are built from text nodes and attributes only. Nothing here parses markup, so a
// query that looks like HTML stays a query.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** @param {string} id */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * @template {Element} Made
 * @param {Made} node
 * @param {Record<string, unknown>} attributes
 * @param {unknown[]} children
 */
function furnish(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, /** @type {EventListener} */ (value));
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  const present = children.flat(Infinity).filter((child) => child !== null && child !== undefined);
  node.append(.../** @type {(Node | string)[]} */ (present));
  return node;
}

/**
 * Make an HTML element; a function among the attributes listens to the event of that name.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {unknown[]} children
 */
export function html(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/**
 * Make an SVG element, in the same way.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {unknown[]} children
 */
export function svg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

/** @param {string} name @returns {HTMLInputElement[]} */
function radioButtons(name) {
  return [...document.querySelectorAll(`input[name="${name}"]`)].filter(
    (node) => node instanceof HTMLInputElement);
}

/** Return the value of the checked radio button of a group. @param {string} name */
export function chosen(name) {
  return radioButtons(name).find((input) => input.checked)?.value;
}

/** @param {string} name @param {EventListener} listener */
export function onChoice(name, listener) {
  for (const input of radioButtons(name)) input.addEventListener("change", listener);
}

/**
 * Take the choices away that would show no more rows than a smaller one does. A reader's choice
 * that is taken away comes back once there are rows for it.
 * @param {string} name
 * @param {number} most
 */
export function dropIdleChoices(name, most) {
  const inputs = radioButtons(name);
  for (const input of inputs) if (!input.checked) delete input.dataset.insteadOf;
  const instead = inputs.find((input) => input.checked)?.dataset.insteadOf;
  const wanted = inputs.find((input) => (instead ? input.value === instead : input.checked));
  /** @type {HTMLInputElement | null} */
  let useful = null;
  let shows = 0;
  for (const input of inputs) {
    const isIdle = useful !== null && shows >= most;
    shows = Number(input.value);
    if (input.parentElement) input.parentElement.hidden = isIdle;
    if (!isIdle) useful = input;
    if (input !== wanted || !useful) continue;
    useful.checked = true;
    if (isIdle) useful.dataset.insteadOf = wanted.value;
  }
}

/** Draw everything while the page is printed, and then as before. @param {(isPrinted: boolean) => void} draw */
export function whilePrinting(draw) {
  window.addEventListener("beforeprint", () => draw(true));
  window.addEventListener("afterprint", () => draw(false));
}

/**
 * Let clipped texts be reached by keyboard, and only those, so that Tab stays short.
 * @param {Element} container
 */
export function markClipped(container) {
  for (const node of container.querySelectorAll(".clip")) {
    const isClipped = node.scrollWidth > node.clientWidth;
    node.classList.toggle("is-clipped", isClipped);
    if (isClipped && node instanceof HTMLElement) node.tabIndex = 0;
  }
}
