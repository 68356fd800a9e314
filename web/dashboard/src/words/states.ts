/** The states of a campaign in the order in which they come, and the moves between them. */
import { count, moment } from '@blender-dp/pages/numbers.js';
import type { Campaign, Job, JobKind, Move, ProgressCounts, State } from '../api/messages.js';

export interface StateWords {
  readonly state: State;
  readonly title: string;
  /** What happens while a campaign is in it. */
  readonly sentence: string;
  /** Whose turn it is. */
  readonly waitsFor: 'operator' | 'people' | 'job' | 'nobody';
}

export const STATES: readonly StateWords[] = [
  {
    state: 'draft',
    title: 'Draft',
    sentence: 'Nobody has been asked yet. Opening freezes every parameter.',
    waitsFor: 'operator',
  },
  {
    state: 'opt-in-open',
    title: 'Opt-in open',
    sentence: 'People who opted in contribute their records, encrypted at rest; they may withdraw.',
    waitsFor: 'people',
  },
  {
    state: 'opt-in-sealed',
    title: 'Opt-in sealed',
    sentence: 'Nothing more is taken from opt-in users. The head list is not published yet.',
    waitsFor: 'job',
  },
  {
    state: 'list-published',
    title: 'List published',
    sentence: 'The signed head list is public and the raw records are deleted.',
    waitsFor: 'operator',
  },
  {
    state: 'clients-open',
    title: 'Clients open',
    sentence: 'Devices send private reports, made on the device from the published list.',
    waitsFor: 'people',
  },
  {
    state: 'clients-sealed',
    title: 'Clients sealed',
    sentence: 'No further report is counted. The release is not published yet.',
    waitsFor: 'job',
  },
  {
    state: 'released',
    title: 'Released',
    sentence: 'The blended result is public.',
    waitsFor: 'nobody',
  },
  {
    state: 'purged',
    title: 'Purged',
    sentence: 'Everything that was not published is deleted.',
    waitsFor: 'nobody',
  },
];

export interface MoveWords {
  readonly move: Move;
  readonly title: string;
  /** What it does, and that it cannot be undone. */
  readonly warning: string;
}

const STEPS: Readonly<Partial<Record<State, MoveWords>>> = {
  draft: {
    move: 'open-opt-in',
    title: 'Open for opt-in users',
    warning:
      'People can contribute from now on. Purpose, consent text and parameters are frozen for good.',
  },
  'opt-in-open': {
    move: 'seal-opt-in',
    title: 'Seal the opt-in side',
    warning:
      'Nobody can contribute or withdraw any more. The head list is made, then the raw records are deleted. It cannot be opened again.',
  },
  'list-published': {
    move: 'open-clients',
    title: 'Open for clients',
    warning: 'Devices can fetch the list and send private reports from now on.',
  },
  'clients-open': {
    move: 'seal-clients',
    title: 'Seal and release',
    warning:
      'No further report is counted, and the result is computed and published. It cannot be opened again.',
  },
};

export const PURGE: MoveWords = {
  move: 'purge',
  title: 'Purge',
  warning:
    'Ends the campaign: contributions, reports and keys are deleted for good. What was published stays public.',
};

/** Returns the move that an operator may make next; null if the campaign does not wait for one. */
export function nextMove(state: State): MoveWords | null {
  return STEPS[state] ?? null;
}

export function stateWords(state: State): StateWords {
  const found = STATES.find((words) => words.state === state);
  return found ?? { state, title: state, sentence: '', waitsFor: 'nobody' };
}

/** Tells whether a campaign has come as far as a state; a purged one may not have. */
export function hasReached(now: State, goal: State): boolean {
  const place = (state: State) => STATES.findIndex((words) => words.state === state);
  return now !== 'purged' && place(now) >= place(goal);
}

export const JOBS: Readonly<Record<JobKind, string>> = {
  'head-list': 'Make the head list',
  erase: 'Erase raw records and keys',
  release: 'Make the release',
};

/** What a campaign waits for while a job is at work, and what is said if the job gave up. */
const AWAITED: Readonly<Partial<Record<State, readonly [JobKind, string]>>> = {
  'opt-in-sealed': ['head-list', 'The head list could not be made'],
  'clients-sealed': ['release', 'The release could not be made'],
};

/** Returns why a campaign goes no further, and what to do; null if it does. */
export function stoppedSentence(state: State, jobs: readonly Job[]): string | null {
  const [kind, words] = AWAITED[state] ?? [];
  const job = jobs.filter((one) => one.kind === kind).at(-1);
  if (job?.state !== 'failed') return null;
  return [`${words}: ${failureWords(job.failure ?? 'unknown')}.`, job.advice ?? '']
    .join(' ')
    .trim();
}

/** Writes the reason of a failure as words. */
export function failureWords(failure: string): string {
  return failure.replaceAll('-', ' ').replace('opt in', 'opt-in');
}

/** Says what the collector has of the relay's batch. */
export function relaySentence(
  { state, moved_at, rules, relay }: Campaign,
  batch: ProgressCounts['relayed'] | null,
): string {
  if (!batch) {
    return state === 'purged'
      ? 'Through the relay: the campaign was given up before the relay sent its reports.'
      : 'Through the relay: it keeps its reports until the clients’ side is sealed.';
  }
  if (batch.state === 'destroyed')
    return `Through the relay: ${destroyed(batch.stated, relay?.least_batch ?? 0)}, so no relay client is in the release.`;
  if (batch.state === 'absent' || (batch.state === 'waiting' && state !== 'clients-sealed'))
    return 'Through the relay: no whole batch arrived in time, so no relay client is in the release.';
  if (batch.state === 'complete' && batch.counted === 0)
    return `Through the relay: too few of its reports (${count(batch.stated ?? 0)}) were valid, so no relay client is in the release.`;
  if (batch.state === 'complete')
    return batch.counted === null
      ? 'Through the relay: the batch is here. The release counts it.'
      : 'Through the relay: the batch was received, and deleted with the release.';
  const until = new Date(Date.parse(moved_at) + 3_600_000 * (rules.relay_wait_hours ?? 0));
  return `Waiting for the relay, until ${moment(until.toISOString())} UTC at the latest. The release follows.`;
}

/** Says what a relay did with its reports when it passed on none. */
function destroyed(stated: number | null, leastBatch: number): string {
  if (!stated) return 'no report came to it';
  return stated < leastBatch
    ? `it had too few reports (${count(stated)}) and destroyed them`
    : `it destroyed its ${count(stated)} reports, though they were enough for a batch`;
}
