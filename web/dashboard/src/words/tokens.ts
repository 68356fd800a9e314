/** Report tokens in words, for operators and for people. */
import type { Campaign } from '../api/messages.js';

/** The kinds of reports that an operator chooses from. */
export const REPORT_KINDS = [
  {
    value: 'open',
    name: 'open',
    hint: 'Anybody may send a report, also several times with a changed program. Nobody needs a token.',
  },
  {
    value: 'token',
    name: 'with token',
    hint: 'Each person gets one token and may send one report with it. A token shows that a report is from one person. Nobody can tell by it from whom: it is signed without being seen.',
  },
] as const;

/** Returns what the reports of a campaign are called. */
export function reportKind({ reports }: Campaign): string {
  return reports === 'token' ? 'with token' : 'open';
}

/** Returns who issues the tokens of a campaign. */
export function issuerName({ issuer }: Campaign): string {
  return issuer?.address ?? 'this service, one for each enrolment';
}

/** Says to people what a token is for, and what whoever issues it learns. */
export function tokenSentences({ reports, issuer }: Campaign): readonly string[] {
  if (reports !== 'token') return [];
  const who = issuer ? issuer.address : 'The organisation';
  return [
    `With your report goes a token, so that everybody counts once. A token is like a ticket without a name: it shows that you are one person. ${who} signs it without seeing it, as if through a closed envelope, and learns only that you take part. Nobody can tell by the token which report is yours. Your device sends the report later, at a random time.`,
  ];
}
