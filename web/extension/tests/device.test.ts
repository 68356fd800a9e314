/** What a device records, sends and forgets. */
import { memoryStorage, type Storage, textDigest } from '@blender-dp/client';
import { beforeEach, describe, expect, test } from 'vitest';
import { Device } from '../src/device/device.js';
import { hostPattern, linkOf, readInvitation } from '../src/device/invitation.js';
import { Kept } from '../src/device/kept.js';
import { drawRecord, type KeptRecord, MOST_RECORDS, withRecord } from '../src/device/records.js';
import {
  CAMPAIGN,
  CONSENT_TEXT,
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
let service: FakeService;
let area: ReturnType<typeof memoryArea>;
let ledger: Storage;
let now: number;

function device(): Device {
  return new Device({ area, ledger, fetch: service.fetch, now: () => now });
}

async function optedIn(): Promise<Device> {
  const one = device();
  expect(await one.invite(INVITATION)).toBeUndefined();
  expect(await one.choose('opt-in', await shownBy(one))).toBeUndefined();
  await one.keep(RECORD);
  return one;
}

beforeEach(() => {
  service = new FakeService();
  area = memoryArea();
  ledger = memoryStorage();
  now = Date.UTC(2026, 10, 15, 12);
});

describe('an invitation', () => {
  test('names a service, a campaign, and perhaps a key', () => {
    const key = 'k'.repeat(43);
    const invitation = { service: SERVICE, campaign: CAMPAIGN, publicKey: null };
    expect(readInvitation(` ${INVITATION}/ `)).toEqual(invitation);
    expect(readInvitation(`${INVITATION}#${key}`)).toEqual({ ...invitation, publicKey: key });
    const inFolder = readInvitation(INVITATION.replace('/v1', '/folder/v1'));
    expect(inFolder?.service).toBe(`${SERVICE}/folder`);
    expect(readInvitation(linkOf({ ...invitation, publicKey: key }))).toEqual({
      ...invitation,
      publicKey: key,
    });
    expect(hostPattern(invitation.service)).toBe('https://collect.example/*');
  });

  test.each([
    `${SERVICE}/join/${CAMPAIGN}`,
    `${SERVICE}/join/${CAMPAIGN}/`,
    `${SERVICE}/#/campaigns/${CAMPAIGN}`,
    `${SERVICE}/#/campaigns/${CAMPAIGN}/head-list`,
  ])('may be the address of a page: %s', (text) => {
    const invitation = { service: SERVICE, campaign: CAMPAIGN, publicKey: null };
    expect(readInvitation(text)).toEqual(invitation);
    const inFolder = text.replace(SERVICE, `${SERVICE}/folder`);
    expect(readInvitation(inFolder)?.service).toBe(`${SERVICE}/folder`);
  });

  test.each([
    'nonsense',
    `${SERVICE}/#/campaigns/1`,
    `javascript://collect.example/join/${CAMPAIGN}`,
    INVITATION.replace('https', 'http'),
    INVITATION.replace('https', 'ftp'),
    INVITATION.replace('https://', 'https://somebody@'),
    `${INVITATION}?a=b`,
    `${INVITATION}#short`,
    `${INVITATION}/release`,
    `${SERVICE}/v1/campaigns/1`,
  ])('%s is none', (text) => {
    expect(readInvitation(text)).toBeUndefined();
  });

  test('a service on this computer may be without https', () => {
    const text = INVITATION.replace('https://collect.example', 'http://127.0.0.1:8080');
    expect(readInvitation(text)?.service).toBe('http://127.0.0.1:8080');
  });

  test('a campaign that cannot be read is not taken up', async () => {
    service.campaign = campaignDocument({ consent: null });
    expect(await device().invite(INVITATION)).toContain('cannot be reached');
    expect(await device().settings.read()).toMatchObject({ invitation: null, offer: null });
  });

  test('that is only looked up changes nothing', async () => {
    const one = await optedIn();
    const before = await one.settings.read();
    expect(await one.invite(OTHER_INVITATION)).toBeUndefined();
    const { offer, ...after } = await one.settings.read();
    expect(offer?.campaign.name).toBe('Another town');
    expect({ ...after, offer: null }).toEqual(before);
  });
});

describe('before a choice', () => {
  test('nothing is recorded, and nothing is sent', async () => {
    const one = device();
    await one.invite(INVITATION);
    await one.keep(RECORD);
    now += 30 * DAY;
    expect(await one.check()).toBeUndefined();
    expect(await one.records.read()).toEqual([]);
    expect(service.traffic.every(({ line }) => line === 'GET ')).toBe(true);
  });

  test('nobody can choose a campaign that was not looked up', async () => {
    expect(await device().choose('private', await shownBy(device()))).toContain('look up its link');
    expect(await device().choose('opt-in', 'sha256:1')).toContain('look up its link');
  });

  test('nobody can choose another campaign than the one that was shown', async () => {
    const one = device();
    await one.invite(INVITATION);
    const shown = await shownBy(one);
    await one.invite(OTHER_INVITATION); // in another tab
    expect(await one.choose('opt-in', shown)).toContain('not the one shown here');
    expect(await one.choose('private', shown)).toContain('not the one shown here');
    expect((await one.settings.read()).choice).toBeNull();
    await one.leaveUnused(shown);
    expect(await one.settings.read()).toMatchObject({ choice: 'nothing', invitation: null });
  });

  test('the digest of a consent is computed from its text, never believed', async () => {
    const one = device();
    await one.invite(INVITATION);
    const { offer } = await one.settings.read();
    expect(offer?.campaign.consent.digest).toBe(await textDigest(CONSENT_TEXT));
  });
});

describe('who opted in', () => {
  test('has the receipt and the records sent, once', async () => {
    const one = await optedIn();
    expect(await one.contributeNow()).toBeUndefined();
    expect(service.uploads.map((body) => JSON.parse(body))).toEqual([
      {
        version: 1,
        consent: {
          version: '1',
          text_digest: await textDigest(CONSENT_TEXT),
          given_at: '2026-11-15T12:00:00Z',
        },
        records: [RECORD],
      },
    ]);
    expect(await one.contributeNow()).toContain('nothing more to send');
    expect(service.uploads.length).toBe(1);
  });

  test.each([
    ['after a week', null, 7],
    ['on the last day', 4, 3],
  ])('has it sent by itself %s, and not before', async (_, lastDay, days) => {
    const until = lastDay === null ? null : new Date(now + lastDay * DAY).toISOString();
    service.campaign = campaignDocument({ rules: { opt_in_until: until } });
    const one = await optedIn();
    now += days * DAY - 1;
    await one.check();
    expect(service.uploads).toEqual([]);
    now += 1;
    await one.check();
    expect(service.uploads.length).toBe(1);
  });

  test('has the same bytes sent again when there was no answer, after a restart too', async () => {
    service.answers = [0, 503, 201];
    const one = await optedIn();
    expect(await one.contributeNow()).toContain('later');
    await one.keep({ query: 'came later', url: 'https://later.example/' });
    expect(await device().contributeNow()).toContain('later');
    expect(await device().contributeNow()).toBeUndefined();
    expect(service.uploads.length).toBe(3);
    expect(new Set(service.uploads).size).toBe(1);
    expect(new Set(service.traffic.map(({ token }) => token))).toEqual(
      new Set(['', 'Bearer token 1']),
    );
  });

  test('is asked again when the text has changed', async () => {
    const one = await optedIn();
    service.campaign = campaignDocument({ consent: { version: '2', text: 'More.' } });
    await one.refreshCampaign();
    expect(await one.contributeNow()).toContain('has changed');
    expect(service.uploads).toEqual([]);
  });

  test('may withdraw, and then sends nothing more', async () => {
    const one = await optedIn();
    expect(await one.withdraw(CAMPAIGN)).toContain('nothing to withdraw');
    await one.contributeNow();
    expect(await one.withdraw(CAMPAIGN)).toBeUndefined();
    expect(await one.contributeNow()).toContain('nothing more to send');
    expect((await one.view()).account.entries).toMatchObject([{ state: 'withdrawn', body: '' }]);
  });

  test('is told when the service says no', async () => {
    service.answers = [422];
    const one = await optedIn();
    expect(await one.contributeNow()).toContain('did not take');
    expect((await one.settings.read()).problem).toContain('did not take');
  });
});

test('nothing is recorded for a campaign that is over', async () => {
  service.campaign = campaignDocument({ state: 'released' });
  await device().invite(INVITATION);
  await device().choose('private', await shownBy(device()));
  await device().keep(RECORD);
  expect(await device().records.read()).toEqual([]);
});

describe('records', () => {
  test('are kept for ninety days, in order, each with a time of its own', () => {
    let records: readonly KeptRecord[] = [];
    for (const at of [0, 0, 50 * DAY, 91 * DAY]) records = withRecord(records, RECORD, at);
    expect(records.map(({ at }) => at)).toEqual([50 * DAY, 91 * DAY]);
    expect(withRecord(withRecord([], RECORD, 5), RECORD, 5).map(({ at }) => at)).toEqual([5, 6]);
    const many = Array.from({ length: MOST_RECORDS }, (_, at) => ({ ...RECORD, at }));
    expect(withRecord(many, RECORD, MOST_RECORDS).length).toBe(MOST_RECORDS);
  });

  test('every record can be drawn, and none is drawn of none', () => {
    const records = [1, 2, 3].map((at) => ({ query: `${at}`, url: 'u', at }));
    const drawn = [0x00, 0x40, 0x80].map((byte) =>
      drawRecord(records, (count) => new Uint8Array(count).fill(byte)),
    );
    expect(drawn).toEqual(['1', '2', '3'].map((query) => ({ query, url: 'u' })));
    expect(drawRecord([], () => new Uint8Array())).toBeNull();
  });

  test('one can be deleted, and all are when nothing is chosen', async () => {
    const one = await optedIn();
    await one.keep({ query: 'other', url: 'https://other.example/' });
    await one.forgetRecord(now);
    expect((await one.records.read()).map(({ query }) => query)).toEqual(['other']);
    await one.leaveUnused(null);
    expect(await one.records.read()).toEqual([]);
  });

  test('clicks at the same moment are all kept', async () => {
    const one = await optedIn();
    await Promise.all(Array.from({ length: 20 }, () => one.keep(RECORD)));
    expect((await one.records.read()).length).toBe(21);
  });
});

test('a change that fails does not stop the next', async () => {
  const kept = new Kept(area, 'number', 1);
  const failing = kept.change(() => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await kept.change((value) => value + 1)).toBe(2);
});
