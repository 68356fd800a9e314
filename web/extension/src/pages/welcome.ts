/** The first page: an invitation, the choices in plain words, and what follows from each. */

import { presentOffer } from '../device/choices.js';
import { type Campaign, isOver, needsCode, takesContributions } from '../device/collection.js';
import { hostPattern, LINK_PROBLEM, linkOf, readInvitation } from '../device/invitation.js';
import { ask, type Command, type View } from '../messages.js';
import { hostOf } from '../words/foreign.js';
import { relaySentences } from '../words/relay.js';
import { promiseSentence } from '../words/reports.js';
import { insteadSentence, stateSentence } from '../words/standing.js';
import { tokenSentences } from '../words/token.js';
import { collectorLine } from './collector.js';
import { byId, tell, write } from './elements.js';
import { allow, allowSending } from './permissions.js';

const found = byId('found', HTMLElement);
const said = byId('said', HTMLElement);
const consent = byId('agrees', HTMLInputElement);
const code = byId('code', HTMLInputElement);
let shown: Campaign | undefined;
/** Who gives tokens for the campaign that is shown. */
let issuer = '';

/** Shows a campaign before anything is chosen; the texts are the service's own. */
function showCampaign({ settings, records, account }: View): void {
  const about = presentOffer(settings);
  shown = about?.campaign;
  byId('campaign', HTMLElement).hidden = !about;
  byId('older', HTMLElement).hidden = records.length === 0;
  const instead = about ? insteadSentence(settings, account, about.invitation.campaign) : '';
  write('instead', instead);
  byId('instead', HTMLElement).hidden = instead === '';
  if (!about) {
    hideCampaign();
    return;
  }
  const { campaign, invitation } = about;
  write('name', campaign.name);
  const line = collectorLine(campaign, hostOf(invitation.service));
  byId('collector', HTMLElement).replaceChildren(line);
  write('purpose', `Why: ${campaign.purpose}`);
  write('state', stateSentence(campaign));
  write('consent-text', campaign.consent.text);
  write('epsilon', promiseSentence(campaign));
  issuer = campaign.issuer ?? invitation.service;
  permit('opt-in', 'no-opt-in', takesContributions(campaign) ? '' : NOT_OPEN);
  permit('private', 'no-report', isOver(campaign) ? OVER : '');
  showRelay(campaign);
}

/** Offers the relay of a campaign, if it has one. */
function showRelay(campaign: Campaign): void {
  const { relay } = campaign;
  byId('relayed-choice', HTMLElement).hidden = !relay;
  permit('relayed', 'no-relayed', isOver(campaign) ? OVER : '');
  const [how = '', promise = ''] = relay ? relaySentences(campaign, relay) : [];
  write('relay-how', how);
  write('relay-promise', promise);
}

const NOT_LOOKED_UP = 'Look up a campaign first.';
const NOT_OPEN = 'This campaign takes no searches now.';
const OVER = 'This campaign is over: it takes no more reports.';

/** Lets something be chosen, or says why not. */
function permit(choice: string, place: string, excuse: string): void {
  const radio = byId(choice, HTMLInputElement);
  radio.disabled = excuse !== '';
  if (excuse) radio.checked = false;
  write(place, excuse);
  showConsent();
}

/**
 * Hides what was looked up: it is not the campaign of the link that stands there now. What was ticked
 * and typed for it was not meant for another one.
 */
function hideCampaign(): void {
  shown = undefined;
  for (const place of [found, said]) tell(place, undefined);
  byId('choices', HTMLFormElement).reset();
  for (const id of ['campaign', 'relayed-choice', 'instead']) byId(id, HTMLElement).hidden = true;
  permit('opt-in', 'no-opt-in', NOT_LOOKED_UP);
  permit('relayed', 'no-relayed', NOT_LOOKED_UP);
  permit('private', 'no-report', NOT_LOOKED_UP);
}

async function lookUp(): Promise<void> {
  hideCampaign();
  const text = byId('invitation', HTMLInputElement).value;
  const invitation = readInvitation(text);
  if (!invitation) {
    tell(found, LINK_PROBLEM);
    return;
  }
  if (!(await allow([hostPattern(invitation.service)]))) {
    tell(found, 'the extension may not ask this server without your permission');
    return;
  }
  const answer = await ask({ kind: 'invite', invitation: text });
  tell(found, answer.ok ? undefined : answer.problem);
  if (answer.ok) showCampaign(answer.view);
}

function chosenCommand(choice: string | undefined): Command | string {
  if (choice === 'nothing') return { kind: 'leave-unused', shown: shown?.description ?? null };
  if (!choice || !shown) return 'one of these must be chosen';
  const about = { shown: shown.description, code: code.value };
  if (choice === 'private') return { kind: 'choose-private', ...about };
  if (choice === 'relayed') return { kind: 'choose-relayed', ...about };
  if (!consent.checked) return 'to opt in, please read the text and tick that you agree';
  return { kind: 'choose-opt-in', ...about };
}

function choice(): string | undefined {
  return document.querySelector<HTMLInputElement>('input[name=choice]:checked')?.value;
}

async function choose(): Promise<void> {
  const command = chosenCommand(choice());
  if (typeof command === 'string') {
    tell(said, command);
    return;
  }
  const relay = command.kind === 'choose-relayed' ? shown?.relay : undefined;
  const isReport = command.kind === 'choose-private' || command.kind === 'choose-relayed';
  const asked = isReport && shown?.issuer ? [shown.issuer] : [];
  const hosts = [...(relay ? [relay.address] : []), ...asked].map(hostPattern);
  if (command.kind !== 'leave-unused' && !(await allowSending(hosts))) {
    tell(said, 'nothing is sent without your permission, so nothing was chosen');
    return;
  }
  const answer = await ask(command);
  if (answer.ok) location.href = 'options.html#search-pages';
  else tell(said, answer.problem);
}

function showConsent(): void {
  const chosen = choice();
  const isReport = chosen === 'private' || chosen === 'relayed';
  const isOptIn = chosen === 'opt-in';
  byId('consent', HTMLElement).hidden = !isOptIn;
  showToken(isReport);
  const isAsked = (isReport || isOptIn) && shown !== undefined && needsCode(shown, isOptIn);
  byId('code-part', HTMLElement).hidden = !isAsked;
  byId('code-tells', HTMLElement).hidden = !isOptIn;
}

/** Says what goes with a report. */
function showToken(isReport: boolean): void {
  byId('token', HTMLElement).hidden = !isReport || !shown?.needsToken;
  const [what, who] = tokenSentences(issuer);
  write('token-what', what);
  write('token-who', who);
}

byId('invitation', HTMLInputElement).addEventListener('input', hideCampaign);
byId('find', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void lookUp();
});
byId('choices', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void choose();
});
byId('choices', HTMLFormElement).addEventListener('change', showConsent);

/** Shows what was chosen before; a link that was typed meanwhile stays. */
async function showPresent(): Promise<void> {
  const answer = await ask({ kind: 'view' });
  const link = byId('invitation', HTMLInputElement);
  if (!answer.ok || link.value) return;
  const about = presentOffer(answer.view.settings);
  if (about) link.value = linkOf(about.invitation);
  showCampaign(answer.view);
  const { choice: chosen, offer } = answer.view.settings;
  // What was chosen for one campaign is not proposed for another.
  const radio = chosen && !offer ? byId(chosen, HTMLInputElement) : undefined;
  if (radio && !radio.disabled) radio.checked = true;
  showConsent();
}

void showPresent();
