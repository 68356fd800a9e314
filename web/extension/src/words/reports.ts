/** What a private report says and does not say: computed from the mechanism, in plain words. */
import type { ListSummary, Odds } from '@blender-dp/client';
import { oneIn } from '@blender-dp/pages/numbers.js';
import { presetOf } from '@blender-dp/pages/presets.js';
import {
  guessExample,
  guessLimit,
  limitFails,
  truthInReports,
} from '@blender-dp/pages/promises.js';
import type { Campaign } from '../device/collection.js';
import { countText, epsilonText } from './numbers.js';

/** Says how often a report names the truth, and what it names otherwise. */
export function oddsSentence({ question, size, named, missed }: Odds): string {
  const [one, many] = question === 'query' ? ['query', 'queries'] : ['search', 'searches'];
  return (
    `A report names ${countText(named, one, many)} of ${size.toLocaleString('en')} on a public list. ` +
    truthInReports(1 - missed, named)
  );
}

/** Returns the odds that a report was drawn with: its own question's, if the list asks several. */
export function oddsOfReport(list: ListSummary, report: string): Odds | undefined {
  const question = questionOf(report);
  return list.odds.find((odds) => odds.question === question) ?? list.odds[0];
}

/** Says what ε and δ of a report bound: how much more likely it may make a guess. */
export function beliefSentence(epsilon: number, delta: number): string {
  return `To whoever reads it, ${limitWords(epsilon)}. ${failSentence(delta)}`;
}

/** Says what the promise of a campaign means, before anything is chosen. */
export function promiseSentence({ epsilon, delta, preset, relay }: Promised): string {
  const { deltaIsForAll } = presetOf(preset);
  return (
    'Others see what is published. The organisation also sees your private report. ' +
    `Even so, ${limitWords(epsilon)}. ${guessExample(epsilon)} ` +
    limitFails(delta, deltaIsForAll, relay !== undefined)
  );
}

type Promised = Pick<Campaign, 'epsilon' | 'delta' | 'preset' | 'relay'>;

/** Writes what ε limits; the letter and its value stay on one line. */
export function limitWords(epsilon: number): string {
  return `${guessLimit(epsilon)} (ε\u00a0=\u00a0${epsilonText(epsilon)})`;
}

/** Says whether the limit may fail. */
export function failSentence(delta: number): string {
  return delta > 0
    ? `This limit may fail with a chance of at most ${oneIn(delta)} (δ).`
    : 'This limit never fails.';
}

/** What no report says. */
export const NOT_SAID: readonly string[] = [
  'It does not contain the words that you typed, only numbers of entries of the list.',
  'It does not say whether you searched for something on the list at all.',
  'It does not name you or this browser. The organisation’s server sees a network address, as every website does.',
];

function questionOf(report: string): unknown {
  try {
    return JSON.parse(report).question;
  } catch {
    return undefined;
  }
}
