/** Popup: popular searches that match what is typed, computed on the device. */
import { LocalSearch, type Suggestion } from '@blender-dp/client';
import { Kept } from '../device/kept.js';
import type { KeptRelease } from '../device/release.js';
import { ask } from '../messages.js';
import { shareText, usedText } from '../words/numbers.js';
import { standingSentence } from '../words/standing.js';
import { byId, made, write } from './elements.js';

const typed = byId('typed', HTMLInputElement);
const list = byId('suggestions', HTMLUListElement);
const note = byId('note', HTMLElement);
let search: LocalSearch | undefined;
let hasCampaign = true;

/** Opens the release itself, so that suggestions need neither the worker nor a network. */
async function openRelease(): Promise<void> {
  const kept = new Kept<KeptRelease | null>(chrome.storage.local, 'release', null);
  const release = await kept.read();
  const opened = release && LocalSearch.open(release.text);
  if (opened?.ok) search = opened.search;
}

function show(): void {
  const found = search?.suggest(typed.value) ?? [];
  list.replaceChildren(...found.map(line));
  note.textContent = remark(found);
}

function remark(found: readonly Suggestion[]): string {
  if (!search && !hasCampaign) return 'There are no suggestions yet: look up a campaign first.';
  if (!search) return 'There are no suggestions yet: they come when the campaign has a result.';
  if (!found.length) return 'Nothing popular begins like this.';
  return found[0]?.isCorrection ? 'Nothing begins like this exactly; these come close.' : '';
}

function line({ query, probability, links }: Suggestion): HTMLLIElement {
  const share = made(
    'span',
    { className: 'share', title: 'of all searches' },
    shareText(probability),
  );
  const head = made('div', { className: 'query' }, made('span', {}, query), share);
  const places = links
    .slice(0, 2)
    .map(({ address, shown }) =>
      made(
        'a',
        { href: address, target: '_blank', rel: 'noreferrer' },
        shown.replace(/^https?:\/\//, ''),
      ),
    );
  return made('li', {}, head, ...places);
}

/** Moves among the links with the arrow keys; up from the first one is the box again. */
function move(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const stops: HTMLElement[] = [typed, ...list.querySelectorAll('a')];
  const next = stops.indexOf(document.activeElement as HTMLElement) + step;
  stops[Math.min(Math.max(next, 0), stops.length - 1)]?.focus();
  event.preventDefault();
}

async function showStanding(): Promise<void> {
  const answer = await ask({ kind: 'view' });
  if (!answer.ok) return;
  const { settings, account } = answer.view;
  write('standing', standingSentence(settings, account));
  write('budget', `Privacy budget: ${usedText(account)} used`);
  write('start', settings.choice === null ? 'Choose' : 'Change my choice');
  hasCampaign = settings.campaign !== null;
  show();
}

typed.addEventListener('input', show);
typed.form?.addEventListener('submit', (event) => {
  event.preventDefault();
  list.querySelector('a')?.click();
});
addEventListener('keydown', move);
typed.value = new URLSearchParams(location.search).get('text') ?? '';
typed.focus();
openRelease().then(show, show);
void showStanding();
