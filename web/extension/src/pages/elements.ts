/** Elements of a page, built without parsing markup, so that foreign text stays text. */
import { visibleLines } from '../words/foreign.js';

/** Returns the element with an id, which must be there and of a kind. */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new TypeError(`no such element: ${id}`);
  return element;
}

/** Writes a text into the element with an id. */
export function write(id: string, text: string): void {
  byId(id, HTMLElement).textContent = visibleLines(text);
}

/** Makes an element with what is in it. */
export function made<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
  ...inside: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  Object.assign(element, properties);
  element.append(...inside.map((part) => (typeof part === 'string' ? visibleLines(part) : part)));
  return element;
}

/** Makes a row of a table; the first cell is its heading. */
export function row(...cells: readonly (Node | string)[]): HTMLTableRowElement {
  const [first = '', ...others] = cells;
  const head = made('th', { scope: 'row' }, first);
  return made('tr', {}, head, ...others.map((cell) => made('td', {}, cell)));
}

/** Makes a button that does something. */
export function button(label: string, onclick: () => unknown, name = label): HTMLButtonElement {
  const element = made('button', { type: 'button', onclick }, label);
  if (name !== label) element.setAttribute('aria-label', visibleLines(name));
  return element;
}

/** What can have the focus, in the order of the page. */
const STOPS = 'a[href], button, input, summary';

/**
 * Makes a part of a page anew: what had the focus, or was folded out, is so again. If it is gone,
 * what is at its place has the focus, so that nobody must begin at the top of the page again.
 */
export function redrawn(draw: () => void): void {
  const before = stops();
  const open = new Set(before.filter(isOpen).map(nameOf));
  const place = before.indexOf(document.activeElement as HTMLElement);
  draw();
  const after = stops();
  for (const stop of after) {
    const part = stop.parentElement;
    if (part instanceof HTMLDetailsElement && open.has(nameOf(stop))) part.open = true;
  }
  if (place < 0 || document.activeElement === before[place]) return;
  const [same] = after.filter(
    (stop, i) => nameOf(stop) === nameOf(before[place]) && i >= place - 1,
  );
  (same ?? after[Math.min(place, after.length - 1)])?.focus();
}

function stops(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(STOPS)];
}

function isOpen({ parentElement }: HTMLElement): boolean {
  return parentElement instanceof HTMLDetailsElement && parentElement.open;
}

function nameOf(stop: HTMLElement | undefined): string {
  return stop?.getAttribute('aria-label') ?? stop?.textContent ?? '';
}

/** Shows what went wrong, to screen readers too; nothing hides the place. */
export function tell(place: HTMLElement, problem: string | undefined, done = ''): void {
  place.textContent =
    problem === undefined ? done : `${problem[0]?.toUpperCase()}${problem.slice(1)}.`;
  place.classList.toggle('problem', problem !== undefined);
}
