import {
  driftBar,
  driftSentence,
  driftTitle,
  strongerGroup,
  widestDifferences,
} from '@blender-dp/pages/groups.js';
import {
  count,
  moment,
  numberOf,
  oneIn,
  percent,
  percentRange,
  percentWithMargin,
  plain,
  points,
} from '@blender-dp/pages/numbers.js';
import { presetOf } from '@blender-dp/pages/presets.js';
import {
  deltaMeaning,
  epsilonMeaning,
  guessExample,
  guessLimit,
  limitFails,
  surestAfter,
} from '@blender-dp/pages/promises.js';
import { expect, test } from 'vitest';
import { longSentences } from '../../client/tests/sentences.js';
import { readVectors } from '../../client/tests/vectors.js';
import type { HeadListDocument } from '../src/api/documents.js';
import type { Campaign, State } from '../src/api/messages.js';
import { privacyStatement, statementText, subsetChannel } from '../src/words/privacy.js';
import { hasReached, nextMove, relaySentence, STATES } from '../src/words/states.js';
import { issuerName, reportKind } from '../src/words/tokens.js';

test('numbers keep three digits and say when there is none', () => {
  expect(count(1234567)).toBe('1,234,567');
  expect(plain(0.12345)).toBe('0.123');
  expect(plain(1e-5)).toBe('10⁻⁵');
  expect(plain(0.0001)).toBe('10⁻⁴');
  expect(plain(-2.5e-7)).toBe('−2.5\u00a0×\u00a010⁻⁷');
  expect(percent(0.0123456)).toBe('1.23\u00a0%');
  expect(percent(null)).toBe('–');
  expect(percent(-0.000000001, 2)).toBe('0.00\u00a0%');
  expect(points(-0.0012)).toBe('−0.120');
  expect(moment('2026-11-15T12:34:56Z')).toBe('15 Nov 2026, 12:34');
  expect(moment(null)).toBe('–');
});

test('an interval has the decimals that its width calls for', () => {
  expect(percentRange(0.0101234, 0.0123456)).toBe('1.01 to 1.23\u00a0%');
  expect(percentRange(0.01, null)).toBe('–');
  expect(percentWithMargin(0.0123456, 0.00041)).toBe('1.235 ± 0.080\u00a0%');
  expect(percentWithMargin(0.5, null)).toBe('50.0\u00a0%');
});

test('exact numbers of a certificate are read', () => {
  expect(numberOf('99/25')).toBe(3.96);
  expect(numberOf('1.2E-16')).toBe(1.2e-16);
  expect(numberOf(null)).toBeNaN();
});

test('every state but those of jobs and the last ones has its next move', () => {
  expect(STATES.map(({ state }) => nextMove(state)?.move)).toEqual([
    ...['open-opt-in', 'seal-opt-in', undefined, 'open-clients'],
    ...['seal-clients', undefined, undefined, undefined],
  ]);
  expect(hasReached('released', 'list-published')).toBe(true);
  expect(hasReached('opt-in-open', 'list-published')).toBe(false);
  expect(hasReached('purged', 'draft')).toBe(false);
});

interface Channels {
  readonly channels: readonly {
    readonly size: number;
    readonly epsilon: string;
    readonly subset_size: number;
    readonly threshold: string;
  }[];
}

test('what is said of reports is what devices do', () => {
  const { channels } = readVectors<Channels>('subset_selection');
  expect(channels.length).toBeGreaterThan(10);
  for (const { size, epsilon, subset_size, threshold } of channels) {
    const { named, truth } = subsetChannel(size, numberOf(epsilon));
    expect([size, epsilon, named]).toEqual([size, epsilon, subset_size]);
    expect(truth).toBeCloseTo(Number(threshold) / 2 ** 64, 12);
  }
});

test('the surest guess follows from the odds', () => {
  expect(surestAfter(0.5, Math.log(3))).toBeCloseTo(0.75, 12);
  expect(surestAfter(0.001, 4)).toBeCloseTo(0.0518, 4);
  expect(surestAfter(0.9, 50, 0.5)).toBe(1);
});

test('the comparison of the groups has a title, a sentence and its widest differences', () => {
  const widest = [
    { query: 'news', z: -2.5 },
    { query: 'weather', z: 9 },
  ];
  const drift = { is_significant: true, sentence: 'They differ.', widest };
  expect(driftTitle(drift)).toBe('Opt-in users and clients differ');
  expect(driftTitle({ ...drift, is_significant: false })).toContain('agree');
  expect([driftTitle(null), driftSentence(null)].join()).toContain('not compared');
  expect(widestDifferences(drift).map(({ name, z }) => [name, strongerGroup(z)])).toEqual([
    ['news', 'clients'],
    ['weather', 'opt-in users'],
  ]);
  expect(widestDifferences(null)).toEqual([]);
  expect(driftBar(-2)).toEqual({ left: 25, length: 25 });
  expect(driftBar(9)).toEqual({ left: 50, length: 50 });
});

interface PromiseWords {
  readonly guesses: readonly { epsilon: string; factor: string; few: string; half: string }[];
  readonly chances: readonly { probability: string; said: string }[];
  readonly fails: readonly { delta: string; preset: string; relay: boolean; said: string }[];
}

test('what ε and δ limit is said as on the share page', () => {
  const { guesses, chances, fails } = readVectors<PromiseWords>('promise_words');
  for (const { epsilon, factor, few, half } of guesses) {
    expect(guessLimit(Number(epsilon))).toContain(`at most ${factor} times more likely`);
    expect(guessExample(Number(epsilon))).toContain(`they can think it is ${few} at most`);
    expect(guessExample(Number(epsilon))).toContain(`half sure can be ${half} sure at most`);
  }
  for (const { probability, said } of chances) expect(oneIn(Number(probability))).toBe(said);
  for (const { delta, preset, relay, said } of fails) {
    expect(limitFails(Number(delta), presetOf(preset).deltaIsForAll, relay)).toBe(said);
  }
  expect(guessLimit(64)).toBe('a guess about you may become almost certain');
});

test('every sentence of a statement is short, and every thing has one name', () => {
  const relay = { address: 'https://relay.example/', public_key: '', least_batch: 20000 };
  const variants = [
    campaign('opt-in-open'),
    campaign('opt-in-open', { preset: 'paper' }),
    { ...campaign('opt-in-open'), reports: 'token' },
    { ...campaign('clients-open'), relay: { ...relay, epsilon_cap: 8, dishonest: 0.2 } },
  ] as Campaign[];
  const certificate = { verdict: 'kept', sentence: 'Every promise is kept.', accounts: [] };
  for (const one of variants) {
    const text = said(one, certificate, LIST);
    expect(longSentences(text)).toEqual([]);
    expect(text).not.toMatch(/\b(?:collector|service|randomised|shuffled)\b/);
  }
});

test('a bound on a certainty never reads as certain', () => {
  const [, , likely] = epsilonMeaning(12);
  expect(likely).toContain('can be 99.99939\u00a0% sure at most');
  expect(epsilonMeaning(900).join(' ')).toContain('almost 100\u00a0% sure at most');
  expect(epsilonMeaning(null)).toHaveLength(1);
  expect(deltaMeaning(1e-5)).toContain('at most 1 in 100,000.');
  expect(deltaMeaning(1e-7)).toContain('at most 1 in 10 million.');
  expect(deltaMeaning(0)).toContain('zero');
});

function campaign(state: State, parameters: Record<string, unknown> = {}): Campaign {
  return {
    id: '00000000-0000-4000-8000-000000000000',
    name: 'Popular searches',
    purpose: 'Suggest popular searches offline.',
    controller: 'A town library',
    contact: 'privacy@library.example',
    privacy_policy: 'https://library.example/privacy',
    state,
    parameters: { epsilon: 4, delta: 1e-5, preset: 'sharp', ...parameters },
    consent: { version: '7', text: 'I agree.', text_digest: 'sha256:0' },
    expected_clients: 1000,
    open_enrolment: false,
    rules: { opt_in_until: '2026-12-01T00:00:00Z' },
    created_at: '2026-11-15T12:00:00Z',
    moved_at: '2026-11-15T12:00:00Z',
  };
}

const LIST = {
  head_list: {
    digest: 'sha256:0',
    mechanism: { name: 'subset-selection', version: 1, epsilon: '4.0', query_share: '0.9' },
    queries: [
      { query: 'weather', urls: ['a.example', 'b.example'] },
      { query: 'news', urls: ['c.example'] },
    ],
  },
} as unknown as HeadListDocument;

function said(...given: Parameters<typeof privacyStatement>): string {
  return statementText(given[0], privacyStatement(...given));
}

test('the statement says what leaves a device, what ε means and how long data is kept', () => {
  const before = said(campaign('opt-in-open'), null, null);
  expect(before).toContain('kept until the list of popular searches is made');
  expect(before).toContain('soon after 2026-12-01');
  expect(before).toContain('Who collects: A town library\nContact: privacy@library.example\n');
  expect(before).toContain('Privacy policy: https://library.example/privacy');
  expect(before).toContain('version 7 of the consent text');
  expect(before).toContain('at most 55 times more likely');
  expect(before).toContain('1 in 19 at most');
  expect(before).toContain(
    '1 in 100,000. For private reports it never fails. This chance is called δ.',
  );
  expect(before).toContain('A report that was sent cannot be taken back');
});

test('once the list is there, the statement counts its entries and says that data is gone', () => {
  const after = said(campaign('list-published'), null, LIST);
  expect(after).toContain('was deleted');
  expect(after).toContain('The list has 2 searches');
  expect(after).toContain('names 1 of 6 entries'); // 3 records, 2 "any other page", everything else
  expect(after).toContain('names 1 of 3 entries');
  expect(after).toContain('90\u00a0% of the devices');
});

test('under the preset paper the bound may fail for everybody', () => {
  const words = said(campaign('draft', { preset: 'paper' }), null, null);
  expect(words).toContain('Whatever you choose, this limit may fail');
  expect(words).not.toContain('never fails');
});

test('a statement shows the verdict of its certificate', () => {
  const certificate = { verdict: 'broken', sentence: 'The promise is broken.', accounts: [] };
  expect(said(campaign('released'), certificate, null)).toContain('The promise is broken.');
});

test('with a relay the statement says both numbers, and the exact one once it is published', () => {
  const relay = {
    ...{ address: 'https://relay.example/', public_key: 'k'.repeat(43), least_batch: 20000 },
    ...{ epsilon_cap: 8, dishonest: 0.2 },
  };
  const before = said({ ...campaign('opt-in-open'), relay }, null, null);
  expect(before).toContain('It goes to https://relay.example/, which somebody else runs.');
  expect(before).toContain('20,000 reports or more');
  expect(before).toContain('the limit under “What ε = 4 means” holds for you');
  expect(before).toContain('If they do work together, any guess');
  expect(before).toContain('becomes at most 2,981 times more likely (ε is at most 8)');
  expect(before).toContain('If you opt in or use the relay, this limit may fail');
  expect(before).toContain('send one report through the relay, or do nothing');
  const head_list = { ...LIST.head_list, relay: { report_epsilon: '5.25' } };
  const after = said({ ...campaign('clients-open'), relay }, null, { ...LIST, head_list });
  expect(after).toContain('times more likely (ε is 5.25)');
  expect(said(campaign('opt-in-open'), null, null)).not.toContain('relay');
});

test.each([
  ['clients-open', null, 'keeps its reports until'],
  [
    'clients-sealed',
    { state: 'waiting', stated: null, counted: null },
    'Waiting for the relay, until 3',
  ],
  ['clients-sealed', { state: 'complete', stated: 9, counted: null }, 'The release counts it'],
  ['released', { state: 'complete', stated: 9, counted: 9 }, 'was received, and deleted'],
  [
    'released',
    { state: 'destroyed', stated: 9, counted: 0 },
    'too few reports (9) and destroyed them, so no relay client is in the release',
  ],
  ['released', { state: 'destroyed', stated: 0, counted: 0 }, 'no report came to it, so no'],
  [
    'released',
    { state: 'destroyed', stated: 12, counted: 0 },
    'destroyed its 12 reports, though they were enough for a batch, so no',
  ],
  [
    'released',
    { state: 'complete', stated: 9, counted: 0 },
    'too few of its reports (9) were valid, so no relay client is in the release',
  ],
  ['released', { state: 'absent', stated: null, counted: null }, 'no whole batch arrived'],
  ['purged', { state: 'waiting', stated: null, counted: null }, 'no whole batch arrived'],
  ['purged', null, 'given up before'],
] as const)(
  'in the state %s the relay\u2019s batch %j is said to be there or not',
  (state, batch, words) => {
    const rules = { relay_wait_hours: 48 };
    const relay = { address: '', public_key: '', least_batch: 10, epsilon_cap: 8, dishonest: 0.2 };
    const shown = { ...campaign(state), moved_at: '2026-12-01T10:00:00Z', rules, relay };
    expect(relaySentence(shown, batch)).toContain(words);
  },
);

test('the statement says what a token shows and what its issuer learns, only where there are tokens', () => {
  expect(said(campaign('opt-in-open'), null, null)).not.toContain('token');
  const own = said({ ...campaign('opt-in-open'), reports: 'token' }, null, null);
  expect(own).toContain('it shows that you are one person');
  expect(own).toContain('The organisation signs it without seeing it');
  const issuer = { address: 'https://issuer.example/', public_key: '' };
  const other = { ...campaign('opt-in-open'), reports: 'token', issuer } as Campaign;
  expect(said(other, null, null)).toContain('https://issuer.example/ signs it without seeing it');
  expect([reportKind(campaign('opt-in-open')), reportKind(other)]).toEqual(['open', 'with token']);
  expect(issuerName(other)).toBe('https://issuer.example/');
  expect(issuerName({ ...campaign('opt-in-open'), reports: 'token' })).toContain('this service');
});
