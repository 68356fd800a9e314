/** Nobody in two groups: the extension's ways to contribute, report, withdraw and forget. */
import { memoryStorage, type Storage } from '@blender-dp/client';
import { beforeEach, describe, expect, test } from 'vitest';
import { digestOf, type Fields } from '../../client/src/canonical.js';
import { signedText } from '../../client/tests/service.js';
import { Device } from '../src/device/device.js';
import {
  CAMPAIGN,
  campaignDocument,
  FakeService,
  INVITATION,
  memoryArea,
  shownBy,
} from './service.js';

const DAY = 86_400_000;
const RECORD = { query: 'old town', url: 'https://town.example/' };
let service: FakeService;
let area: ReturnType<typeof memoryArea>;
let ledger: Storage;
let now: number;

beforeEach(async () => {
  service = new FakeService();
  service.headList = await listBoundTo(campaignDocument().description);
  area = memoryArea();
  ledger = memoryStorage();
  now = Date.UTC(2026, 10, 15, 12);
});

async function listBoundTo(described: object): Promise<string> {
  const description = await digestOf(described as Fields);
  return signedText({ document: (document) => ({ ...document, description }) });
}

function device(): Device {
  return new Device({ area, ledger, fetch: service.fetch, now: () => now });
}

async function optIn(): Promise<string | undefined> {
  const one = device();
  expect(await one.invite(INVITATION)).toBeUndefined();
  const problem = await one.choose('opt-in', await shownBy(one));
  if (!problem) await one.keep(RECORD);
  return problem;
}

/** Chooses private reports when the campaign takes them, and does all that alarms do. */
async function reportPrivately(): Promise<string | undefined> {
  service.campaign = campaignDocument({ state: 'clients-open' });
  const one = device();
  await one.invite(INVITATION);
  await one.choose('private', await shownBy(one));
  return one.check();
}

test('who was told that a report has no δ is asked for none that has one', async () => {
  const parameters = { epsilon: '4.0', delta: '1e-05', preset: 'sharp' };
  const promised = campaignDocument({ parameters, state: 'clients-open' });
  const description = await digestOf(promised.description as Fields);
  const paper = { name: 'local-alg', version: 1, epsilon: '4.0', delta: '1e-05' };
  const mechanism = { ...paper, query_budget_fraction: '0.85', records_per_client: 1 };
  service.headList = await signedText({
    list: (list) => ({ ...list, mechanism }),
    document: (document) => ({ ...document, description }),
  });
  service.campaign = promised;
  const one = device();
  await one.invite(INVITATION);
  await one.choose('private', await shownBy(one));
  expect(await one.check()).toContain('what the campaign promises has changed');
  expect(service.reports).toEqual([]);
});

test('without a contribution the same device reports', async () => {
  expect(await reportPrivately()).toBeUndefined();
  expect(service.reports.length).toBe(1);
});

describe('no report follows a contribution', () => {
  test.each([
    ['that was taken', [201]],
    ['whose answer was lost', [0]],
    ['whose retry was answered 409', [0, 409]],
    ['that was refused', [422]],
  ])('%s', async (_, answers) => {
    service.answers = answers;
    await optIn();
    for (const _ of answers) await device().contributeNow();
    await reportPrivately();
    expect(service.reports).toEqual([]);
    expect(service.traffic.some(({ line }) => /head-list/.test(line))).toBe(false);
    expect((await device().view()).account).toMatchObject({ spent: 4 });
  });

  test('after everything was forgotten and the withdrawal got lost', async () => {
    await optIn();
    await device().contributeNow();
    service.answers = [-1];
    expect(await device().forgetEverything()).toContain('did not confirm');
    expect([...area.kept.keys()]).toEqual(['campaigns']);
    await reportPrivately();
    expect(service.reports).toEqual([]);
  });

  test('but one does after a withdrawal that was confirmed', async () => {
    await optIn();
    await device().contributeNow();
    expect(await device().withdraw(CAMPAIGN)).toBeUndefined();
    expect(await reportPrivately()).toBeUndefined();
    expect([service.held.size, service.reports.length]).toEqual([0, 1]);
  });
});

describe('forgetting everything', () => {
  test('takes the contribution back, and leaves who got what at which cost', async () => {
    await optIn();
    await device().contributeNow();
    expect(await device().forgetEverything()).toBeUndefined();
    expect([...area.kept.keys()]).toEqual(['campaigns']);
    expect(service.held.size).toBe(0);
    const { entries, keys, lists } = await ledger.update((value) => ({ value }));
    expect(entries).toMatchObject([
      { campaign: CAMPAIGN, role: 'contribution', state: 'withdrawn', body: '', epsilon: '4.0' },
    ]);
    expect([keys, lists]).toEqual([{}, {}]);
  });

  test('without a network, and opting in again, uploads nothing twice', async () => {
    await optIn();
    await device().contributeNow();
    service.answers = [-1];
    await device().forgetEverything();
    expect(await optIn()).toBeUndefined();
    now += 8 * DAY;
    await device().check();
    expect(await device().contributeNow()).toContain('nothing more to send');
    expect(service.uploads.length).toBe(1);
    expect(await device().withdraw(CAMPAIGN), 'with the token that was kept').toBeUndefined();
    expect(service.held.size).toBe(0);
  });

  test('keeps a report from being made again, and its bytes are gone', async () => {
    await reportPrivately();
    await device().forgetEverything();
    expect(await reportPrivately()).toBeUndefined();
    expect(service.reports.length).toBe(1);
    const [entry] = (await ledger.update((value) => ({ value }))).entries;
    expect(entry).toMatchObject({ role: 'report', state: 'sent', body: '' });
  });

  test('has nobody opt in who has reported', async () => {
    await reportPrivately();
    await device().forgetEverything();
    service.campaign = campaignDocument();
    expect(await optIn()).toContain('made its one report for this campaign');
    expect(service.uploads).toEqual([]);
  });
});

test('settings restored from an old copy change nothing about what was sent', async () => {
  await optIn();
  const copy = new Map(area.kept);
  await device().contributeNow();
  for (const [name, value] of copy) area.kept.set(name, value);
  expect(await device().contributeNow()).toContain('nothing more to send');
  await reportPrivately();
  expect([service.uploads.length, service.reports.length]).toEqual([1, 0]);
});

describe('a promise that changed after the choice', () => {
  const changed = { purpose: 'To sell them.' };

  test('gets no report, though list and description agree', async () => {
    const one = device();
    await one.invite(INVITATION);
    await one.choose('private', await shownBy(one));
    const shown = campaignDocument({ state: 'clients-open', ...changed });
    service.campaign = shown;
    service.headList = await listBoundTo(shown.description);
    expect(await one.check()).toContain('choose again');
    expect(service.reports).toEqual([]);
    expect(await one.choose('private', await shownBy(one))).toBeUndefined();
    expect(await one.check(), 'who chose again reports').toBeUndefined();
    expect(service.reports.length).toBe(1);
  });

  test('gets no contribution', async () => {
    await optIn();
    service.campaign = campaignDocument(changed);
    await device().refreshCampaign();
    expect(await device().contributeNow()).toContain('choose again');
    expect(service.uploads).toEqual([]);
  });

  test('gets no contribution though the change was not looked up yet', async () => {
    await optIn();
    service.campaign = campaignDocument(changed);
    expect(await device().contributeNow()).toContain('choose again');
    expect([service.uploads, (await device().view()).account.entries]).toEqual([[], []]);
    await device().refreshCampaign();
    expect(await optIn()).toBeUndefined();
    expect(await device().contributeNow(), 'who chose again contributes').toBeUndefined();
  });
});

describe('a contribution that an earlier version kept beside the settings', () => {
  const receipt = { version: '1', digest: 'sha256:1', givenAt: 0 };

  async function keepOld(state: string, body: string | null): Promise<void> {
    await device().invite(INVITATION);
    await device().choose('private', await shownBy(device()));
    const optIn = { receipt, token: 'old token', body, state, sentAt: null };
    const { receipts: _, ...old } = await device().settings.read();
    await area.set({ settings: { ...old, optIns: { [CAMPAIGN]: optIn } } });
  }

  test.each(['gathering', 'sent', 'refused'])(
    'and was %s keeps the device from reporting',
    async (state) => {
      await keepOld(state, '{}');
      await reportPrivately();
      expect(service.reports).toEqual([]);
      expect(await device().settings.read()).not.toHaveProperty('optIns');
      expect((await device().view()).account.entries).toMatchObject([
        { role: 'contribution', state: 'uncertain', epsilon: '4', token: 'old token' },
      ]);
      expect(await device().withdraw(CAMPAIGN)).toBeUndefined();
      expect(service.traffic.at(-1)?.token).toBe('Bearer old token');
      await reportPrivately();
      expect(service.reports.length).toBe(1);
    },
  );

  test('without the link is withdrawn once the link is taken up again, at that address only', async () => {
    await keepOld('sent', '{}');
    await device().settings.change((old) => ({ ...old, invitation: null, campaign: null }));
    expect(await device().forgetEverything()).toContain('did not confirm');
    await device().invite(INVITATION);
    service.answers = [-1];
    expect(await device().withdraw(CAMPAIGN)).toContain('did not confirm');
    const other = { service: 'https://other.example', campaign: CAMPAIGN, publicKey: null };
    await device().settings.change((old) => ({
      ...old,
      offer: old.offer && { ...old.offer, invitation: other },
    }));
    expect(await device().withdraw(CAMPAIGN)).toBeUndefined();
    expect(service.traffic.at(-1)).toMatchObject({
      address: `${INVITATION}/opt-in`,
      line: 'DELETE /opt-in',
      token: 'Bearer old token',
    });
  });

  test.each([
    ['withdrawn', '{}'],
    ['gathering', null],
  ])('and was %s (%s) does not', async (state, body) => {
    await keepOld(state, body);
    expect(await reportPrivately()).toBeUndefined();
    expect(service.reports.length).toBe(1);
  });
});
