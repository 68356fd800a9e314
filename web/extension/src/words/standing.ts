/** State of a person in a campaign, as a sentence. */
import type { Account, Role } from '@blender-dp/client';
import { type Campaign, isOver } from '../device/collection.js';
import { sendingTime } from '../device/opt-in.js';
import { type Obstacle, obstacle } from '../device/own-limits.js';
import {
  type Choice,
  currentEntry,
  currentReceipt,
  ROLES,
  type Settings,
} from '../device/settings.js';
import { timeText } from './numbers.js';

const STATES: Readonly<Record<string, string>> = {
  draft: 'is being prepared',
  'opt-in-open': 'takes searches of people who opt in',
  'opt-in-sealed': 'makes its list of popular searches',
  'list-published': 'has published its list; private reports come next',
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
export function standingSentence(settings: Settings, account: Account, now = Date.now()): string {
  const { choice, campaign, promised } = settings;
  if (choice === null) return 'You have not chosen yet: nothing is recorded and nothing is sent.';
  if (choice === 'nothing') return 'Nothing is recorded and nothing is sent.';
  const isMade = currentEntry(settings, account.entries, ROLES[choice]) !== undefined;
  if (!isMade && campaign?.description !== promised) {
    return 'The campaign has changed what it promises. Nothing is sent until you choose again.';
  }
  return choice === 'opt-in'
    ? `Opt in: ${optInSentence(settings, account, now)}.`
    : `${WAYS[choice]}: ${reportSentence(settings, ROLES[choice], account, now)}.`;
}

/** Says what ends if a person takes up another campaign; nothing if they wait for none. */
export function insteadSentence(settings: Settings, { entries }: Account, offered: string): string {
  const { choice, campaign, invitation } = settings;
  if (choice === null || choice === 'nothing' || !campaign || isOver(campaign)) return '';
  const made = currentEntry(settings, entries, ROLES[choice]);
  // A report that waits is sent whatever is taken up; searches as they are go to the present campaign.
  const isDone = made !== undefined && (made.state !== 'unsent' || choice !== 'opt-in');
  if (isDone || invitation?.campaign === offered) return '';
  return (
    `You take part in “${campaign.name}” now. You can take part in one campaign at a time: ` +
    'if you continue, that one gets nothing more from you.'
  );
}

const WAYS: Readonly<Record<Exclude<Choice, 'opt-in' | 'nothing'>, string>> = {
  private: 'Private reports',
  relayed: 'Through a relay',
};

function reportSentence(settings: Settings, role: Role, account: Account, now: number): string {
  const { campaign } = settings;
  const given = currentEntry(settings, account.entries, 'contribution');
  if (given && given.state !== 'withdrawn') {
    const next = campaign?.state === 'opt-in-open' ? '; withdraw them first' : '';
    return `none is sent, because the organisation may have your searches${next}`;
  }
  const entry = currentEntry(settings, account.entries, role);
  const isEnded = campaign !== null && isOver(campaign);
  if (entry?.state === 'unsent' && isEnded) {
    return 'this campaign is over. It is not known whether your report was sent in time';
  }
  if (entry) return REPORT_STATES[entry.state];
  if (isEnded) return 'this campaign is over. No report was sent, and none will be';
  const found = obstacle(settings, account, role, now);
  if (found) return obstacleSentence(found);
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
  withdrawn: 'you withdrew, and the organisation has your searches no more',
};

const OTHER_WAY = 'You can still choose a private report';

function optInSentence(settings: Settings, account: Account, now: number): string {
  const { campaign } = settings;
  const given = currentEntry(settings, account.entries, 'contribution');
  const isOpen = campaign?.state === 'opt-in-open';
  if (given?.state === 'unsent' && !isOpen) {
    return 'the campaign takes no searches any more. It is not known whether yours arrived';
  }
  if (given) return OPT_IN_STATES[given.state];
  if (!campaign || !isOpen) {
    const isEnded = campaign !== null && isOver(campaign);
    const none = 'the campaign takes no searches now. None of yours was sent to it';
    return isEnded ? none : `${none}. ${OTHER_WAY}`;
  }
  const found = obstacle(settings, account, 'contribution', now);
  if (found) return obstacleSentence(found);
  const receipt = currentReceipt(settings);
  const time = receipt ? sendingTime(receipt, campaign) : now;
  const after = time > now ? ` after ${timeText(time)}` : '';
  return `your ticked searches will be sent by themselves, once, as they are. That happens soon${after}`;
}

/** Says why nothing is made now, and until when. */
function obstacleSentence(found: Obstacle): string {
  if (found.kind === 'pause') {
    return (
      `one report will be sent after ${timeText(found.until)}, if the campaign still takes it. ` +
      'This device waits some days between two reports to one organisation'
    );
  }
  return OBSTACLES[found.kind];
}

const OBSTACLES = {
  never:
    'nothing is sent. The campaign may learn more about you than this extension allows with this choice',
  epsilon:
    'nothing is sent now. It would take more than what is left of your privacy budget. ' +
    'What is older than 90 days does not count any more',
  delta:
    'nothing is sent now. The chance that a limit fails (δ) adds up, and it would become too large. ' +
    'What is older than 90 days does not count any more',
};
