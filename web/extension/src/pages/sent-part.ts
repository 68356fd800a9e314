/** Section of the options: the ledger, every campaign ever and the exact bytes that left for it. */
import type { Account, LedgerEntry, ListSummary, Odds, Role } from '@blender-dp/client';
import { isStillChosen } from '../device/choices.js';
import { isOver, reportDelta, takesContributions } from '../device/collection.js';
import { currentEntry, recordsToSend } from '../device/settings.js';
import type { Command, View } from '../messages.js';
import { hostOf } from '../words/foreign.js';
import {
  costSentence,
  type End,
  entryState,
  entryTitle,
  type LedgerPart,
  ledgerParts,
  withdrawalSentence,
} from '../words/ledger.js';
import { countText, epsilonText, timeText } from '../words/numbers.js';
import { relayExplained } from '../words/relay.js';
import { beliefSentence, NOT_SAID, oddsOfReport, oddsSentence } from '../words/reports.js';
import { entryTokenSentences, waitingTokenSentence } from '../words/token.js';
import { collectorLine } from './collector.js';
import { button, byId, made, write } from './elements.js';

type Send = (command: Command, done?: string) => Promise<unknown>;

/** Shows every campaign with its reports and contributions, and the budget. */
export function showSent(view: View, send: Send): void {
  const { settings, account } = view;
  const parts = ledgerParts(view.campaigns, account);
  const hasLeft = account.entries.length + account.tokens.length > 0;
  byId('nothing-left', HTMLElement).hidden = hasLeft;
  byId('sent', HTMLElement).replaceChildren(...parts.map((part) => campaignCard(part, view, send)));
  write('spent', epsilonText(account.spent));
  write('left', epsilonText(account.left));
  showMeter('budget', account.spent, account.left);
  showRelayBudget(account);
  const isOfReports = ['private', 'relayed'].includes(settings.choice ?? '');
  const hasReport = account.entries.some(({ role }) => role !== 'contribution');
  byId('about-reports', HTMLElement).hidden = !isOfReports && !hasReport;
  byId('explained', HTMLElement).replaceChildren(...explained(settings));
  showSending(view);
}

/** Shows what relays and organisations could learn together, if anything ever went that way. */
function showRelayBudget({ entries, relaySpent, relayLeft }: Account): void {
  const isUsed = entries.some(({ role }) => role === 'relayed');
  byId('relay-spending', HTMLElement).hidden = !isUsed;
  write('relay-spent', epsilonText(relaySpent));
  write('relay-left', epsilonText(relayLeft));
  showMeter('relay-budget', relaySpent, relayLeft);
}

function showMeter(id: string, spent: number, left: number): void {
  const meter = byId(id, HTMLMeterElement);
  meter.value = spent;
  meter.max = spent + left || 1;
}

/** Offers to send what is ticked now, if that is still to be done. */
function showSending({ settings, account, records }: View): void {
  const given = currentEntry(settings, account.entries, 'contribution');
  const isOpen = settings.choice === 'opt-in' && settings.campaign?.state === 'opt-in-open';
  const count = recordsToSend(settings, records).length;
  const sending = byId('contribute', HTMLButtonElement);
  sending.hidden = !isOpen || (given !== undefined && given.state !== 'unsent');
  sending.disabled = given === undefined && count === 0;
  sending.textContent = given
    ? 'Send my searches again now'
    : `Send ${countText(count, 'ticked search', 'ticked searches')} now`;
}

/** Says what reports say, from the list that the campaign published. */
function explained({ choice, list, campaign }: View['settings']): HTMLElement[] {
  if (choice === 'relayed') {
    return relayExplained(list, campaign).map((sentence) => made('li', {}, sentence));
  }
  const epsilon = list?.epsilon ?? campaign?.epsilon;
  const known = list?.odds.map(oddsSentence) ?? [];
  const delta = campaign ? reportDelta(campaign) : 0;
  const sentences = epsilon === undefined ? [] : [...known, beliefSentence(epsilon, delta)];
  return [...sentences, ...NOT_SAID].map((sentence) => made('li', {}, sentence));
}

function campaignCard(part: LedgerPart, view: View, send: Send): HTMLElement {
  const entries = part.entries.map((entry) => entryItem(entry, part, view, send));
  const nothing = `Nothing ${part.token ? 'else ' : ''}has left this device for this campaign.`;
  return made(
    'article',
    { className: 'card' },
    made('h3', {}, part.name),
    collectorLine(part, hostOf(part.service)),
    ...(part.token ? [made('p', {}, waitingTokenSentence(part.token))] : []),
    ...(entries.length ? entries : [made('p', {}, nothing)]),
  );
}

function entryItem(entry: LedgerEntry, { name }: LedgerPart, view: View, send: Send): HTMLElement {
  const { list } = view.settings;
  const { role, state, body, drawnAt, campaign } = entry;
  const odds = list?.digest === entry.madeFor ? oddsOf(list, role, body) : undefined;
  const end = endOf(entry, view);
  const sentences = [
    `${entryState(entry, end)}. Made ${timeText(drawnAt)}.`,
    costSentence(entry),
    ...(odds ? [oddsSentence(odds)] : []),
    ...(state === 'unsent' && end ? [] : entryTokenSentences(entry)),
    withdrawalSentence(entry, end),
  ];
  const withdraw = () =>
    send({ kind: 'withdraw', campaign }, 'The organisation has your searches no more.');
  const canWithdraw = role === 'contribution' && state !== 'withdrawn';
  return made(
    'div',
    { className: 'entry' },
    made('h4', {}, entryTitle(entry)),
    ...sentences.map((sentence) => made('p', {}, sentence)),
    exactBytes(body),
    ...(canWithdraw ? [button('Withdraw', withdraw, `Withdraw from ${name}`)] : []),
  );
}

/**
 * Returns why what is unsent is not sent again; undefined if it will be. Searches as they are go to
 * the present campaign only.
 */
function endOf({ campaign: id, role }: LedgerEntry, view: View): End | undefined {
  const { choice, invitation, campaign } = view.settings;
  const isPresent = id === invitation?.campaign;
  const known = view.campaigns;
  if (choice === null || choice === 'nothing' || !isStillChosen({ campaign: id, role }, known)) {
    return 'chosen';
  }
  if (role !== 'contribution') {
    return isPresent && campaign && isOver(campaign) ? 'closed' : undefined;
  }
  if (!isPresent || !campaign) return 'chosen';
  return takesContributions(campaign) ? undefined : 'closed';
}

/** Returns the odds that a report was drawn with, if its bytes are still here to tell. */
function oddsOf(list: ListSummary, role: Role, body: string): Odds | undefined {
  if (role === 'relayed') return list.relay?.odds;
  return role === 'report' && body ? oddsOfReport(list, body) : undefined;
}

function exactBytes(body: string): HTMLElement {
  const size = new TextEncoder().encode(body).length;
  if (!size) return made('p', { className: 'quiet' }, 'The bytes were deleted on this device.');
  const block = made('pre', { tabIndex: 0 }, made('code', {}, body));
  block.setAttribute('aria-label', 'Exactly what is sent');
  block.setAttribute('role', 'region');
  const title = `See exactly these ${countText(size, 'byte', 'bytes')}`;
  return made('details', {}, made('summary', {}, title), block);
}
