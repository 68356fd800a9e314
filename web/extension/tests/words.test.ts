/** What people are told: true to the numbers, and in words. */
import type { Account, EntryState, LedgerEntry, ListSummary, Role } from '@blender-dp/client';
import { describe, expect, test } from 'vitest';
import type { KnownCampaign } from '../src/device/choices.js';
import { reportDelta } from '../src/device/collection.js';
import { omniboxLines } from '../src/device/omnibox.js';
import { FIRST_SETTINGS, type Settings } from '../src/device/settings.js';
import { visibleLines } from '../src/words/foreign.js';
import { collectorSentences, costSentence, entryTitle, ledgerParts } from '../src/words/ledger.js';
import { countText, epsilonText, shareText, usedText } from '../src/words/numbers.js';
import {
  beliefSentence,
  NOT_SAID,
  oddsOfReport,
  oddsSentence,
  promiseSentence,
} from '../src/words/reports.js';
import { insteadSentence, standingSentence, stateSentence } from '../src/words/standing.js';
import { CAMPAIGN, SERVICE } from './service.js';

const ODDS = { question: 'query', size: 41, named: 1, missed: 0.423 } as const;
const SEVERAL = { question: 'record', size: 81, named: 3, missed: 0.4 } as const;
const LIST: ListSummary = {
  digest: 'sha256:1',
  description: 'sha256:2',
  queryCount: 40,
  cellCount: 81,
  epsilon: 4,
  delta: 0,
  odds: [SEVERAL, ODDS],
  needsToken: false,
  relay: undefined,
};

describe('reports', () => {
  test('how often a report is true is said, and what it names otherwise', () => {
    expect(oddsSentence(ODDS)).toBe(
      'A report names 1 query of 41 on a public list. In about 58 of 100 reports the true one is ' +
        'named. All other reports name a random one. Nobody can tell for sure which report is which.',
    );
    expect(oddsSentence(SEVERAL)).toContain(
      'names 3 searches of 81 on a public list. In about 60 of 100 reports the true one is among ' +
        'them. All other reports name only random ones.',
    );
  });

  test.each([
    [1, 'fewer than 1 of 100 reports'],
    [0.996, 'fewer than 1 of 100 reports'],
    [0.5, 'about 50 of 100 reports'],
    [0.001, 'more than 99 of 100 reports'],
  ])('%d missed is never told as certain', (missed, text) => {
    expect(oddsSentence({ ...ODDS, missed })).toContain(text);
  });

  test('a report is explained by the question that it answers', () => {
    expect(oddsOfReport(LIST, '{"question":"query"}')).toBe(ODDS);
    expect(oddsOfReport(LIST, '{"question":"record"}')).toBe(SEVERAL);
    expect(oddsOfReport(LIST, '{"cell":4}')).toBe(SEVERAL);
    expect(oddsOfReport(LIST, '')).toBe(SEVERAL);
  });

  test('what ε bounds is said as a factor, which is rounded up', () => {
    expect(beliefSentence(4, 0)).toContain('at most 55 times');
    expect(beliefSentence(1, 0)).toContain('at most 2.8 times');
    expect(beliefSentence(3, 0)).toContain('at most 21 times'); // e³ is 20.09
    expect(beliefSentence(8, 0)).toContain('at most 2,981 times');
  });

  test('a limit fails where there is a δ, and never where there is none', () => {
    expect(beliefSentence(4, 0)).toContain('never fails');
    expect(beliefSentence(4, 1e-7)).toContain('a chance of at most 1 in 10 million (δ)');
    expect(reportDelta({ delta: 1e-5, preset: 'sharp' })).toBe(0);
    expect(reportDelta({ delta: 1e-5, preset: 'paper' })).toBe(1e-5);
    expect(reportDelta({ delta: 1e-5 })).toBe(1e-5);
  });

  test.each([
    ['sharp', 'If you opt in, this limit may fail', 'For private reports it never fails.'],
    ['paper', 'Whatever you choose, this limit may fail', '1 in 100,000.'],
  ])(
    'the promise under %s is said with an example before anything is chosen',
    (preset, ...said) => {
      const words = promiseSentence({ epsilon: 4, delta: 1e-5, preset });
      expect(words).toContain('they can think it is 1 in 19 at most');
      expect(words).toContain('half sure can be 98.3\u00a0% sure at most');
      for (const part of said) expect(words).toContain(part);
    },
  );

  test('what is not said is said in whole sentences', () => {
    for (const sentence of NOT_SAID) expect(sentence).toMatch(/^It does not .*\.$/);
  });
});

describe('numbers', () => {
  test('are short', () => {
    expect([shareText(0.1234), shareText(0.01234)]).toEqual(['12 %', '1.2 %']);
    expect([epsilonText(4), epsilonText(0.1 + 0.2)]).toEqual(['4', '0.3']);
    expect(usedText({ spent: 0, left: 8 })).toBe('0 %');
    expect(usedText({ spent: 4.01, left: 3.99 })).toBe('51 %');
    expect([countText(1, 'byte', 'bytes'), countText(1234, 'byte', 'bytes')]).toEqual([
      '1 byte',
      '1,234 bytes',
    ]);
  });
});

describe('where a person stands', () => {
  const invitation = { service: SERVICE, campaign: CAMPAIGN, publicKey: null };
  const campaign = {
    description: 'sha256:2',
    name: 'A town',
    purpose: '',
    controller: 'Town Library',
    contact: 'privacy@town.example',
    privacyPolicy: 'https://town.example/privacy',
    state: 'clients-open',
    consent: { version: '1', text: '', digest: '' },
    epsilon: 4,
    delta: 1e-5,
    isOpenToAll: true,
    optInUntil: null,
  };
  const settings: Settings = { ...FIRST_SETTINGS, invitation, campaign, promised: 'sha256:2' };
  const budget = { spent: 0, left: 8, relaySpent: 0, relayLeft: 16, tokens: [] };
  const nothing: Account = { ...budget, entries: [] };
  const made = (role: Role, state: EntryState, id = CAMPAIGN): Account => {
    const entry = { campaign: id, role, service: SERVICE, madeFor: '', body: '{}', token: '' };
    const cost = { epsilon: '4.0', delta: '0.0', drawnAt: 0 };
    return { ...nothing, spent: 4, left: 4, entries: [{ ...entry, ...cost, state }] };
  };

  test.each([
    [null, nothing, 'not chosen yet'],
    ['nothing', nothing, 'Nothing is recorded'],
    ['private', nothing, 'will be sent soon'],
    ['private', made('report', 'sent'), 'your one report was sent'],
    ['private', made('report', 'unsent'), 'stored and will be sent'],
    ['private', made('report', 'refused'), 'was not taken'],
    ['relayed', nothing, 'Through a relay: one report will be sent soon.'],
    ['relayed', made('relayed', 'sent'), 'Through a relay: your one report was sent.'],
    ['relayed', made('relayed', 'uncertain'), 'may have been sent'],
    ['relayed', made('contribution', 'sent'), 'Through a relay: none is sent, because'],
    ['private', made('report', 'uncertain'), 'may have been sent'],
    ['private', made('report', 'sent', 'another campaign'), 'will be sent soon'],
    ['private', made('contribution', 'uncertain'), 'none is sent, because'],
    ['private', made('contribution', 'withdrawn'), 'will be sent soon'],
    ['opt-in', nothing, 'None of yours was sent to it. You can still choose a private report.'],
    ['opt-in', made('contribution', 'unsent'), 'It is not known whether yours arrived.'],
  ] as const)('%s', (choice, account, words) => {
    expect(standingSentence({ ...settings, choice }, account)).toContain(words);
  });

  test.each([
    [undefined, 'will be sent by themselves, once, as they are. That happens soon after '],
    ['unsent', 'could not be sent yet'],
    ['sent', 'were sent as they are'],
    ['uncertain', 'may have your searches'],
    ['withdrawn', 'you withdrew'],
    ['refused', 'did not take'],
  ] as const)('who opted in and whose contribution is %s', (state, words) => {
    const open = { ...campaign, state: 'opt-in-open' };
    const receipts = {
      [CAMPAIGN]: { version: '1', digest: '', givenAt: Date.UTC(1971, 10, 15, 9) },
    };
    const opted: Settings = { ...settings, campaign: open, choice: 'opt-in', receipts };
    const account = state ? made('contribution', state) : nothing;
    expect(standingSentence(opted, account, Date.UTC(1971, 10, 16))).toContain(words);
  });

  test.each(['clients-sealed', 'released', 'purged'])(
    'a campaign that is %s promises nothing',
    (state) => {
      const over: Settings = { ...settings, campaign: { ...campaign, state } };
      expect(standingSentence({ ...over, choice: 'private' }, nothing)).toContain('none will be');
      expect(standingSentence({ ...over, choice: 'opt-in' }, nothing)).toContain('None of yours');
    },
  );

  test('of a report that waits when its campaign ends nobody says that it will be sent', () => {
    const over: Settings = { ...settings, campaign: { ...campaign, state: 'clients-sealed' } };
    const said = standingSentence({ ...over, choice: 'private' }, made('report', 'unsent'));
    expect(said).toContain('It is not known whether your report was sent in time.');
  });

  test('searches that are taken no more can be withdrawn no more: nobody says "withdraw first"', () => {
    const given = made('contribution', 'sent');
    const open = { ...settings, campaign: { ...campaign, state: 'opt-in-open' } };
    expect(standingSentence({ ...open, choice: 'private' }, given)).toContain(
      'withdraw them first',
    );
    expect(standingSentence({ ...settings, choice: 'private' }, given)).not.toContain('withdraw');
  });

  describe('what this device does not allow is not promised', () => {
    const now = Date.UTC(2026, 10, 18, 12);
    const before = (role: Role, delta: string, drawnAt: number): Account => {
      const { entries, ...rest } = made(role, 'sent', 'another campaign');
      return { ...rest, entries: entries.map((entry) => ({ ...entry, delta, drawnAt })) };
    };
    const said = (choice: 'private' | 'relayed' | 'opt-in', account: Account, change = {}) => {
      const state = choice === 'opt-in' ? 'opt-in-open' : 'clients-open';
      const shown = { ...campaign, preset: 'sharp', state, ...change };
      return standingSentence({ ...settings, choice, campaign: shown }, account, now);
    };
    const [recent, old] = [now - 86_400_000, now - 91 * 86_400_000];

    test.each(['private', 'relayed', 'opt-in'] as const)(
      '%s when the budget is spent',
      (choice) => {
        const account = { ...before('contribution', '0.0', recent), spent: 8, left: 0 };
        expect(said(choice, account)).toContain('more than what is left of your privacy budget');
      },
    );

    test('δ of older contributions and relayed reports, for 90 days', () => {
      for (const choice of ['relayed', 'opt-in'] as const) {
        expect(said(choice, before('contribution', '1e-05', recent))).toContain('(δ) adds up');
        expect(said(choice, before('contribution', '1e-05', old))).toContain('will be sent');
      }
      expect(said('private', before('contribution', '1e-05', recent))).toContain('will be sent');
    });

    test('a second report to one organisation, for 7 days', () => {
      expect(said('private', before('report', '0.0', recent))).toMatch(/sent after .*2026/);
      expect(said('private', before('report', '0.0', old))).toContain('will be sent soon');
      expect(said('opt-in', before('report', '0.0', recent))).toContain(
        'will be sent by themselves',
      );
    });

    test('what no device ever allows', () => {
      expect(said('private', nothing, { epsilon: 8.5 })).toContain(
        'nothing is sent. The campaign may',
      );
      expect(said('opt-in', nothing, { delta: 1e-4 })).toContain(
        'nothing is sent. The campaign may',
      );
      expect(said('private', nothing, { delta: 1e-4 })).toContain('will be sent soon');
    });
  });

  test('whoever takes up another campaign is told what ends, if anything does', () => {
    const taken: Settings = { ...settings, campaign, choice: 'private' };
    const told = (change: Partial<Settings>, account = nothing, offered = 'another') =>
      insteadSentence({ ...taken, ...change }, account, offered);
    expect(told({})).toContain('“A town” now');
    expect(told({}, nothing, CAMPAIGN)).toBe('');
    expect(told({ choice: 'nothing' })).toBe('');
    expect(told({}, made('report', 'unsent'))).toBe('');
    expect(told({ choice: 'opt-in' }, made('contribution', 'unsent'))).not.toBe('');
    expect(told({ choice: 'opt-in' }, made('contribution', 'sent'))).toBe('');
    expect(told({ campaign: { ...campaign, state: 'released' } })).toBe('');
  });

  test('a campaign that changed its promise is said to get nothing', () => {
    const changed: Settings = { ...settings, choice: 'private', promised: 'sha256:1' };
    expect(standingSentence(changed, nothing)).toContain('until you choose again');
    expect(standingSentence(changed, made('report', 'sent'))).toContain('was sent');
  });

  test('a state that is not known is said to be so', () => {
    const until = Date.UTC(2026, 11, 24, 12);
    expect(stateSentence({ state: 'released', optInUntil: until })).toBe(
      'It has published its result.',
    );
    expect(stateSentence({ state: 'new', optInUntil: null })).toContain('does not know');
    expect(stateSentence({ state: 'opt-in-open', optInUntil: until })).toMatch(/until .*2026/);
  });
});

describe('the ledger', () => {
  const entry: LedgerEntry = {
    campaign: CAMPAIGN,
    role: 'contribution',
    service: SERVICE,
    madeFor: '',
    body: '{"records":[1,2]}',
    token: '',
    epsilon: '4.0',
    delta: '1e-05',
    drawnAt: 5,
    state: 'sent',
  };
  const report: LedgerEntry = { ...entry, campaign: 'another', role: 'report', drawnAt: 7 };
  const known: KnownCampaign = {
    id: CAMPAIGN,
    service: SERVICE,
    name: 'A town',
    controller: 'Town Library',
    contact: '',
    privacyPolicy: '',
    choice: 'opt-in',
    chosenAt: 3,
  };

  test('has every campaign, also one whose name was never kept, the latest first', () => {
    const unused = { ...known, id: 'unused', name: 'B', chosenAt: 6 };
    const spent = { spent: 8, left: 0, relaySpent: 0, relayLeft: 16 };
    const account = { ...spent, entries: [entry, report], tokens: [] };
    const parts = ledgerParts([known, unused], account);
    expect(parts.map(({ id, entries }) => [id, entries])).toEqual([
      ['another', [report]],
      ['unused', []],
      [CAMPAIGN, [entry]],
    ]);
    expect(parts[0]).toMatchObject({ service: SERVICE, controller: '' });
    expect(parts[0]?.name).toContain('not known');
  });

  test('says what is raw and what is scrambled', () => {
    expect(entryTitle(entry)).toBe('2 searches as they are, not scrambled');
    expect(entryTitle({ ...entry, body: '{"records":[1]}' })).toContain('1 search as it is');
    expect(entryTitle({ ...entry, body: '' })).toContain('Your searches as they are');
    expect(entryTitle(report)).toContain('scrambled on this device');
  });

  test('says what ε means wherever it stands', () => {
    expect(costSentence(entry)).toMatch(/can read these.*55 times.*ε\s=\s4.*1 in 100,000 \(δ\)/);
    expect(costSentence({ ...entry, delta: '1e-7' })).toContain('1 in 10 million (δ)');
    expect(costSentence(report)).toMatch(/What this means.*55 times.*ε\s=\s4.*may fail/);
    expect(costSentence({ ...report, delta: '0.0' })).toContain('never fails');
    for (const state of ['unsent', 'uncertain', 'refused'] as const) {
      expect(costSentence({ ...entry, state })).toContain('if they arrived, the organisation can');
    }
  });

  test('says who collects, and what a campaign leaves out', () => {
    expect(collectorSentences(known)).toEqual([
      'Collected by Town Library.',
      'It gives no contact.',
    ]);
  });
});

test('lines in the address bar are text, whatever a query holds', () => {
  const link = {
    address: 'https://a.example/?a&b',
    shown: 'https://a.example/?a&b',
    probability: 1,
  };
  const found = [{ query: '<b> & "c"', probability: 0.5, links: [link], isCorrection: false }];
  expect(omniboxLines(found, true)).toEqual([
    {
      content: 'https://a.example/?a&b',
      description: '&#60;b&#62; &#38; &#34;c&#34; (50 %) → https://a.example/?a&#38;b',
    },
  ]);
  expect(omniboxLines(found, false)[0]?.description).toContain('<b> & "c" (50 %)');
  const turned = found.map((one) => ({ ...one, query: 'weather\u202egnp.exe' }));
  expect(omniboxLines(turned, true)[0]?.description).toContain('weather\ufffdgnp.exe (50 %)');
});

test('texts of others keep their lines and nothing else that is invisible', () => {
  expect(visibleLines('one\r\ntwo\n\u2067three\u0007')).toBe('one\ntwo\n\ufffdthree\ufffd');
});
