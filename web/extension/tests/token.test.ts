/** A campaign that counts every person once: the token, the code for it, and what is said. */
import { type LedgerEntry, memoryStorage, type Storage } from '@blender-dp/client';
import { beforeEach, describe, expect, test } from 'vitest';
import { digestOf, type Fields } from '../../client/src/canonical.js';
import { issuer } from '../../client/tests/issuer.js';
import { signedText } from '../../client/tests/service.js';
import { Device } from '../src/device/device.js';
import { NO_CODE } from '../src/device/problems.js';
import { entryState, ledgerParts, withdrawalSentence } from '../src/words/ledger.js';
import { entryTokenSentences, tokenSentences, waitingTokenSentence } from '../src/words/token.js';
import {
  CAMPAIGN,
  campaignDocument,
  FakeService,
  INVITATION,
  memoryArea,
  SERVICE,
  shownBy,
} from './service.js';

const DAY = 86_400_000;
const ISSUER = await issuer();
const KEY = Buffer.from(ISSUER.encoded).toString('base64url');
const ELSEWHERE = { issuer: { address: 'https://issuer.example/', public_key: KEY } };
const RECORD = { query: 'query 10', url: 'a.example' };
const SHOWS = 'it shows that you are one person. Nobody can tell by it which report is yours.';

let service: FakeService;
let area: ReturnType<typeof memoryArea>;
let ledger: Storage;
let now: number;

beforeEach(async () => {
  area = memoryArea();
  ledger = memoryStorage();
  now = Date.UTC(2026, 10, 18, 12);
  service = new FakeService();
  service.issuer = ISSUER;
  await offer({});
});

/** Has the service offer a campaign whose reports need a token. */
async function offer(changes: Fields): Promise<void> {
  const promised = { reports: 'token', ...changes };
  service.campaign = campaignDocument({ ...promised, state: 'list-published' });
  const description = await digestOf(campaignDocument(promised).description as Fields);
  service.headList = await signedText({
    list: (list) => ({ ...list, token_key: KEY }),
    document: (document) => ({ ...document, description }),
  });
}

function device(): Device {
  return new Device({ area, ledger, fetch: service.fetch, now: () => now });
}

async function chosen(code?: string): Promise<Device> {
  const one = device();
  expect(await one.invite(INVITATION)).toBeUndefined();
  expect(await one.choose('private', await shownBy(one), code)).toBeUndefined();
  await one.keep(RECORD);
  return one;
}

function openFor(changes: Fields = {}): void {
  service.campaign = campaignDocument({ reports: 'token', ...changes, state: 'clients-open' });
}

test('the token is fetched with the list, the report is made when the campaign opens, and sent later', async () => {
  const one = await chosen();
  expect(await one.check()).toBeUndefined();
  expect(service.asked.length).toBe(1);
  expect((await one.view()).account).toMatchObject({ entries: [], tokens: [{ isHere: true }] });
  expect(await one.nextSend()).toBeUndefined();
  openFor();
  expect(await device().check()).toBeUndefined();
  expect(service.reports).toEqual([]);
  const due = (await device().nextSend()) ?? 0;
  expect(due).toBeGreaterThanOrEqual(now);
  expect(due).toBeLessThan(now + DAY);
  now = due;
  expect(await device().send()).toBeUndefined();
  expect(service.reports.length).toBe(1);
  expect(JSON.parse(service.reports[0] ?? '')).toMatchObject({ token: expect.any(String) });
  expect(await device().nextSend()).toBeUndefined();
  now += 30 * DAY;
  await device().check();
  expect([service.asked.length, service.reports.length]).toEqual([1, 1]);
  for (const { address, body } of service.traffic) {
    expect(`${address} ${body}`).not.toContain('query 10');
  }
});

test('a person who chose nothing asks for no token', async () => {
  const one = device();
  await one.invite(INVITATION);
  await one.leaveUnused(await shownBy(one));
  await one.check();
  expect(service.asked).toEqual([]);
});

describe('a campaign that is not open to everybody', () => {
  const CLOSED = { open_enrolment: false };

  test('is chosen with a code, which goes with the request and nowhere else', async () => {
    await offer(CLOSED);
    const one = device();
    await one.invite(INVITATION);
    for (const code of [undefined, '', '  ']) {
      expect(await one.choose('private', await shownBy(one), code)).toBe(NO_CODE);
    }
    expect((await one.view()).settings.choice).toBe(null);
    await chosen(' a code ');
    expect(await device().check()).toBeUndefined();
    expect(service.asked.map(([, token]) => token)).toEqual(['Bearer a code']);
    const others = service.traffic.filter(({ address }) => !address.endsWith('/report-token'));
    expect(others.every(({ token }) => token === '')).toBe(true);
    expect(await one.choose('private', await shownBy(one)), 'it is remembered').toBeUndefined();
    await one.forgetEverything();
    expect(JSON.stringify([...area.kept])).not.toContain('a code');
  });

  test('needs none without tokens', async () => {
    service.campaign = campaignDocument(CLOSED);
    const one = device();
    await one.invite(INVITATION);
    expect(await one.choose('private', await shownBy(one))).toBeUndefined();
  });
});

test('another issuer is asked with its code; the service that collects is not', async () => {
  await offer(ELSEWHERE);
  const one = await chosen('a login');
  expect((await one.view()).settings.campaign?.issuer).toBe('https://issuer.example/');
  await one.check();
  expect(service.asked.map(([address, token]) => [address, token])).toEqual([
    [`https://issuer.example/v1/campaigns/${CAMPAIGN}/report-token`, 'Bearer a login'],
  ]);
});

test('an issuer with another key than the list names is told of, and nothing is reported', async () => {
  service.issuer = await issuer();
  openFor();
  const one = await chosen();
  expect(await one.check()).toBe('the issuer must sign with the key that the list names');
  expect(service.reports).toEqual([]);
});

describe('what is said', () => {
  const entry: LedgerEntry = {
    campaign: CAMPAIGN,
    role: 'report',
    service: SERVICE,
    madeFor: '',
    body: '{}',
    token: 'a token',
    epsilon: '4.0',
    delta: '0.0',
    drawnAt: 1,
    state: 'unsent',
    sendAfter: Date.UTC(2026, 10, 18, 13),
  };

  test('before choosing: what a token shows, who gives it, and what they learn', () => {
    const [what, who] = tokenSentences('https://issuer.example/');
    expect(what).toContain(SHOWS);
    expect(who).toContain('issuer.example signs the token without seeing it');
    expect(who).toContain('learns that you take part');
  });

  test('in the ledger: the token, and when its report is sent', () => {
    const [shows, waits, ...more] = entryTokenSentences(entry);
    expect(shows).toContain('Nobody can tell by it which report is yours');
    expect(waits).toContain('2026');
    expect(more).toEqual([]);
    expect(entryState(entry, undefined)).toContain('until its time comes');
    expect(entryState({ ...entry, state: 'sent' }, undefined)).toBe('Sent');
    const early = entry.drawnAt;
    expect(withdrawalSentence(entry, undefined, early)).toContain('If you choose “Nothing” before');
    expect(withdrawalSentence(entry, 'chosen', early)).toContain('cannot be taken back');
    expect(withdrawalSentence(entry, undefined)).toContain('cannot be taken back');
    expect(entryTokenSentences({ ...entry, state: 'sent' }).length).toBe(1);
    expect(entryTokenSentences({ ...entry, token: '' })).toEqual([]);
    expect(entryTokenSentences({ ...entry, role: 'contribution' })).toEqual([]);
  });

  test('a token that was asked for is in the ledger before any report is', () => {
    const token = { campaign: CAMPAIGN, service: SERVICE, isHere: false, askedAt: 7 };
    const budget = { spent: 0, left: 8, relaySpent: 0, relayLeft: 16, entries: [] };
    expect(ledgerParts([], { ...budget, tokens: [token] })).toMatchObject([
      { id: CAMPAIGN, service: SERVICE, at: 7, entries: [], token },
    ]);
    expect(waitingTokenSentence(token)).toContain('has not come yet');
    expect(waitingTokenSentence({ ...token, isHere: true })).toContain('it is here');
  });
});
