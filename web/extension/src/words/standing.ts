/** State of a person in a campaign, as a sentence. */
import type { Account, Role } from '@blender-dp/client';
import { type Campaign, isOver } from '../device/collection.js';
import { DAYS_GATHERED } from '../device/opt-in.js';
import { type Choice, currentEntry, ROLES, type Settings } from '../device/settings.js';
import { timeText } from './numbers.js';

const STATES: Readonly<Record<string, string>> = {
  draft: 'is being prepared',
  'opt-in-open': 'takes searches of people who opt in',
  'opt-in-sealed': 'makes its list of popular searches',
  'list-published': 'has published its list; private reports begin soon',
  'clients-open': 'takes private reports',
  'clients-sealed': 'computes its result',
  released: 'has published its result',
  purged: 'has ended, and what people sent to it was deleted',
};

/** Says how far a campaign is, and until when people can opt in. */
export function stateSentence({
  state,
  optInUntil,
}: Pick<Campaign, 'state' | 'optInUntil'>): string {
  const isLimited = state === 'opt-in-open' && optInUntil !== null;
  const until = isLimited ? ` until ${timeText(optInUntil)}` : '';
  return `It ${STATES[state] ?? 'is in a state that this version does not know'}${until}.`;
}

/** Says what the extension does for this person now; what it will not do is not promised. */
export function standingSentence(settings: Settings, account: Account): string {
  const { choice, campaign, promised } = settings;
  if (choice === null) return 'You have not chosen yet: nothing is recorded and nothing is sent.';
  if (choice === 'nothing') return 'Nothing is recorded and nothing is sent.';
  const isMade = currentEntry(settings, account.entries, ROLES[choice]) !== undefined;
  if (!isMade && campaign?.description !== promised) {
    return 'The campaign has changed what it promises. Nothing is sent until you choose again.';
  }
  return choice === 'opt-in'
    ? optInSentence(settings, account)
    : `${WAYS[choice]}: ${reportSentence(settings, ROLES[choice], account)}.`;
}

const WAYS: Readonly<Record<Exclude<Choice, 'opt-in' | 'nothing'>, string>> = {
  private: 'Private reports',
  relayed: 'Through a relay',
};

function reportSentence(settings: Settings, role: Role, { entries }: Account): string {
  const given = currentEntry(settings, entries, 'contribution');
  if (given && given.state !== 'withdrawn') {
    return 'none is sent while the organisation may have your searches; withdraw them first';
  }
  const entry = currentEntry(settings, entries, role);
  if (entry) return REPORT_STATES[entry.state];
  const { campaign } = settings;
  if (campaign && isOver(campaign)) {
    return 'this campaign is over. No report was sent, and none will be';
  }
  const isOpen = campaign?.state === 'clients-open';
  return `one report will be sent${isOpen ? ' soon' : ' when the campaign takes them'}`;
}

const REPORT_STATES = {
  sent: 'your one report was sent',
  unsent: 'your report is stored and will be sent',
  refused: 'your report was not taken',
  uncertain: 'your report may have been sent',
  withdrawn: 'your report was withdrawn',
};

const OPT_IN_STATES = {
  sent: 'your searches were sent as they are',
  unsent: 'your searches could not be sent yet; they will be',
  refused: 'the organisation did not take your searches',
  uncertain: 'the organisation may have your searches; withdraw them to be sure that it has not',
  withdrawn: 'you withdrew, and the organisation deleted your searches',
};

function optInSentence(settings: Settings, { entries }: Account): string {
  const given = currentEntry(settings, entries, 'contribution');
  if (given) return `Opt in: ${OPT_IN_STATES[given.state]}.`;
  if (settings.campaign?.state !== 'opt-in-open') {
    return 'Opt in: the campaign takes no searches now. None of yours was sent to it.';
  }
  return (
    'Opt in: the searches that are ticked below will be sent by themselves, once, as they are. ' +
    `That is ${DAYS_GATHERED} days after you agreed, or on the last day for this choice.`
  );
}
