/** Report tokens in words: what a token shows, and what it does not. */
import type { LedgerEntry, TokenSummary } from '@blender-dp/client';
import { hostOf } from './foreign.js';
import { timeText } from './numbers.js';

/** Explains, before anything is chosen, what goes with a report; the host is who gives tokens. */
export function tokenSentences(issuer: string): readonly [string, string] {
  return [
    'This campaign counts every person once, so a token goes with your report. A token is like a ' +
      'ticket without a name: it shows that you are one person. Nobody can tell by it which report is yours.',
    `${hostOf(issuer)} signs the token without seeing it, as if through a closed envelope. It learns that you take part, not what ` +
      'you report. Your report is sent later, at a random time.',
  ];
}

/** Says what goes with a report that has a token, and when it is sent. */
export function entryTokenSentences({
  token,
  state,
  role,
  sendAfter,
}: LedgerEntry): readonly string[] {
  if (role === 'contribution' || !token) return [];
  const isWaiting = state === 'unsent' && sendAfter !== undefined;
  return [
    'A token goes with it, which shows that you are one person. Nobody can tell by it which report is yours.',
    ...(isWaiting
      ? [
          `It is sent after ${timeText(sendAfter)}. This time is random, so that it tells nothing either.`,
        ]
      : []),
  ];
}

/** Says how far the token of a campaign is that no report was made with yet. */
export function waitingTokenSentence({ isHere, askedAt }: TokenSummary): string {
  const outcome = isHere ? 'and it is here' : 'but it has not come yet';
  return (
    `A token for your one report was asked for ${timeText(askedAt)}, ${outcome}. ` +
    'Whoever gives it learns that you take part.'
  );
}
