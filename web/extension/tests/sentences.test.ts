/** What people read before they decide: short sentences, one noun each, no contradiction. */
import { readFileSync } from 'node:fs';
import type { LedgerEntry, ListSummary, Role } from '@blender-dp/client';
import { describe, expect, test } from 'vitest';
import { longSentences, pageText } from '../../client/tests/sentences.js';
import { type Campaign, readCampaign } from '../src/device/collection.js';
import { DAYS_GATHERED } from '../src/device/opt-in.js';
import { costSentence, entryState, entryTitle, withdrawalSentence } from '../src/words/ledger.js';
import { relayExplained, relaySentences } from '../src/words/relay.js';
import { beliefSentence, NOT_SAID, oddsSentence, promiseSentence } from '../src/words/reports.js';
import { tokenSentences, waitingTokenSentence } from '../src/words/token.js';
import { CAMPAIGN, campaignDocument, RELAY, SERVICE } from './service.js';

const PAGES = ['welcome', 'privacy', 'options', 'popup'] as const;
const ODDS = { question: 'query', size: 41, named: 3, missed: 0.4 } as const;
const AT_RELAY = { address: RELAY, public_key: 'k'.repeat(43), least_batch: 20_000 };

function page(name: string): string {
  return readFileSync(new URL(`../src/${name}.html`, import.meta.url), 'utf8');
}

function words(name: string): string {
  return pageText(page(name)).replace(/\s+/g, ' ');
}

async function campaignOf(preset: string, hasRelay: boolean): Promise<Campaign> {
  const relay = { ...AT_RELAY, epsilon_cap: '8.0', dishonest: '0.2' };
  const parameters = { epsilon: '4.0', delta: '1e-07', preset };
  const text = JSON.stringify(campaignDocument({ parameters, ...(hasRelay && { relay }) }));
  const read = await readCampaign(text, CAMPAIGN);
  if (!read) throw new Error('no campaign');
  return read;
}

function entry(role: Role): LedgerEntry {
  const made = {
    campaign: CAMPAIGN,
    role,
    service: SERVICE,
    relay: RELAY,
    madeFor: '',
    body: '{}',
  };
  const cost = { epsilon: '4.0', delta: '1e-07', relayEpsilon: '8.0' };
  return { ...made, ...cost, token: '', drawnAt: 0, state: 'sent' };
}

/** Returns all that the scripts say about a campaign before, and when, something is sent. */
function saidOf(campaign: Campaign): readonly string[] {
  const { relay } = campaign;
  const odds = [ODDS, { ...ODDS, named: 1 }];
  const list: ListSummary | null = null;
  const token = { campaign: CAMPAIGN, service: SERVICE, isHere: false, askedAt: 7 };
  const roles = ['report', 'relayed', 'contribution'] as const;
  return [
    promiseSentence(campaign),
    beliefSentence(4, 0),
    beliefSentence(4, 1e-7),
    ...odds.map(oddsSentence),
    ...NOT_SAID,
    ...(relay ? [...relaySentences(campaign, relay), ...relayExplained(list, campaign)] : []),
    ...tokenSentences('https://issuer.example/'),
    waitingTokenSentence(token),
    ...roles.flatMap((role) => [
      entryTitle(entry(role)),
      costSentence(entry(role)),
      withdrawalSentence({ role, state: 'sent' }, undefined),
      withdrawalSentence({ role, state: 'unsent', sendAfter: 2 }, undefined, 1),
      withdrawalSentence({ role, state: 'withdrawn' }, undefined),
      entryState({ ...entry(role), state: 'unsent' }, 'chosen'),
      entryState({ ...entry(role), state: 'unsent' }, 'closed'),
      costSentence({ ...entry(role), state: 'unsent' }),
    ]),
  ];
}

test('a sentence that is too long is found, and a block ends one', () => {
  expect(longSentences(`${'word '.repeat(26)}end. Short one.`).length).toBe(1);
  expect(
    longSentences(pageText(`<p>${'word '.repeat(20)}</p>\n<p>${'word '.repeat(20)}</p>`)),
  ).toEqual([]);
  expect(
    longSentences(pageText(`<p>${'word '.repeat(20)}\n  <em>${'word '.repeat(20)}</em></p>`))
      .length,
  ).toBe(1);
});

describe('every sentence is short', () => {
  test.each(PAGES)('on the page %s', (name) => {
    expect(longSentences(pageText(page(name)))).toEqual([]);
  });

  test.each([
    ['sharp', false],
    ['sharp', true],
    ['paper', false],
  ])('of what is said under the preset %s, with a relay: %s', async (preset, hasRelay) => {
    expect(longSentences(saidOf(await campaignOf(preset, hasRelay)).join('\n\n'))).toEqual([]);
  });
});

test('one noun each: nobody reads of a collector or a service, or of randomised reports', async () => {
  const said = saidOf(await campaignOf('sharp', true));
  for (const text of [...PAGES.map(words), ...said]) {
    expect(text).not.toMatch(/\b(?:collector|services?|randomised|shuffle[sd]?)\b/i);
  }
});

test('no δ is written with an e', async () => {
  for (const text of saidOf(await campaignOf('paper', false))) expect(text).not.toMatch(/\de-?\d/);
});

describe('before deciding, people read', () => {
  test.each(['welcome', 'privacy'])('on %s what can be taken back and what cannot', (name) => {
    expect(words(name)).toContain('A report that was sent cannot be taken back.');
    expect(words(name)).toContain('for everything that is not sent yet');
    expect(words(name)).not.toContain('change your mind');
  });

  test('of the relay that a sent report cannot be taken back', async () => {
    const campaign = await campaignOf('sharp', true);
    expect(saidOf(campaign).join(' ')).toContain(
      'hands them over without names. A report that was sent cannot',
    );
  });

  test.each(['welcome', 'privacy'])('on %s that ticked searches go by themselves', (name) => {
    expect(words(name)).toContain(`${DAYS_GATHERED} days`);
    expect(words(name)).toContain('by themselves');
    expect(words(name)).toContain('the last day for this choice');
  });

  test('who gets something besides the organisation', () => {
    expect(words('privacy')).not.toContain('nobody else');
    expect(words('privacy')).not.toContain('that you ticked');
    expect(words('privacy')).toContain('New searches are ticked for you');
    expect(words('privacy')).toContain('or another server that the campaign names');
  });
});
