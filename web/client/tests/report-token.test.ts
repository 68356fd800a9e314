/** Report tokens of a device: asked for once, kept before they are used, spent once. */
import { beforeEach, describe, expect, test } from 'vitest';
import { fromBase64url, toBase64url } from '../src/base64url.js';
import { digestOf, type Fields, sha256, textDigest } from '../src/canonical.js';
import { BlenderClient, type ClientOptions } from '../src/client.js';
import type { Change, KeptToken, Ledger } from '../src/ledger.js';
import { infoOf, relayedReport } from '../src/relay/relayed-report.js';
import { readSignedHeadList } from '../src/signed-head-list.js';
import { memoryStorage, type Storage } from '../src/storage.js';
import { askedForQuery } from '../src/subset-selection.js';
import { isSignature } from '../src/token/blind-rsa.js';
import { challengeOf } from '../src/token/token.js';
import type { Fetch } from '../src/transport.js';
import { secureBytes } from '../src/uniform.js';
import { issuer, signed, type TestIssuer } from './issuer.js';
import { opened } from './opened.js';
import {
  CAMPAIGN,
  CONSENT_TEXT,
  FakeService,
  goodDescription,
  problem,
  relayDescription,
  SERVICE,
  signedText,
  withRelay,
} from './service.js';
import { readVectors, toHex } from './vectors.js';

const ISSUER = await issuer();
const OTHER = await issuer();
const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 18);
const DESCRIPTION = goodDescription({ reports: 'token' });
const RECORD = { query: 'query 17', url: 'a.example' };

let service: FakeService;
let storage: Storage;
let now: number;

beforeEach(async () => {
  now = NOW;
  storage = memoryStorage();
  service = await serviceWith(DESCRIPTION);
});

/** Returns a service whose list names an issuer's key, or none, for a description. */
async function serviceWith(description: Fields, named: TestIssuer | null = ISSUER) {
  const digest = await digestOf(description);
  const made = new FakeService(
    await signedText({
      list: (list) => ({ ...list, ...(named && { token_key: toBase64url(named.encoded) }) }),
      document: (document) => ({ ...document, description: digest }),
    }),
  );
  made.description = description;
  made.issuer = ISSUER;
  return made;
}

function device(options: Partial<ClientOptions> = {}): BlenderClient {
  return new BlenderClient({
    service: SERVICE,
    storage,
    fetch: service.fetch,
    now: () => now,
    ...options,
  });
}

function kept(): Promise<Ledger> {
  return storage.update((ledger) => ({ value: ledger }));
}

async function keptToken(): Promise<KeptToken | undefined> {
  return (await kept()).tokens[CAMPAIGN];
}

function tokenIn(body: string): Uint8Array<ArrayBuffer> {
  return fromBase64url(JSON.parse(body).token, 354) ?? new Uint8Array();
}

test('the token of a published list is fetched, and goes with the report when its time comes', async () => {
  service.state = 'list-published';
  expect(await device().fetchToken(CAMPAIGN)).toEqual({ ok: true });
  const { token = '', reportAfter = 0 } = (await keptToken()) ?? {};
  expect(await keptToken()).toMatchObject({ enrolment: '', nonce: '', inverse: '' });
  service.state = 'clients-open';
  const made = await device().report(CAMPAIGN, RECORD);
  expect(made).toMatchObject({ ok: true, state: 'unsent', sendAfter: reportAfter });
  expect(service.reports).toEqual([]);
  now = reportAfter - 1;
  expect(await device().resend()).toMatchObject({ unsent: 1 });
  now = reportAfter;
  expect(await device().resend()).toMatchObject({ unsent: 0 });
  const [body = '', ...more] = service.reports;
  expect(more).toEqual([]);
  expect(JSON.parse(body)).toMatchObject({ version: 1, token });
  expect(JSON.parse(body)).not.toHaveProperty('report_id');
  expect(await keptToken(), 'the report has it now').toBe(undefined);
  expect((await kept()).entries).toMatchObject([{ state: 'sent', token, body }]);
  expect(service.tokenRequests.length).toBe(1);
});

test('a token is one of the campaign, and its signature decides the question', async () => {
  const key = ISSUER.key;
  const challenge = await sha256(await challengeOf(CAMPAIGN));
  for (let i = 0; i < 8; i++) {
    storage = memoryStorage();
    const made = await device().report(CAMPAIGN, RECORD);
    const body = made.ok ? made.report : '';
    const token = tokenIn(body);
    expect(await isSignature(key, token.slice(0, 98), token.slice(98))).toBe(true);
    expect(toHex(token.slice(34, 66))).toBe(toHex(challenge));
    expect(toHex(token.slice(66, 98))).toBe(toHex(key.id));
    const id = (await sha256(token.slice(98))).slice(0, 16);
    const { question } = JSON.parse(body);
    expect(question).toBe((await askedForQuery(id, '0.25')) ? 'query' : 'record');
  }
});

test('the request is stored before it leaves, with all that the answer needs', async () => {
  let written: KeptToken | undefined;
  const fetch: Fetch = async (address, options) => {
    if (address.endsWith('/report-token')) written = await keptToken();
    return service.fetch(address, options);
  };
  await device({ fetch }).fetchToken(CAMPAIGN);
  expect(written).toMatchObject({ token: '', request: service.tokenRequests[0], askedAt: NOW });
  expect(written?.enrolment).toBe('token 1');
  expect(written?.inverse.length).toBe(342);
  expect(written?.nonce.length).toBe(43);
});

test('nothing is asked when nothing can be stored', async () => {
  const full: Storage = {
    update: (change) =>
      storage.update((ledger): Change<never> => {
        const { ledger: written, value } = change(ledger);
        if (written && Object.keys(written.tokens).length) throw new Error('full');
        return { ...(written && { ledger: written }), value: value as never };
      }),
  };
  expect((await device({ storage: full }).report(CAMPAIGN, RECORD)).ok).toBe(false);
  expect([service.tokenRequests, service.reports]).toEqual([[], []]);
});

describe('killed anywhere, a device has one token and sends one report', () => {
  /** Counts steps of any kind, and stops the device for good at one of them. */
  class Death {
    #steps: number;
    constructor(steps: number) {
      this.#steps = steps;
    }
    step(): void {
      if (this.#steps-- <= 0) throw new Error('killed');
    }
    get hasCome(): boolean {
      return this.#steps < 0;
    }
  }

  function mortal(death: Death, when: 'before' | 'after') {
    const dying: Storage = {
      async update(change) {
        if (when === 'before') death.step();
        const value = await storage.update(change);
        if (when === 'after') death.step();
        return value;
      },
    };
    const fetch: Fetch = async (address, options) => {
      if (when === 'before') death.step();
      const answer = await service.fetch(address, options);
      if (when === 'after') death.step();
      return answer;
    };
    return device({ storage: dying, fetch });
  }

  test.each(['before', 'after'] as const)('%s any step', async (when) => {
    let steps = 0;
    for (let death = new Death(0); ; death = new Death(++steps)) {
      storage = memoryStorage();
      service = await serviceWith(DESCRIPTION);
      now = NOW;
      const first = mortal(death, when);
      await first.fetchToken(CAMPAIGN);
      await first.report(CAMPAIGN, RECORD);
      now += 24 * HOUR;
      await first.resend();
      now += 24 * HOUR;
      const second = device();
      await second.fetchToken(CAMPAIGN);
      await second.report(CAMPAIGN, RECORD);
      now += 24 * HOUR;
      await second.resend();
      expect(new Set(service.tokenRequests).size, `step ${steps}`).toBe(1);
      expect(service.signedRequests.size, `step ${steps}`).toBe(1);
      expect(new Set(service.reports).size, `step ${steps}`).toBe(1);
      expect((await kept()).entries).toMatchObject([{ state: 'sent' }]);
      if (!death.hasCome) break;
    }
    expect(steps).toBeGreaterThan(15);
  });
});

test('a lost answer is asked for with the same bytes, and two calls at once ask one thing', async () => {
  service.tokenAnswers = [0, 503, 429];
  for (let i = 0; i < 3; i++) {
    expect(await device().fetchToken(CAMPAIGN)).toMatchObject({
      ok: false,
      problem: 'no token was given yet; this device asks again later',
    });
  }
  await Promise.all([device().report(CAMPAIGN, RECORD), device().report(CAMPAIGN, RECORD)]);
  expect(new Set(service.tokenRequests).size).toBe(1);
  expect(service.signedRequests.size).toBe(1);
  expect((await kept()).entries.length).toBe(1);
});

test('two devices at once on one storage make one request', async () => {
  await Promise.all([device().fetchToken(CAMPAIGN), device().fetchToken(CAMPAIGN)]);
  expect(new Set(service.tokenRequests).size).toBe(1);
  expect(await keptToken()).toMatchObject({ token: expect.stringMatching(/^[\w-]{472}$/) });
});

describe('an issuer that cheats', () => {
  test.each([
    [
      'signs with a key that the list does not name',
      (bytes: Uint8Array) => signed(OTHER.secret, bytes),
    ],
    [
      'signs something else',
      (bytes: Uint8Array) =>
        signed(
          ISSUER.secret,
          bytes.map((byte, i) => (i === 9 ? byte ^ 1 : byte)),
        ),
    ],
    ['answers too little', () => new Uint8Array(255)],
    ['answers a number above its key', () => new Uint8Array(256).fill(255)],
  ])('%s: nothing is reported, until it answers rightly', async (_, answer) => {
    const fetch: Fetch = async (address, options) => {
      if (!address.endsWith('/report-token')) return service.fetch(address, options);
      const { request } = JSON.parse(String(options.body));
      service.tokenRequests.push(request);
      const bytes = fromBase64url(request, 259) ?? new Uint8Array();
      return Response.json({ response: toBase64url(answer(bytes)) });
    };
    const result = await device({ fetch }).report(CAMPAIGN, RECORD);
    expect(result).toMatchObject({ ok: false, problem: expect.stringContaining('issuer') });
    expect(await keptToken()).toMatchObject({ token: '' });
    expect((await kept()).entries).toEqual([]);
    expect(await device().report(CAMPAIGN, RECORD)).toMatchObject({ ok: true });
    expect(new Set(service.tokenRequests).size).toBe(1);
  });

  test('answers with no JSON, or with none of its fields', async () => {
    for (const text of ['', 'no', '{}', '{"response":7}', '[]']) {
      service.tokenAnswers = [new Response(text)];
      expect((await device().fetchToken(CAMPAIGN)).ok).toBe(false);
    }
    expect(await keptToken()).toMatchObject({ token: '' });
  });
});

test.each([
  [401, 'token-unknown', 'the code'],
  [409, 'token-issued-already', 'used already'],
  [409, 'already-contributed', 'withdraw first'],
  [429, 'too-many-requests', 'too many'],
  [409, 'campaign-not-collecting', 'asks again later'],
])('the answer %d %s is told in words', async (status, slug, words) => {
  service.tokenAnswers = [problem(status, slug)];
  expect(await device().fetchToken(CAMPAIGN)).toEqual({
    ok: false,
    problem: expect.stringContaining(words),
  });
});

describe('list and description', () => {
  const named = (address = 'https://issuer.example/', key = ISSUER) => ({
    issuer: { address, public_key: toBase64url(key.encoded) },
  });
  test.each<[string, Fields, TestIssuer | null]>([
    ['tokens that the description does not ask for', goodDescription(), ISSUER],
    ['no tokens where the description asks for them', DESCRIPTION, null],
    ['the key of another issuer', { ...DESCRIPTION, ...named(undefined, OTHER) }, ISSUER],
    ['an issuer without tokens', goodDescription(named()), null],
    ['reports of an unknown kind', goodDescription({ reports: 'open' }), null],
    ['an issuer at no address', { ...DESCRIPTION, ...named('issuer') }, ISSUER],
  ])('with %s are refused', async (_, description, key) => {
    service = await serviceWith(description, key);
    for (const result of [
      await device().headList(CAMPAIGN),
      await device().fetchToken(CAMPAIGN),
      await device().report(CAMPAIGN, RECORD),
    ]) {
      expect(result).toMatchObject({ ok: false, problem: expect.not.stringContaining('device') });
    }
    expect([service.tokenRequests, service.reports]).toEqual([[], []]);
  });

  test('say that a report needs a token', async () => {
    expect(await device().headList(CAMPAIGN)).toMatchObject({ needsToken: true });
    service = await serviceWith(goodDescription(), null);
    storage = memoryStorage();
    expect(await device().headList(CAMPAIGN)).toMatchObject({ needsToken: false });
  });

  test('without tokens are as they were', async () => {
    service = await serviceWith(goodDescription(), null);
    expect(await device().fetchToken(CAMPAIGN)).toEqual({ ok: true });
    const made = await device().report(CAMPAIGN, RECORD);
    expect(made).toMatchObject({ ok: true, state: 'sent' });
    expect(JSON.parse(made.ok ? made.report : '')).toHaveProperty('report_id');
    expect(service.tokenRequests).toEqual([]);
  });

  test('another issuer is asked, with its own code, and the service is not', async () => {
    service = await serviceWith({ ...DESCRIPTION, ...named() });
    const refused = await device().fetchToken(CAMPAIGN);
    expect(refused).toMatchObject({
      problem: expect.stringContaining('needs the code that you were given'),
    });
    expect(await device().fetchToken(CAMPAIGN, { enrolment: 'login' })).toEqual({ ok: true });
    const asked = service.traffic.filter((line) => /report-token|enrol/.test(line));
    expect(asked.map((line) => line.split(' ')[0])).toEqual([
      `https://issuer.example/v1/campaigns/${CAMPAIGN}/report-token`,
    ]);
    expect([...service.signedRequests.keys()]).toEqual(['Bearer login']);
  });

  test('an issuer in the clear, elsewhere, is not asked', async () => {
    service = await serviceWith({ ...DESCRIPTION, ...named('http://issuer.example/') });
    expect(await device().fetchToken(CAMPAIGN, { enrolment: 'login' })).toMatchObject({
      problem: 'the issuer’s address must be https, or http on this machine',
    });
    expect(service.tokenRequests).toEqual([]);
  });
});

test('another code gets the same request: there is never a second one', async () => {
  service.tokenAnswers = [problem(401, 'token-unknown')];
  await device().fetchToken(CAMPAIGN, { enrolment: 'mistyped' });
  expect(await device().fetchToken(CAMPAIGN, { enrolment: 'right' })).toEqual({ ok: true });
  expect([...service.signedRequests.keys()]).toEqual(['Bearer right']);
  expect(new Set(service.tokenRequests).size).toBe(1);
});

test('whoever withdrew a contribution gets a token for the same enrolment; others first withdraw', async () => {
  service.state = 'opt-in-open';
  const contribution = {
    agreed: await textDigest(CONSENT_TEXT),
    promised: await digestOf(DESCRIPTION),
    body: '{}',
  };
  await device().contribute(CAMPAIGN, contribution);
  service.state = 'clients-open';
  expect(await device().fetchToken(CAMPAIGN)).toMatchObject({
    problem: expect.stringContaining('withdraw first'),
  });
  expect(service.tokenRequests).toEqual([]);
  await device().withdraw(CAMPAIGN);
  expect(await device().fetchToken(CAMPAIGN)).toEqual({ ok: true });
  expect([...service.signedRequests.keys()]).toEqual(['Bearer token 1']);
});

test('the delay is drawn up to a day, or half of the time that is left', async () => {
  const delays = async (description: Fields, runs: number) => {
    service = await serviceWith(description);
    const drawn = [];
    for (let i = 0; i < runs; i++) {
      storage = memoryStorage();
      await device().fetchToken(CAMPAIGN);
      drawn.push(((await keptToken())?.reportAfter ?? 0) - NOW);
    }
    return drawn;
  };
  // None is above 12 hours with probability 2^-40 < 1e-12; two are the same millisecond with < 1e-5,
  // ten of them with less than 1e-50.
  const long = await delays(DESCRIPTION, 40);
  expect(Math.min(...long)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...long)).toBeLessThan(24 * HOUR);
  expect(Math.max(...long)).toBeGreaterThan(12 * HOUR);
  expect(new Set(long).size).toBeGreaterThan(30);
  const until = new Date(NOW + HOUR).toISOString();
  const short = await delays({ ...DESCRIPTION, rules: { clients_until: until } }, 10);
  expect(Math.max(...short)).toBeLessThan(HOUR / 2);
  expect(new Set(short).size).toBeGreaterThan(5);
});

test('forgetting deletes token and request, and the token of a report', async () => {
  await device().fetchToken(CAMPAIGN);
  await device().forget();
  expect((await kept()).tokens).toEqual({});
  await device().report(CAMPAIGN, RECORD);
  await device().forget();
  expect((await kept()).entries).toMatchObject([{ token: '', body: '', state: 'uncertain' }]);
});

test('the account has the tokens that wait, and none that were spent', async () => {
  service.tokenAnswers = [503];
  await device().fetchToken(CAMPAIGN);
  const waiting = { campaign: CAMPAIGN, service: SERVICE, askedAt: NOW };
  expect(await device().account()).toMatchObject({ tokens: [{ ...waiting, isHere: false }] });
  await device().fetchToken(CAMPAIGN);
  expect(await device().account()).toMatchObject({ tokens: [{ ...waiting, isHere: true }] });
  await device().report(CAMPAIGN, RECORD);
  expect(await device().account()).toMatchObject({ tokens: [] });
});

describe('a relayed report', () => {
  test('carries the token inside, and nothing of it outside', async () => {
    const description = relayDescription({ reports: 'token' });
    const digest = await digestOf(description);
    const cost = { epsilon: '4.0', delta: '1e-06', reportEpsilon: '6.5' };
    const { list, document } = withRelay(digest, cost);
    service = new FakeService(
      await signedText({
        list: (one) => ({ ...list?.(one), token_key: toBase64url(ISSUER.encoded) }),
        ...(document && { document }),
      }),
    );
    service.description = description;
    service.issuer = ISSUER;
    const made = await device().report(CAMPAIGN, RECORD, { throughRelay: true });
    expect(made).toMatchObject({ ok: true, state: 'unsent' });
    now += 24 * HOUR;
    await device().resend();
    const body = JSON.parse(service.reports[0] ?? '');
    expect(Object.keys(body)).toEqual(['version', 'head_list', 'encryption_key', 'report']);
    const packed = 1; // 7 bits for 81 cells
    const length = 32 + 1 + 354 + packed + 16;
    expect(fromBase64url(body.report, length)?.length).toBe(length);
    const [entry] = (await kept()).entries;
    expect(entry?.token.length).toBe(472);
    expect(service.reports[0]).not.toContain(entry?.token);
  });

  test('opens to version 2, the token, and one cell', async () => {
    const { campaign, collector_key, signed_head_list } = readVectors<{
      readonly campaign: string;
      readonly collector_key: string;
      readonly signed_head_list: Fields;
    }>('relayed_reports');
    const list = await readSignedHeadList(JSON.stringify(signed_head_list));
    const token = secureBytes(354);
    const { report } = JSON.parse(await relayedReport(list, null, secureBytes, token));
    const ciphertext = fromBase64url(report, 32 + 1 + 354 + 1 + 16) ?? new Uint8Array();
    const secret = fromBase64url(collector_key, 32) ?? new Uint8Array();
    const plain = opened(secret, infoOf(campaign, list.headList.digest), ciphertext);
    expect([plain[0], plain.length]).toEqual([2, 356]);
    expect(toHex(Uint8Array.from(plain.slice(1, 355)))).toBe(toHex(token));
    expect((plain[355] ?? 255) >> 1).toBeLessThan(81);
  });
});
