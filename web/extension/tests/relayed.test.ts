/** The choice of a relay: who may choose it, what goes where, and what is said of it. */
import { type LedgerEntry, memoryStorage, type Storage } from '@blender-dp/client';
import { beforeEach, describe, expect, test } from 'vitest';
import { digestOf, type Fields } from '../../client/src/canonical.js';
import { DESCRIBED_RELAY, signedText, withRelay } from '../../client/tests/service.js';
import { readCampaign } from '../src/device/collection.js';
import { Device } from '../src/device/device.js';
import { hostPattern } from '../src/device/invitation.js';
import { NO_RELAY, REPORTED } from '../src/device/problems.js';
import { costSentence, entryTitle, withdrawalSentence } from '../src/words/ledger.js';
import { relayExplained, relaySentences } from '../src/words/relay.js';
import {
  CAMPAIGN,
  campaignDocument,
  FakeService,
  INVITATION,
  memoryArea,
  RELAY,
  SERVICE,
  shownBy,
} from './service.js';

const DAY = 86_400_000;
const RECORD = { query: 'query 10', url: 'a.example' };
const WITH_RELAY = { relay: DESCRIBED_RELAY };
const PROMISES = { epsilon: '4.0', delta: '1e-05', reportEpsilon: '7.653' };
const DIGEST = await digestOf(campaignDocument(WITH_RELAY).description as Fields);
const LIST = await signedText(withRelay(DIGEST, PROMISES));
let service: FakeService;
let area: ReturnType<typeof memoryArea>;
let ledger: Storage;
let now: number;

beforeEach(() => {
  service = new FakeService();
  service.campaign = campaignDocument({ ...WITH_RELAY, state: 'clients-open' });
  service.headList = LIST;
  area = memoryArea();
  ledger = memoryStorage();
  now = Date.UTC(2026, 10, 15, 12);
});

function device(): Device {
  return new Device({ area, ledger, fetch: service.fetch, now: () => now });
}

async function chosen(): Promise<Device> {
  const one = device();
  expect(await one.invite(INVITATION)).toBeUndefined();
  expect(await one.choose('relayed', await shownBy(one))).toBeUndefined();
  await one.keep(RECORD);
  return one;
}

describe('a person who chooses the relay', () => {
  test('sends one encrypted report there, and nothing else to anybody', async () => {
    const one = await chosen();
    expect((await one.view()).records.length).toBe(1);
    expect(await one.check()).toBeUndefined();
    now += 30 * DAY;
    expect(await device().check()).toBeUndefined(); // after a restart too
    expect(service.relayed.length).toBe(1);
    expect(Object.keys(JSON.parse(service.relayed[0] ?? ''))).toEqual([
      'version',
      'head_list',
      'encryption_key',
      'report',
    ]);
    expect(service.reports).toEqual([]);
    expect(service.uploads).toEqual([]);
    const toRelay = service.traffic.filter(({ address }) => address.startsWith(RELAY));
    expect(toRelay.length).toBe(1);
    for (const { address, body } of service.traffic) {
      expect(`${address} ${body}`).not.toContain('query 10');
    }
    const { account, settings } = await one.view();
    expect(account.entries).toMatchObject([{ role: 'relayed', state: 'sent', relay: RELAY }]);
    expect(account.spent).toBe(4);
    expect(account.relaySpent).toBeCloseTo(7.653, 3);
    expect(settings.list?.relay?.relayEpsilon).toBeCloseTo(7.653, 3);
  });

  test('changes to no other group of the campaign afterwards', async () => {
    const one = await chosen();
    await one.check();
    const shown = await shownBy(one);
    expect(await one.choose('private', shown)).toBe(REPORTED);
    expect(await one.choose('opt-in', shown)).toBe(REPORTED);
    expect((await one.view()).settings.choice).toBe('relayed');
  });

  test('may change before anything was sent', async () => {
    const one = await chosen();
    expect(await one.choose('private', await shownBy(one))).toBeUndefined();
    await one.check();
    expect([service.reports.length, service.relayed.length]).toEqual([1, 0]);
    expect(await one.choose('relayed', await shownBy(one))).toBe(REPORTED);
  });

  test('sends nothing once the campaign promises something else', async () => {
    const one = await chosen();
    const relay = { ...DESCRIBED_RELAY, least_batch: 20 };
    service.campaign = campaignDocument({ relay, state: 'clients-open' });
    expect(await one.check()).toBeDefined();
    expect(service.relayed).toEqual([]);
  });
});

test('a campaign without a relay has no such choice', async () => {
  service.campaign = campaignDocument();
  const one = device();
  await one.invite(INVITATION);
  expect(await one.choose('relayed', await shownBy(one))).toBe(NO_RELAY);
  expect((await one.view()).settings.choice).toBeNull();
});

test('a campaign whose relay cannot be read is not shown at all', async () => {
  const broken = campaignDocument({ relay: { ...DESCRIBED_RELAY, address: 'javascript:1' } });
  expect(await readCampaign(JSON.stringify(broken), CAMPAIGN)).toBeUndefined();
});

test('the browser is asked for the host of the relay', () => {
  expect(hostPattern('http://127.0.0.1:8099/mixing/')).toBe('http://127.0.0.1/*');
  expect(hostPattern(RELAY)).toBe('https://relay.example/*');
});

describe('words', () => {
  const entry: LedgerEntry = {
    campaign: CAMPAIGN,
    role: 'relayed',
    service: SERVICE,
    relay: RELAY,
    madeFor: '',
    body: '{}',
    token: '',
    epsilon: '4.0',
    delta: '1e-05',
    relayEpsilon: '7.652999',
    drawnAt: 0,
    state: 'sent',
  };
  const BOTH =
    /do not work together.*55 times.*ε\s=\s4.*1 in 100,000 \(δ\).*If they do work together.*ε\s=\s/;

  test('the choice is explained, with both numbers', async () => {
    const text = JSON.stringify(campaignDocument(WITH_RELAY));
    const campaign = await readCampaign(text, CAMPAIGN);
    if (!campaign?.relay) throw new Error('no relay');
    const [how, promise] = relaySentences(campaign, campaign.relay);
    expect(how).toMatch(
      /locked, so that only the organisation.*relay\.example.*at least 20,000 such reports/,
    );
    expect(promise).toMatch(BOTH);
    expect(promise).toMatch(
      /If they do work together, .* at most 2,981 times more likely \(ε\s=\s8\)\./,
    );
    expect(promise).toContain('can be 99.967\u00a0% sure at most');
    expect(relayExplained(null, campaign)[0]).toBe(promise);
  });

  test('the ledger says both numbers, and that nothing can be taken back', () => {
    expect(entryTitle(entry)).toContain('through the relay relay.example');
    expect(costSentence(entry)).toMatch(BOTH);
    expect(costSentence(entry)).toMatch(/at most 2,107 times more likely \(ε\s=\s7\.653\)/);
    expect(withdrawalSentence({ role: 'relayed', state: 'sent' }, undefined)).toContain(
      'cannot be taken back',
    );
  });
});
