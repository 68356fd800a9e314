/** Section of the options: the exact bytes that left the device. */
import type { LedgerEntry } from '@blender-dp/client';
import { currentEntry } from '../device/settings.js';
import type { View } from '../messages.js';
import { countText, epsilonText, timeText } from '../words/numbers.js';
import { beliefSentence, NOT_SAID, oddsOfReport, oddsSentence } from '../words/reports.js';
import { byId, made } from './elements.js';

const TITLES = { report: 'Private report', contribution: 'Your searches as they are' };
const STATES = {
  sent: 'sent',
  unsent: 'not known to have arrived',
  refused: 'not taken by the service',
  uncertain: 'may have arrived',
  withdrawn: 'withdrawn',
};

/** Shows reports, contributions, and the budget. */
export function showSent({ settings, account }: View): void {
  const parts = account.entries.map((entry) => sentItem(entry, settings)).reverse();
  const nothing = made('p', { className: 'quiet' }, 'Nothing about you has left this device.');
  byId('sent', HTMLElement).replaceChildren(...(parts.length ? parts : [nothing]));
  byId('spent', HTMLElement).textContent = epsilonText(account.spent);
  byId('left', HTMLElement).textContent = epsilonText(account.left);
  byId('budget', HTMLMeterElement).value = account.spent;
  byId('budget', HTMLMeterElement).max = account.spent + account.left || 1;
  const given = currentEntry(settings, account.entries, 'contribution');
  const isUnsent = given === undefined || given.state === 'unsent';
  byId('contribute', HTMLElement).hidden = settings.choice !== 'opt-in' || !isUnsent;
  byId('withdraw', HTMLElement).hidden = given === undefined || given.state === 'withdrawn';
  byId('explained', HTMLElement).replaceChildren(...explained(settings));
}

/** Says what reports say, from the list that the campaign published. */
function explained({ list, campaign }: View['settings']): HTMLElement[] {
  const epsilon = list?.epsilon ?? campaign?.epsilon;
  const known = list?.odds.map(oddsSentence) ?? [];
  const sentences = epsilon === undefined ? [] : [...known, beliefSentence(epsilon)];
  return [...sentences, ...NOT_SAID].map((sentence) => made('li', {}, sentence));
}

function sentItem(entry: LedgerEntry, { list }: View['settings']): HTMLElement {
  const { role, state, body, drawnAt, epsilon, delta } = entry;
  const isKnown = role === 'report' && list?.digest === entry.madeFor && body;
  const odds = isKnown ? oddsOfReport(list, body) : undefined;
  const deltaPart = Number(delta) > 0 ? `, δ = ${Number(delta)}` : '';
  const sentences = [`It cost ε = ${epsilonText(Number(epsilon))}${deltaPart}.`];
  if (odds) sentences.push(oddsSentence(odds));
  return item(`${TITLES[role]}, ${STATES[state]}, made ${timeText(drawnAt)}`, body, sentences);
}

function item(title: string, bytes: string, sentences: readonly string[]): HTMLElement {
  const size = new TextEncoder().encode(bytes).length;
  const what = made('code', {}, bytes || 'The bytes were deleted.');
  const block = made('pre', { tabIndex: 0 }, what);
  block.setAttribute('aria-label', 'Exactly what is sent');
  block.setAttribute('role', 'region');
  return made(
    'article',
    { className: 'card' },
    made('h3', {}, title),
    ...sentences.map((sentence) => made('p', {}, sentence)),
    made('p', { className: 'quiet' }, `Exactly these ${countText(size, 'byte', 'bytes')}:`),
    block,
  );
}
