/** What a private report says and does not say: computed from the mechanism, in plain words. */
import type { ListSummary, Odds } from '@blender-dp/client';
import { casesText, countText, epsilonText } from './numbers.js';

/** Says how often a report names nothing of a person's. */
export function oddsSentence({ question, size, named, missed }: Odds): string {
  const cases = casesText(missed);
  const [one, many] = question === 'query' ? ['query', 'queries'] : ['search', 'searches'];
  if (named === 1) {
    return `A report names a random ${one} in ${cases}: one of ${size.toLocaleString('en')} on a public list.`;
  }
  return (
    `A report names ${countText(named, one, many)} of ${size.toLocaleString('en')} on a public list; ` +
    `in ${cases} all of them are random.`
  );
}

/** Returns the odds that a report was drawn with: its own question's, if the list asks several. */
export function oddsOfReport(list: ListSummary, report: string): Odds | undefined {
  const question = questionOf(report);
  return list.odds.find((odds) => odds.question === question) ?? list.odds[0];
}

/** Returns a sentence about what ε bounds: how much more likely a report may make a guess. */
export function beliefSentence(epsilon: number): string {
  return (
    `Whoever reads it may find any guess about your search up to ${factorText(epsilon)} times more ` +
    `likely than before (ε = ${epsilonText(epsilon)}), and never more.`
  );
}

/** Says what the ε of a campaign means, before anything is chosen. */
export function promiseSentence(epsilon: number): string {
  return (
    `Its privacy promise is ε = ${epsilonText(epsilon)}. What this means: what it publishes, or one ` +
    `private report, makes any guess about you at most ${factorText(epsilon)} times more likely.`
  );
}

/** Writes how many times more likely a guess may become. */
export function factorText(epsilon: number): string {
  const factor = Math.exp(epsilon);
  return factor < 10 ? factor.toFixed(1) : Math.round(factor).toLocaleString('en');
}

/** What no report says. */
export const NOT_SAID: readonly string[] = [
  'It does not contain what you typed or the address of a page.',
  'It does not say whether you searched for something on the list at all.',
  'It does not name you or this browser. The service sees a network address, as every website does.',
];

function questionOf(report: string): unknown {
  try {
    return JSON.parse(report).question;
  } catch {
    return undefined;
  }
}
