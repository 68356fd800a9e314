/** Section of the options: the pages on which searches are recorded. */
import type { WatchedPage } from '../device/settings.js';
import type { Command, View } from '../messages.js';
import { hostPattern } from '../search-pages/match-pattern.js';
import { pageProblem, type SearchPage } from '../search-pages/search-page.js';
import { visibleLines } from '../words/foreign.js';
import { button, byId, made, row, tell } from './elements.js';
import { allow } from './permissions.js';

type Send = (command: Command, done?: string) => Promise<unknown>;

const said = byId('page-said', HTMLElement);
let pages: readonly WatchedPage[] = [];
let send: Send = async () => {};

/** Lets the part send commands, and listens to its form. */
export function startSearchPages(sending: Send): void {
  send = sending;
  byId('new-page', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    void add();
  });
}

/** Shows the list. */
export function showSearchPages({ settings }: View): void {
  pages = settings.pages;
  byId('pages', HTMLTableSectionElement).replaceChildren(...pages.map(pageRow));
}

function pageRow(page: WatchedPage, place: number): HTMLTableRowElement {
  const box = made('input', { type: 'checkbox', checked: page.isOn });
  box.setAttribute('aria-label', visibleLines(`Notice searches on ${page.name}`));
  box.addEventListener('change', () => void turn(place, box.checked));
  const remove = () => watch(pages.filter((_, i) => i !== place));
  const on = made('label', { className: 'switch' }, box);
  return row(
    page.name,
    on,
    made('code', {}, page.address),
    button('Remove', remove, `Remove ${page.name}`),
  );
}

/** Switches a page on or off; the browser asks the person before it is on. */
async function turn(place: number, isOn: boolean): Promise<void> {
  const page = pages[place];
  if (!page) return;
  const isAllowed = !isOn || (await allow([hostPattern(page.address)]));
  tell(said, isAllowed ? undefined : 'searches are noticed only where you permit it');
  await watch(pages.map((old, i) => (i === place ? { ...old, isOn: isOn && isAllowed } : old)));
}

async function add(): Promise<void> {
  const page = written();
  const problem = pageProblem(page, isSelector);
  if (problem) {
    tell(said, problem);
    return;
  }
  const isOn = await allow([hostPattern(page.address)]);
  tell(said, isOn ? undefined : 'searches are noticed only where you permit it');
  await watch([...pages, { ...page, isOn }]);
  byId('new-page', HTMLFormElement).reset();
}

function written(): SearchPage {
  const value = (id: string) => byId(id, HTMLInputElement).value.trim();
  return {
    name: value('page-name'),
    address: value('page-address'),
    query: value('page-query'),
    results: value('page-results'),
    target: value('page-target'),
  };
}

function isSelector(text: string): boolean {
  try {
    document.createDocumentFragment().querySelector(text);
    return true;
  } catch {
    return false;
  }
}

async function watch(changed: readonly WatchedPage[]): Promise<void> {
  await send({ kind: 'watch', pages: changed });
}
