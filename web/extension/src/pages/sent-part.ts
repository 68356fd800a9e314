/** The part of the options that shows what left the device, to the byte. */
import type { LedgerEntry } from '@blender-dp/client';
import { currentOptIn } from '../device/settings.js';
import type { View } from '../messages.js';
import { countText, epsilonText, timeText } from '../words/numbers.js';
import { beliefSentence, NOT_SAID, oddsOfReport, oddsSentence } from '../words/reports.js';
import { byId, made } from './elements.js';

const STATES = { sent: 'sent', unsent: 'not sent yet', refused: 'not taken by the service' };

/** Shows reports, a contribution, and the budget. */
export function showSent({ settings, account }: View): void {
  const contribution = contributed(settings);
  const reports = account.entries.map((entry) => reported(entry, settings)).reverse();
  const parts = contribution ? [contribution, ...reports] : reports;
  const nothing = made('p', { className: 'quiet' }, 'Nothing about you has left this device.');
  byId('sent', HTMLElement).replaceChildren(...(parts.length ? parts : [nothing]));
  byId('spent', HTMLElement).textContent = epsilonText(account.spent);
  byId('left', HTMLElement).textContent = epsilonText(account.left);
  byId('budget', HTMLMeterElement).value = account.spent;
  byId('budget', HTMLMeterElement).max = account.spent + account.left || 1;
  const optIn = currentOptIn(settings);
  byId('contribute', HTMLElement).hidden =
    settings.choice !== 'opt-in' || optIn?.state !== 'gathering';
  byId('withdraw', HTMLElement).hidden = optIn?.state !== 'sent';
  byId('explained', HTMLElement).replaceChildren(...explained(settings));
}

/** Says what reports say, from the list that the campaign published. */
function explained({ list, campaign }: View['settings']): HTMLElement[] {
  const epsilon = list?.epsilon ?? campaign?.epsilon;
  const known = list?.odds.map(oddsSentence) ?? [];
  const sentences = epsilon === undefined ? [] : [...known, beliefSentence(epsilon)];
  return [...sentences, ...NOT_SAID].map((sentence) => made('li', {}, sentence));
}

function contributed(settings: View['settings']): HTMLElement | undefined {
  const optIn = currentOptIn(settings);
  if (!optIn?.body) return undefined;
  const when = optIn.sentAt ? `sent ${timeText(optIn.sentAt)}` : 'not sent yet';
  return item(`Your searches as they are, ${when}`, optIn.body, []);
}

function reported(entry: LedgerEntry, { list }: View['settings']): HTMLElement {
  const title = `Private report, ${STATES[entry.state]}, drawn ${timeText(entry.drawnAt)}`;
  const isKnown = list?.digest === entry.headList && entry.report;
  const odds = isKnown ? oddsOfReport(list, entry.report) : undefined;
  const sentences = [`It cost ε = ${epsilonText(Number(entry.epsilon))}.`];
  if (odds) sentences.push(oddsSentence(odds));
  return item(title, entry.report, sentences);
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
