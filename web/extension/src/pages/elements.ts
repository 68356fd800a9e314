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

/** Shows what went wrong, to screen readers too; nothing hides the place. */
export function tell(place: HTMLElement, problem: string | undefined, done = ''): void {
  place.textContent =
    problem === undefined ? done : `${problem[0]?.toUpperCase()}${problem.slice(1)}.`;
  place.classList.toggle('problem', problem !== undefined);
}
