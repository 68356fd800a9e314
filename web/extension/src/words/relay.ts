/** Report through a relay, in words: always with both numbers, if the two keep apart and if not. */
import type { DescribedRelay, ListSummary } from '@blender-dp/client';
import { guessExample } from '@blender-dp/pages/promises.js';
import type { Campaign } from '../device/collection.js';
import { hostOf } from './foreign.js';
import { failSentence, limitWords, oddsSentence } from './reports.js';

/** Explains the choice: what happens, and what it promises. */
export function relaySentences(
  { epsilon, delta }: Pick<Campaign, 'epsilon' | 'delta'>,
  { address, leastBatch, epsilonCap }: DescribedRelay,
): readonly [string, string] {
  const together = Number(epsilonCap);
  return [
    'One of your searches is picked by chance and scrambled a little on this device. Then it is locked, ' +
      'so that only the organisation can open it. It goes to somebody else, the relay ' +
      `${hostOf(address)}. The relay mixes at least ${leastBatch.toLocaleString('en')} such reports and ` +
      'hands them over without names. A report that was sent cannot be taken back.',
    `${relayCostSentence(epsilon, delta, together)} ${guessExample(together)}`,
  ];
}

/** What a relayed report says, and what it does not. */
export function relayExplained(
  list: ListSummary | null,
  campaign: Campaign | null,
): readonly string[] {
  const { relay } = list ?? {};
  const described = campaign?.relay;
  const numbers = relay
    ? [oddsSentence(relay.odds), relayCostSentence(relay.epsilon, relay.delta, relay.relayEpsilon)]
    : campaign && described
      ? [relaySentences(campaign, described)[1]]
      : [];
  return [...numbers, ...NOT_SAID];
}

/** What no relayed report says. */
const NOT_SAID: readonly string[] = [
  'It does not contain the words that you typed. It names one entry of the list, and that can be ' +
    'your own search.',
  'It does not name you or this browser. The relay sees a network address, as every website does, ' +
    'but cannot open the report. The organisation can open it, but does not know where it came from.',
];

/** Says what a relayed report costs, and what that means. */
export function relayCostSentence(epsilon: number, delta: number, together: number): string {
  return (
    `If relay and organisation do not work together, ${limitWords(epsilon)}. ` +
    `${failSentence(delta)} If they do work together, ${limitWords(together)}.`
  );
}
