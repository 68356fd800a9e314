/** What left the device, campaign by campaign, in words. */
import type { Account, EntryState, LedgerEntry, TokenSummary } from '@blender-dp/client';
import type { KnownCampaign } from '../device/choices.js';
import type { Collector } from '../device/collection.js';
import { hostOf } from './foreign.js';
import { relayCostSentence } from './relay.js';
import { beliefSentence, failSentence, limitWords } from './reports.js';

/** One campaign of the ledger, with all that was made for it. */
export interface LedgerPart extends Collector {
  readonly id: string;
  readonly service: string;
  readonly name: string;
  /** When something was chosen or made last, in milliseconds since 1970. */
  readonly at: number;
  readonly entries: readonly LedgerEntry[];
  /** The token that was asked for, if no report was made with it yet. */
  readonly token: TokenSummary | undefined;
}

const UNNAMED = { name: 'A campaign whose name is not known', controller: '', contact: '' };

/** Returns every campaign that was chosen for or got something, the latest first. */
export function ledgerParts(
  campaigns: readonly KnownCampaign[],
  { entries, tokens }: Account,
): readonly LedgerPart[] {
  const ids = new Set(
    [...campaigns, ...entries, ...tokens].map((one) => ('id' in one ? one.id : one.campaign)),
  );
  return [...ids]
    .map((id): LedgerPart => {
      const known = campaigns.find((one) => one.id === id);
      const own = entries.filter(({ campaign }) => campaign === id);
      const token = tokens.find(({ campaign }) => campaign === id);
      return {
        ...UNNAMED,
        privacyPolicy: '',
        service: own[0]?.service ?? token?.service ?? '',
        ...known,
        id,
        at: Math.max(
          known?.chosenAt ?? 0,
          ...own.map(({ drawnAt }) => drawnAt),
          token?.askedAt ?? 0,
        ),
        entries: own,
        token,
      };
    })
    .sort((a, b) => b.at - a.at);
}

/** Returns who collects, as short sentences; names what the campaign does not tell. */
export function collectorSentences({ controller, contact }: Collector): readonly string[] {
  return [
    controller ? `Collected by ${controller}.` : 'The campaign does not say who collects.',
    contact ? `Questions: ${contact}.` : 'It gives no contact.',
  ];
}

const STATES: Readonly<Record<EntryState, string>> = {
  sent: 'Sent',
  unsent: 'Stored here and sent again until it arrives',
  refused: 'Sent, but it was not taken',
  uncertain: 'It may have arrived',
  withdrawn: 'Withdrawn: the organisation confirmed that it has them no more',
};

/** Says what left: searches as they are, or one scrambled report. */
export function entryTitle({ role, body, relay = '' }: LedgerEntry): string {
  if (role === 'report') return 'One private report, scrambled on this device';
  if (role === 'relayed') {
    return `One report through the relay ${hostOf(relay)}, scrambled and locked on this device`;
  }
  const count = recordCount(body);
  if (count === 1) return '1 search as it is, not scrambled';
  return `${count === undefined ? 'Your' : count.toLocaleString('en')} searches as they are, not scrambled`;
}

/** Why what was not confirmed is not sent again: the person's choice, or the campaign's end. */
export type End = 'chosen' | 'closed';

const ENDS: Readonly<Record<End, string>> = {
  chosen: 'you chose something else since',
  closed: 'the campaign no longer takes it',
};

/** Says what became of it; what is not sent any more is not promised. */
export function entryState({ state, sendAfter }: LedgerEntry, end: End | undefined): string {
  if (state === 'unsent' && end) {
    return `It may have been sent before. It is not sent again, because ${ENDS[end]}`;
  }
  const isWaiting = state === 'unsent' && sendAfter !== undefined;
  return isWaiting ? 'Stored here until its time comes, then sent until it arrives' : STATES[state];
}

/** Says what it cost, and what that means. */
export function costSentence({ role, state, epsilon, delta, relayEpsilon }: LedgerEntry): string {
  const [cost, chance] = [Number(epsilon), Number(delta)];
  if (role === 'relayed') {
    return `What this means: ${lowerFirst(relayCostSentence(cost, chance, Number(relayEpsilon)))}`;
  }
  if (role === 'report') return `What this means: ${lowerFirst(beliefSentence(cost, chance))}`;
  if (state === 'withdrawn') {
    return 'What this means: the organisation may have read these searches before. They are in nothing that it publishes.';
  }
  const isThere = state === 'sent' ? 'the' : 'if they arrived, the';
  return (
    `What this means: ${isThere} organisation can read these searches. ` +
    'Others see only what it publishes. ' +
    `By that, ${limitWords(cost)}. ${failSentence(chance)}`
  );
}

/** Returns a sentence about whether and how a report or a contribution can be withdrawn. */
export function withdrawalSentence(
  { role, state, sendAfter = 0 }: Pick<LedgerEntry, 'role' | 'state' | 'sendAfter'>,
  end: End | undefined,
  now = Date.now(),
): string {
  if (state === 'unsent' && !end && now < sendAfter) {
    return 'It was not sent yet. If you choose “Nothing” before that time, it is not sent.';
  }
  if (role === 'report') {
    return 'It cannot be taken back: the organisation does not know which report is yours.';
  }
  if (role === 'relayed')
    return 'It cannot be taken back: once it is mixed, nobody knows which report is yours.';
  return state === 'withdrawn'
    ? 'This is for good. What they cost stays counted.'
    : 'You can withdraw, for good, while the campaign still takes searches. After that, ask the contact above.';
}

function recordCount(body: string): number | undefined {
  try {
    return JSON.parse(body).records.length;
  } catch {
    return undefined;
  }
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
