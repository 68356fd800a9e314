/** Sentences of the privacy statement of a campaign. */

import { count, isNumber, numberOf, percent, plain } from '@blender-dp/pages/numbers.js';
import { presetOf } from '@blender-dp/pages/presets.js';
import {
  epsilonMeaning,
  guessExample,
  guessLimit,
  limitFails,
  truthInReports,
} from '@blender-dp/pages/promises.js';
import type { Certificate, HeadListDocument } from '../api/documents.js';
import type { Campaign, Relay } from '../api/messages.js';
import { hasReached } from './states.js';
import { tokenSentences } from './tokens.js';

/** The fields that say who collects, each with its title. */
export const COLLECTOR = [
  ['controller', 'Who collects'],
  ['contact', 'Contact'],
  ['privacy_policy', 'Privacy policy'],
] as const;
/** Shown for campaigns that are older than these fields. */
export const NOT_SAID = 'not said in this older campaign';

const CODE_TELLS =
  'For this choice you need a code, which the organisation gives to each person. If it notes who got which code, it can tell that the searches are yours.';

/** A heading with the sentences below it. */
export interface Passage {
  readonly title: string;
  readonly sentences: readonly string[];
}

/** The report of a device among a number of items: it names `named` of them, with the truth among them with probability `truth`. */
export interface Channel {
  readonly named: number;
  readonly truth: number;
}

/** Returns the channel of subset selection, chosen as core/channels/subset_selection.py does, in floats. */
export function subsetChannel(items: number, epsilon: number): Channel {
  if (items === 1) return { named: 1, truth: 1 };
  const below = Math.floor(items / (Math.exp(epsilon) + 1));
  const candidates = [1, Math.max(below, 1), Math.min(below + 1, items - 1)].map((named) => ({
    named,
    truth: 1 / (1 + ((items - named) / named) * Math.exp(-epsilon)),
  }));
  const spread = ({ named, truth }: Channel) =>
    ((named - truth) * (items - 1 - named + truth)) / (items * truth - named) ** 2;
  return candidates.reduce((best, other) => (spread(other) < spread(best) ? other : best));
}

/** Returns the statement, from what is public of a campaign. */
export function privacyStatement(
  campaign: Campaign,
  certificate: Certificate | null,
  list: HeadListDocument | null,
): Passage[] {
  return [
    { title: 'What this is for', sentences: [campaign.purpose] },
    optInPassage(campaign),
    clientPassage(campaign, list),
    ...(campaign.relay ? [relayPassage(campaign, campaign.relay, list)] : []),
    epsilonPassage(campaign),
    keptPassage(campaign),
    choicePassage(Boolean(campaign.relay)),
    ...(certificate ? [proofPassage(certificate)] : []),
  ];
}

function optInPassage(campaign: Campaign): Passage {
  return {
    title: 'If you opt in',
    sentences: [
      'Your device sends your searches and the results you clicked, as they are. The organisation can read them until they are deleted. They are stored encrypted.',
      'They are used once, to find what is popular. Random numbers are added to the totals, so that no single person shows. Only these totals are published.',
      `You agree to version ${campaign.consent.version} of the consent text. You can withdraw until this choice closes. If you do, what you sent is deleted at once.`,
      ...(campaign.open_enrolment ? [] : [CODE_TELLS]),
    ],
  };
}

function clientPassage(campaign: Campaign, list: HeadListDocument | null): Passage {
  return {
    title: 'If you send a private report',
    sentences: [
      'Your device fetches a public list of popular searches. It picks one of your searches by chance and scrambles it with random numbers. It sends one report: some entries of that list. Your own words never leave your device. Nothing outside the list can be sent.',
      'A report that was sent cannot be taken back, because it has no name on it.',
      ...(list ? listSentences(list) : []),
      ...tokenSentences(campaign),
    ],
  };
}

function relayPassage(campaign: Campaign, relay: Relay, list: HeadListDocument | null): Passage {
  const { epsilon } = lossOf(campaign);
  const published = list?.head_list.relay?.report_epsilon;
  const most = published ? numberOf(published) : (relay.epsilon_cap ?? Number.NaN);
  const together = published ? plain(most) : `at most ${plain(most)}`;
  return {
    title: 'If you send a report through the relay',
    sentences: [
      `Your device picks one of your searches by chance and scrambles it a little. It sends one entry of the list, locked so that only the organisation can open it. It goes to ${relay.address}, which somebody else runs. The relay mixes it with others, ${count(relay.least_batch)} reports or more, before the organisation gets them. A report that was sent cannot be taken back.`,
      'The relay learns that you take part and never what you report. The organisation learns what is reported and never by whom. This holds as long as the two do not work together.',
      `As long as they do not, the limit under “What ε = ${plain(epsilon)} means” holds for you. If they do work together, ${guessLimit(most)} (ε is ${together}). ${guessExample(most)}`,
    ],
  };
}

function listSentences(list: HeadListDocument): string[] {
  const { mechanism, queries } = list.head_list;
  const size = `The list has ${count(queries.length)} searches and is the same for everybody.`;
  if (mechanism.name !== 'subset-selection') return [size];
  const epsilon = numberOf(mechanism.epsilon);
  const share = numberOf(mechanism.query_share ?? '0');
  const records = queries.reduce((sum, { urls }) => sum + urls.length + 1, 1);
  const asked = [
    { share: 1 - share, what: 'search and page', entries: records },
    { share, what: 'search alone', entries: queries.length + 1 },
  ].filter((question) => question.share > 0);
  return [size, ...asked.map((question) => questionSentence(question, epsilon))];
}

interface AskedQuestion {
  readonly share: number;
  readonly what: string;
  readonly entries: number;
}

function questionSentence({ share, what, entries }: AskedQuestion, epsilon: number): string {
  const { named, truth } = subsetChannel(entries, epsilon);
  return `${percent(share, 0)} of the devices, picked by chance, are asked for the ${what}. Their report names ${count(named)} of ${count(entries)} entries. ${truthInReports(truth, named)}`;
}

function epsilonPassage(campaign: Campaign): Passage {
  const { epsilon, delta } = lossOf(campaign);
  const { deltaIsForAll } = presetOf(campaign.parameters.preset);
  return {
    title: `What ε = ${plain(epsilon)} means`,
    sentences: [
      ...epsilonMeaning(epsilon, 'you'),
      'If you opt in, this limit does not hold for the organisation: it can read what you sent. It holds for everybody else.',
      `${limitFails(delta, deltaIsForAll, Boolean(campaign.relay))} This chance is called δ. Here δ\u00a0=\u00a0${plain(delta)}.`,
    ],
  };
}

function keptPassage(campaign: Campaign): Passage {
  const isDeleted = hasReached(campaign.state, 'list-published') || campaign.state === 'purged';
  return {
    title: 'How long it is kept',
    sentences: [
      isDeleted
        ? 'If you opted in, what you sent was deleted when the list was made. The key that could read it is destroyed right after. The list of jobs shows when that is done.'
        : `If you opt in, what you sent is kept until the list of popular searches is made.${deadline(campaign)} Then it is deleted, and the key that could read it is destroyed.`,
      'Private reports are only counted. What a report names is added to totals when it arrives, and is not kept.',
      'Every report has a random number. The organisation keeps this number, so that no report counts twice. It also keeps a short code, which it computes from the report with a secret key. By this code it sees whether a report that comes again is the same. Both are deleted when the result is published.',
      ...(campaign.relay
        ? [
            'Reports through the relay stay locked until the result is made. Then they are counted and deleted, and the key that opens them is destroyed.',
          ]
        : []),
    ],
  };
}

function deadline(campaign: Campaign): string {
  const until = campaign.rules.opt_in_until;
  return until ? ` That is soon after ${until.slice(0, 10)} at the latest.` : '';
}

function choicePassage(hasRelay: boolean): Passage {
  return {
    title: 'Your choice',
    sentences: [
      `You may opt in, send one private report${hasRelay ? ', send one report through the relay' : ''}, or do nothing. In every case your own device can find suggestions in the published result. What you type for them is not sent.`,
    ],
  };
}

function proofPassage(certificate: Certificate): Passage {
  return {
    title: 'Who checked this',
    sentences: [
      certificate.sentence,
      'This is the last line of a calculation, the certificate. For each group it shows how much anybody can learn about one person at most. Anybody can repeat it from public files, with the command blender-dp certify.',
    ],
  };
}

/** Returns the ε and δ of a campaign's parameters. */
export function lossOf(campaign: Campaign): { epsilon: number; delta: number } {
  const { epsilon, delta } = campaign.parameters;
  return { epsilon: decimal(epsilon), delta: decimal(delta) };
}

function decimal(value: unknown): number {
  if (isNumber(value)) return value;
  return typeof value === 'string' ? numberOf(value) : Number.NaN;
}

/** Returns a statement as plain text. */
export function statementText(campaign: Campaign, passages: readonly Passage[]): string {
  const collector = COLLECTOR.map(([name, title]) => `${title}: ${campaign[name] ?? NOT_SAID}`);
  const parts = passages.map(({ title, sentences }) => `${title}\n\n${sentences.join('\n\n')}`);
  return `${[campaign.name, collector.join('\n'), ...parts].join('\n\n\n')}\n`;
}
