/** The first page: an invitation, three choices in plain words, and what follows from each. */

import type { Campaign } from '../device/collection.js';
import { readInvitation, servicePattern } from '../device/collection.js';
import { ask, type Command, type View } from '../messages.js';
import { epsilonText } from '../words/numbers.js';
import { stateSentence } from '../words/standing.js';
import { byId, tell } from './elements.js';
import { allow } from './permissions.js';

const said = byId('said', HTMLElement);
const consent = byId('agrees', HTMLInputElement);
let shown: Campaign | undefined;

/** Shows a campaign before anything is chosen; the texts are the service's own. */
function showCampaign({ settings }: View): void {
  const { campaign } = settings;
  shown = campaign ?? undefined;
  byId('campaign', HTMLElement).hidden = !campaign;
  for (const name of ['opt-in', 'private']) byId(name, HTMLInputElement).disabled = !campaign;
  if (!campaign) return;
  byId('name', HTMLElement).textContent = campaign.name;
  byId('purpose', HTMLElement).textContent = campaign.purpose;
  byId('state', HTMLElement).textContent = stateSentence(campaign.state);
  byId('consent-text', HTMLElement).textContent = campaign.consent.text;
  byId('epsilon', HTMLElement).textContent =
    `The campaign promises ε = ${epsilonText(campaign.epsilon)}.`;
  const canOptIn = campaign.isOpenToAll && campaign.state === 'opt-in-open';
  byId('opt-in', HTMLInputElement).disabled = !canOptIn;
  byId('no-opt-in', HTMLElement).hidden = canOptIn;
}

async function lookUp(): Promise<void> {
  const text = byId('invitation', HTMLInputElement).value;
  const invitation = readInvitation(text);
  if (!invitation) {
    tell(said, 'the link must look like https://collect.example/v1/campaigns/…');
    return;
  }
  if (!(await allow([servicePattern(invitation)]))) {
    tell(said, 'the extension may not ask this service without your permission');
    return;
  }
  const answer = await ask({ kind: 'invite', invitation: text });
  tell(said, answer.ok ? undefined : answer.problem);
  if (answer.ok) showCampaign(answer.view);
}

function chosenCommand(choice: string | undefined): Command | string {
  if (choice === 'nothing') return { kind: 'leave-unused' };
  if (!choice || !shown) return 'one of the three must be chosen';
  if (choice === 'private') return { kind: 'choose-private' };
  if (!consent.checked) return 'to opt in, please read the text and tick that you agree';
  return { kind: 'choose-opt-in', textDigest: shown.consent.digest };
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
  const answer = await ask(command);
  if (answer.ok) location.href = 'options.html#search-pages';
  else tell(said, answer.problem);
}

function showConsent(): void {
  byId('consent', HTMLElement).hidden = choice() !== 'opt-in';
}

byId('find', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void lookUp();
});
byId('choices', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void choose();
});
byId('choices', HTMLFormElement).addEventListener('change', showConsent);
ask({ kind: 'view' }).then((answer) => {
  if (!answer.ok) return;
  const { invitation } = answer.view.settings;
  if (invitation) {
    const { service, campaign, publicKey } = invitation;
    const key = publicKey ? `#${publicKey}` : '';
    byId('invitation', HTMLInputElement).value = `${service}/v1/campaigns/${campaign}${key}`;
  }
  showCampaign(answer.view);
  const { choice: chosen } = answer.view.settings;
  const radio = chosen && byId(chosen, HTMLInputElement);
  if (radio && !radio.disabled) radio.checked = true;
  showConsent();
});
