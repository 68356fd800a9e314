/** Report through a relay, in words: always with both numbers, if the two keep apart and if not. */
import type { DescribedRelay, ListSummary } from '@blender-dp/client';
import type { Campaign } from '../device/collection.js';
import { hostOf } from './foreign.js';
import { epsilonText } from './numbers.js';
import { factorText, oddsSentence } from './reports.js';

/** Explains the choice in two sentences: what happens, and what it promises. */
export function relaySentences(
  { epsilon, delta }: Pick<Campaign, 'epsilon' | 'delta'>,
  { address, leastBatch, epsilonCap }: DescribedRelay,
): readonly [string, string] {
  return [
    'One of your searches is scrambled a little here and locked for the organisation; then somebody ' +
      `else, the relay ${hostOf(address)}, mixes at least ${leastBatch.toLocaleString('en')} such ` +
      'reports and hands them over without names.',
    relayCostSentence(epsilon, delta, Number(epsilonCap)),
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
  'It does not contain what you typed or the address of a page.',
  'It does not name you or this browser. The relay sees a network address, as every website does, ' +
    'but cannot open the report. The organisation can open it, but does not know where it came from.',
];

/** Says what a relayed report costs, and what that means. */
export function relayCostSentence(epsilon: number, delta: number, together: number): string {
  return (
    'As long as relay and organisation do not work together, any guess about you becomes at most ' +
    `${factorText(epsilon)} times more likely (${number('ε', epsilonText(epsilon))}), except with a ` +
    `tiny chance (${number('δ', String(delta))}); if they do, at most ${factorText(together)} times ` +
    `(${number('ε', epsilonText(together))}).`
  );
}

/** Writes a letter and its value, which stay on one line. */
function number(letter: string, value: string): string {
  return `${letter}\u00a0=\u00a0${value}`;
}
