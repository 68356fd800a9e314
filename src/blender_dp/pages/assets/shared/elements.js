// Elements are built from text nodes and attributes only. Nothing here parses markup, so a
// query that looks like HTML stays a query.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function byId(id) {
  return document.getElementById(id);
}

function furnish(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

/** Make an HTML element; a function among the attributes listens to the event of that name. */
function html(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/** Make an SVG element, in the same way. */
function svg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

/** Return the value of the checked radio button of a group. */
function chosen(name) {
  return document.querySelector(`input[name="${name}"]:checked`).value;
}

function onChoice(name, listener) {
  for (const input of document.querySelectorAll(`input[name="${name}"]`)) {
    input.addEventListener("change", listener);
  }
}

/** Take the choices away that would show no more rows than a smaller one does. */
function dropIdleChoices(name, most) {
  const inputs = [...document.querySelectorAll(`input[name="${name}"]`)];
  let useful = null;
  inputs.forEach((input, index) => {
    const isIdle = index > 0 && Number(inputs[index - 1].value) >= most;
    input.parentElement.hidden = isIdle;
    if (!isIdle) useful = input;
    else if (input.checked) useful.checked = true;
  });
}

/** Let clipped texts be reached by keyboard, and only those, so that Tab stays short. */
function markClipped(container) {
  for (const node of container.querySelectorAll(".clip")) {
    const isClipped = node.scrollWidth > node.clientWidth;
    node.classList.toggle("is-clipped", isClipped);
    if (isClipped) node.tabIndex = 0;
  }
}
