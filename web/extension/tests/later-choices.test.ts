/** A later choice: what waits is sent or not, as the person chose last, and no longer recorded. */
import { memoryStorage, type Storage } from '@blender-dp/client';
import { beforeEach, describe, expect, test } from 'vitest';
import { digestOf, type Fields } from '../../client/src/canonical.js';
import { signedText } from '../../client/tests/service.js';
import { Device } from '../src/device/device.js';
import { DAYS_KEPT } from '../src/device/records.js';
import { costSentence, entryState } from '../src/words/ledger.js';
import {
  CAMPAIGN,
  campaignDocument,
  FakeService,
  INVITATION,
  memoryArea,
  OTHER_INVITATION,
  SERVICE,
  shownBy,
} from './service.js';

const DAY = 86_400_000;
const RECORD = { query: 'old town', url: 'https://town.example/' };
const ELSEWHERE = OTHER_INVITATION.replace(SERVICE, 'https://elsewhere.example');
let service: FakeService;
let area: ReturnType<typeof memoryArea>;
let ledger: Storage;
let now: number;
let isOnline: boolean;

beforeEach(async () => {
  service = new FakeService();
  service.campaign = campaignDocument({ state: 'clients-open' });
  const description = await digestOf(campaignDocument().description as Fields);
  service.headList = await signedText({ document: (document) => ({ ...document, description }) });
  area = memoryArea();
  ledger = memoryStorage();
  now = Date.UTC(2026, 10, 15, 12);
  isOnline = true;
});

function device(): Device {
  const fetch: FakeService['fetch'] = async (address, options) => {
    if (!isOnline && options.method === 'POST') throw new TypeError('network error');
    return service.fetch(address.replace('https://elsewhere.example', SERVICE), options);
  };
  return new Device({ area, ledger, fetch, now: () => now });
}

async function choose(choice: 'private' | 'opt-in', link = INVITATION): Promise<Device> {
  const one = device();
  expect(await one.invite(link)).toBeUndefined();
  expect(await one.choose(choice, await shownBy(one))).toBeUndefined();
  return one;
}

/** Makes a report, or a contribution, that cannot be sent. */
async function makeUnsent(choice: 'private' | 'opt-in'): Promise<void> {
  const one = await choose(choice);
  await one.keep(RECORD);
  isOnline = choice === 'opt-in';
  if (choice === 'opt-in') service.answers = [503];
  await (choice === 'opt-in' ? one.contributeNow() : one.check());
  isOnline = true;
  expect((await one.view()).account.entries).toMatchObject([{ state: 'unsent' }]);
}

describe('a report that could not be sent', () => {
  test('is sent later, whatever campaign of whatever organisation was taken up since', async () => {
    await makeUnsent('private');
    const one = await choose('opt-in', ELSEWHERE);
    await one.send();
    expect(service.reports.length).toBe(1);
  });

  test.each([
    ['for its campaign', true],
    ['while another one was shown', false],
  ])('is not sent by whoever chose nothing %s', async (_, isSame) => {
    await makeUnsent('private');
    const one = device();
    if (!isSame) await one.invite(OTHER_INVITATION);
    await one.leaveUnused(await shownBy(one));
    await one.check();
    await (await choose('private', OTHER_INVITATION)).send();
    expect(service.reports).toEqual([]);
    await (await choose('private')).check();
    expect(service.reports.length, 'who chose it again').toBe(1);
  });

  test('wakes nobody for it after that', async () => {
    await makeUnsent('private');
    await ledger.update((kept) => ({
      ledger: { ...kept, entries: kept.entries.map((entry) => ({ ...entry, sendAfter: now })) },
      value: undefined,
    }));
    expect(await device().nextSend()).toBe(now);
    await device().leaveUnused(null);
    expect(await device().nextSend()).toBeUndefined();
  });
});

test('what is not sent any more is not promised', async () => {
  await makeUnsent('private');
  const [entry] = (await device().view()).account.entries;
  if (!entry) throw new Error('no entry');
  expect(entryState(entry, undefined)).toContain('sent again until it arrives');
  expect(entryState(entry, 'chosen')).toContain('not sent again');
  expect(entryState({ ...entry, sendAfter: now }, 'chosen')).toContain('not sent again');
  expect(entryState({ ...entry, state: 'sent' }, 'chosen')).toBe('Sent');
});

test('of searches that were withdrawn nobody says that they can be read', async () => {
  service.campaign = campaignDocument();
  const one = await choose('opt-in');
  await one.keep(RECORD);
  await one.contributeNow();
  const [before] = (await one.view()).account.entries;
  await one.withdraw(CAMPAIGN);
  const [after] = (await one.view()).account.entries;
  expect(before && costSentence(before)).toContain('can read these searches');
  expect(after && costSentence(after)).toContain('may have read these searches before');
});

test('whoever chooses nothing gets the result at once, if there is one', async () => {
  service.campaign = campaignDocument({ state: 'released' });
  const one = device();
  await one.invite(INVITATION);
  await one.leaveUnused(await shownBy(one));
  expect(service.traffic.at(-1)?.line).toBe('GET /release');
});

test('the result of a campaign that was purged after it is fetched; of one given up, none', async () => {
  service.campaign = campaignDocument({ state: 'purged' });
  const one = device();
  await one.invite(INVITATION);
  await one.leaveUnused(await shownBy(one));
  expect(service.traffic.at(-1)?.line).toBe('GET /release');
  expect((await one.view()).settings.problem, 'that there is none').toBeNull();
});

test('a report that waits is not sent to a campaign that is over', async () => {
  await makeUnsent('private');
  service.campaign = campaignDocument({ state: 'clients-sealed' });
  await device().check();
  await device().check();
  expect(service.reports).toEqual([]);
});

describe('a choice that nothing would follow from is refused', () => {
  test.each([
    ['opt-in', { epsilon: '8.5', delta: '1e-05' }],
    ['private', { epsilon: '8.5', delta: '1e-05' }],
    ['opt-in', { epsilon: '4.0', delta: '0.0001' }],
  ] as const)('%s where the campaign asks for %o', async (choice, parameters) => {
    service.campaign = campaignDocument({ parameters });
    const one = device();
    await one.invite(INVITATION);
    expect(await one.choose(choice, await shownBy(one))).toContain('than this extension allows');
    expect((await one.view()).settings.choice).toBeNull();
  });

  test('to opt in again after a withdrawal', async () => {
    service.campaign = campaignDocument();
    const one = await choose('opt-in');
    await one.keep(RECORD);
    await one.contributeNow();
    await one.withdraw(CAMPAIGN);
    expect(await one.choose('opt-in', await shownBy(one))).toContain('which is for good');
    expect(await one.choose('private', await shownBy(one))).toBeUndefined();
  });
});

describe('nothing is recorded', () => {
  test('to opt in where searches are taken no more', async () => {
    service.campaign = campaignDocument();
    const one = await choose('opt-in');
    expect(await one.isRecording()).toBe(true);
    service.campaign = campaignDocument({ state: 'opt-in-sealed' });
    await one.check();
    expect(await one.isRecording()).toBe(false);
    expect(await (await choose('private')).isRecording()).toBe(true);
  });

  test('for a report that searches sent as they are forbid', async () => {
    service.campaign = campaignDocument();
    const one = await choose('opt-in');
    await one.keep(RECORD);
    await one.contributeNow();
    await choose('private');
    expect(await device().isRecording()).toBe(false);
  });

  test.each(['private', 'opt-in'] as const)('once what is sent was made: %s', async (choice) => {
    if (choice === 'opt-in') service.campaign = campaignDocument();
    await makeUnsent(choice);
    expect(await device().isRecording()).toBe(false);
    await device().keep({ ...RECORD, query: 'after that' });
    expect((await device().records.read()).map(({ query }) => query)).toEqual([RECORD.query]);
  });

  test('by whoever withdrew, until they choose again', async () => {
    service.campaign = campaignDocument();
    const one = await choose('opt-in');
    await one.keep(RECORD);
    await one.contributeNow();
    expect(await one.withdraw(CAMPAIGN)).toBeUndefined();
    expect(await one.isRecording()).toBe(false);
    expect(await (await choose('private')).isRecording()).toBe(true);
  });
});

test('searches are gone after 90 days, though nobody searches any more', async () => {
  const one = await choose('private', OTHER_INVITATION);
  await one.keep(RECORD);
  now += DAYS_KEPT * DAY - 1;
  expect((await one.view()).records.length).toBe(1);
  now += 1;
  await one.send();
  expect(await one.records.read()).toEqual([]);
  await one.keep(RECORD);
  now += DAYS_KEPT * DAY;
  expect((await device().view()).records).toEqual([]);
});
