/** Where a person stands with a campaign, in a sentence. */
import type { Account } from '@blender-dp/client';
import { DAYS_GATHERED } from '../device/opt-in.js';
import { currentOptIn, type Settings } from '../device/settings.js';
import { epsilonText } from './numbers.js';

const STATES: Readonly<Record<string, string>> = {
  draft: 'is being prepared',
  'opt-in-open': 'takes contributions of people who opt in',
  'opt-in-sealed': 'makes its list of popular searches',
  'list-published': 'has published its list; private reports begin soon',
  'clients-open': 'takes private reports',
  'clients-sealed': 'computes its result',
  released: 'has published its result',
  purged: 'was given up',
};

/** Says how far a campaign is. */
export function stateSentence(state: string): string {
  return `It ${STATES[state] ?? 'is in a state that this version does not know'}.`;
}

/** Says what the extension does for this person now. */
export function standingSentence(settings: Settings, account: Account): string {
  const { choice } = settings;
  if (choice === null) return 'You have not chosen yet: nothing is recorded and nothing is sent.';
  if (choice === 'nothing') return 'Nothing is recorded and nothing is sent.';
  return choice === 'private' ? privateSentence(settings, account) : optInSentence(settings);
}

function privateSentence({ invitation, campaign }: Settings, { entries }: Account): string {
  const entry = entries.find(
    ({ service, campaign: id }) => service === invitation?.service && id === invitation?.campaign,
  );
  if (!entry) {
    const isWaiting = campaign?.state !== 'clients-open';
    return `Private reports: one report will be sent${isWaiting ? ' when the campaign takes them' : ' soon'}.`;
  }
  const epsilon = `ε = ${epsilonText(Number(entry.epsilon))}`;
  if (entry.state === 'sent') return `Private reports: your one report was sent (${epsilon}).`;
  if (entry.state === 'refused') return 'Private reports: the service did not take your report.';
  return `Private reports: your report is stored and will be sent (${epsilon}).`;
}

function optInSentence(settings: Settings): string {
  const optIn = currentOptIn(settings);
  if (optIn?.state === 'sent') return 'Opt in: your searches were sent as they are.';
  if (optIn?.state === 'withdrawn') return 'Opt in: you withdrew; your searches were deleted.';
  if (optIn?.state === 'refused') return 'Opt in: the service did not take your searches.';
  if (settings.campaign?.state !== 'opt-in-open') {
    return 'Opt in: the campaign takes no contributions now, so nothing was sent.';
  }
  return `Opt in: your searches are gathered and sent once, ${DAYS_GATHERED} days after you agreed or on the last day.`;
}
