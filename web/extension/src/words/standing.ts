/** State of a person in a campaign, as a sentence. */
import type { Account } from '@blender-dp/client';
import { DAYS_GATHERED } from '../device/opt-in.js';
import { currentEntry, type Settings } from '../device/settings.js';
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
  return choice === 'private'
    ? privateSentence(settings, account)
    : optInSentence(settings, account);
}

function privateSentence(settings: Settings, { entries }: Account): string {
  const given = currentEntry(settings, entries, 'contribution');
  if (given && given.state !== 'withdrawn') {
    return 'Private reports: none is sent while the service may have your searches; withdraw them first.';
  }
  const entry = currentEntry(settings, entries, 'report');
  if (!entry) {
    const isWaiting = settings.campaign?.state !== 'clients-open';
    return `Private reports: one report will be sent${isWaiting ? ' when the campaign takes them' : ' soon'}.`;
  }
  const epsilon = `ε = ${epsilonText(Number(entry.epsilon))}`;
  if (entry.state === 'sent') return `Private reports: your one report was sent (${epsilon}).`;
  if (entry.state === 'unsent') {
    return `Private reports: your report is stored and will be sent (${epsilon}).`;
  }
  if (entry.state === 'refused') return 'Private reports: the service did not take your report.';
  return `Private reports: your report may have been sent, and was deleted here (${epsilon}).`;
}

const OPT_IN_STATES = {
  sent: 'your searches were sent as they are',
  unsent: 'your searches could not be sent yet; they will be',
  refused: 'the service did not take your searches',
  uncertain: 'the service may have your searches; withdraw them to be sure that it has not',
  withdrawn: 'you withdrew; your searches were deleted',
};

function optInSentence(settings: Settings, { entries }: Account): string {
  const given = currentEntry(settings, entries, 'contribution');
  if (given) return `Opt in: ${OPT_IN_STATES[given.state]}.`;
  if (settings.campaign?.state !== 'opt-in-open') {
    return 'Opt in: the campaign takes no contributions now, so nothing was sent.';
  }
  return `Opt in: your searches are gathered and sent once, ${DAYS_GATHERED} days after you agreed or on the last day.`;
}
