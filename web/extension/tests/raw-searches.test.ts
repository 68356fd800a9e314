/** Which searches are sent as they are, and what the device remembers of campaigns. */
import { memoryStorage, type Storage } from '@blender-dp/client';
import { beforeEach, describe, expect, test } from 'vitest';
import { Device } from '../src/device/device.js';
import { NO_CODE } from '../src/device/problems.js';
import {
  CAMPAIGN,
  campaignDocument,
  FakeService,
  INVITATION,
  memoryArea,
  OTHER,
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

beforeEach(() => {
  service = new FakeService();
  area = memoryArea();
  ledger = memoryStorage();
  now = Date.UTC(2026, 10, 15, 12);
});

function device(): Device {
  return new Device({ area, ledger, fetch: service.fetch, now: () => now });
}

async function agree(): Promise<string | undefined> {
  return device().choose('opt-in', await shownBy(device()));
}

async function optedIn(): Promise<Device> {
  const one = device();
  expect(await one.invite(INVITATION)).toBeUndefined();
  expect(await agree()).toBeUndefined();
  await one.keep(RECORD);
  return one;
}

describe('a campaign that is not open to all', () => {
  beforeEach(() => {
    service.campaign = campaignDocument({ open_enrolment: false });
  });

  async function optIn(code?: string): Promise<string | undefined> {
    await device().invite(INVITATION);
    const problem = await device().choose('opt-in', await shownBy(device()), code);
    if (!problem) await device().keep(RECORD);
    return problem;
  }

  test('takes searches with the code that the person was given, and without one not', async () => {
    expect(await optIn()).toBe(NO_CODE);
    expect(await optIn(' my code ')).toBeUndefined();
    expect(await device().contributeNow()).toBeUndefined();
    expect([...service.held.keys()]).toEqual(['Bearer my code']);
    expect(service.traffic.some(({ line }) => line === 'POST /enrol')).toBe(false);
  });

  test('is told the right code after a wrong one, and gets the searches once', async () => {
    await optIn('wrong');
    service.answers = [401];
    expect(await device().contributeNow()).toContain('code is not known');
    expect(await optIn('right')).toBeUndefined();
    expect(await device().contributeNow()).toBeUndefined();
    expect([...service.held.keys()]).toEqual(['Bearer right']);
  });

  test('does not show the code of opting in to another issuer', async () => {
    const issuer = { address: 'https://issuer.example/', public_key: 'k'.repeat(43) };
    service.campaign = campaignDocument({ open_enrolment: false, reports: 'token', issuer });
    expect(await optIn('for the organisation')).toBeUndefined();
    expect(await device().choose('private', await shownBy(device()))).toBe(NO_CODE);
  });
});

describe('searches that are sent as they are', () => {
  const sent = () => service.uploads.map((body) => JSON.parse(body).records);
  const EARLIER = { query: 'earlier', url: 'https://earlier.example/' };

  async function privateFirst(): Promise<void> {
    await device().invite(OTHER_INVITATION);
    await device().choose('private', await shownBy(device()));
    await device().keep(EARLIER);
    await device().invite(INVITATION);
    now += DAY;
    expect(await agree()).toBeUndefined();
  }

  test('are those made after the person agreed', async () => {
    await privateFirst();
    expect(await device().contributeNow()).toContain('no search is ticked');
    expect([sent(), (await device().view()).account.entries]).toEqual([[], []]);
    await device().keep(RECORD);
    expect(await device().contributeNow()).toBeUndefined();
    expect(sent()).toEqual([[RECORD]]);
  });

  test('are older ones too if the person ticks them, and none that is unticked', async () => {
    await privateFirst();
    await device().keep(RECORD);
    const [earlier, later] = await device().records.read();
    await device().tickRecord(earlier?.at ?? 0, true);
    await device().tickRecord(later?.at ?? 0, false);
    expect(await device().contributeNow()).toBeUndefined();
    expect(sent()).toEqual([[EARLIER]]);
  });

  test('are not those made under another choice in between', async () => {
    await optedIn();
    await device().choose('private', await shownBy(device()));
    await device().keep(EARLIER);
    now += 1;
    expect(await agree()).toBeUndefined();
    expect(await device().contributeNow()).toContain('no search is ticked');
  });

  test('are still those made before the same was chosen again', async () => {
    await optedIn();
    now += DAY;
    expect(await agree()).toBeUndefined();
    expect(await device().contributeNow()).toBeUndefined();
    expect(sent()).toEqual([[RECORD]]);
  });

  test('are not those made for another campaign, nor when the clock was set back', async () => {
    await optedIn();
    now -= 30 * DAY;
    await device().invite(OTHER_INVITATION);
    expect(await agree()).toBeUndefined();
    expect(await device().contributeNow()).toContain('no search is ticked');
  });

  test('are none after the person took private reports instead', async () => {
    const one = await optedIn();
    await one.choose('private', await shownBy(one));
    expect(await one.contributeNow()).toContain('have not agreed');
    now += 30 * DAY;
    await one.check();
    expect(service.uploads).toEqual([]);
  });

  test('are never an empty contribution, even on the last day', async () => {
    await device().invite(INVITATION);
    await agree();
    now += 30 * DAY;
    expect(await device().check()).toBeUndefined();
    expect(service.uploads).toEqual([]);
  });
});

describe('the campaigns that a person chose for', () => {
  test('are remembered, each with who collects, and each can be left by itself', async () => {
    const one = await optedIn();
    await one.contributeNow();
    await one.invite(OTHER_INVITATION);
    await one.choose('private', await shownBy(one));
    const { campaigns, account } = await one.view();
    expect(campaigns.map(({ name, choice }) => [name, choice])).toEqual([
      ['A town', 'opt-in'],
      ['Another town', 'private'],
    ]);
    expect(campaigns[0]).toMatchObject({ controller: 'Town Library', service: SERVICE });
    expect(account).toMatchObject({ spent: 4, left: 4 });
    expect(await one.withdraw(OTHER)).toContain('nothing to withdraw');
    expect(await one.withdraw(CAMPAIGN)).toBeUndefined();
    expect(service.traffic.at(-1)).toMatchObject({ address: `${INVITATION}/opt-in` });
    expect(service.held.size).toBe(0);
  });

  test('are forgotten with everything else if they got nothing', async () => {
    const one = await optedIn();
    await one.contributeNow();
    await one.invite(OTHER_INVITATION);
    await one.choose('private', await shownBy(one));
    expect(await one.forgetEverything()).toBeUndefined();
    expect((await one.view()).campaigns.map(({ id }) => id)).toEqual([CAMPAIGN]);
  });

  test('are not shown at all if the ledger cannot be read', async () => {
    ledger = { update: () => Promise.reject(new Error('no')) };
    await expect(device().view()).rejects.toThrow();
  });
});
