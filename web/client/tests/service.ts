/** A service that lives in the tests: it signs whatever it is told to, and counts what it gets. */
import { fromBase64url, toBase64url } from '../src/base64url.js';
import {
  canonicalJson,
  digestOf,
  type Fields,
  isObject,
  type Json,
  sha256,
  utf8,
  without,
} from '../src/canonical.js';
import type { Fetch } from '../src/transport.js';
import { signed, type TestIssuer } from './issuer.js';

export const CAMPAIGN = '00000000-0000-4000-8000-000000000001';
export const SERVICE = 'https://collect.example';
export const CONSENT_TEXT = 'You agree that your searches are counted.';
const NOWHERE = `sha256:${'0'.repeat(64)}`;

/** A change to a signed list, at the level where it is made; all levels above are made anew. */
export interface Changes {
  readonly list?: (list: Fields) => Fields;
  readonly digest?: string;
  readonly entry?: (entry: Fields) => Fields;
  readonly hash?: string;
  readonly document?: (document: Fields) => Fields;
  readonly isSignedByAnother?: boolean;
  readonly signature?: (signature: string) => Json;
}

const PKCS8 = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];
/** The keys of the shared vectors, which anybody can make. */
const [OWN_KEY, OTHER_KEY] = await Promise.all([newKey('service'), newKey('stranger')]);

async function newKey(name: string): Promise<{ readonly sign: CryptoKey; readonly name: string }> {
  const seed = await sha256(utf8(`blender-dp test vector ${name}`));
  const sign = await crypto.subtle.importKey(
    'pkcs8',
    Uint8Array.from([...PKCS8, ...seed]),
    'Ed25519',
    true,
    ['sign'],
  );
  const { x = '' } = await crypto.subtle.exportKey('jwk', sign);
  return { sign, name: x };
}

export const PUBLIC_KEY = OWN_KEY.name;
export const OTHER_PUBLIC_KEY = OTHER_KEY.name;

/** Returns forty queries with a URL each. */
export function goodList(): Fields {
  return {
    format: 'blender-dp head list',
    version: 1,
    private: true,
    mechanism: { name: 'subset-selection', version: 1, epsilon: '4.0', query_share: '0.25' },
    queries: Array.from({ length: 40 }, (_, i) => ({
      query: `query ${i + 10}`,
      urls: ['a.example'],
    })),
  };
}

/** Returns a log of some campaigns' descriptions. */
async function beginningOfALog(length: number): Promise<readonly Fields[]> {
  const entries: Fields[] = [];
  for (let index = 0; index < length; index++) {
    entries.push(await following(entries, { kind: 'campaign', digest: NOWHERE }));
  }
  return entries;
}

/** Returns the entry that follows a log. */
export async function following(log: readonly Fields[], changes: Fields): Promise<Fields> {
  const entry = {
    index: log.length,
    time: '2026-11-15T12:00:00Z',
    campaign: CAMPAIGN,
    previous: log.at(-1)?.hash ?? null,
    ...changes,
  };
  return { ...entry, hash: await digestOf(entry) };
}

/** What the log has before any list. */
export const LOG = await beginningOfALog(3);

/** Returns a piece of a log, signed by a service. */
export async function logText(entries: readonly Fields[], signer = PUBLIC_KEY): Promise<string> {
  const key = signer === OTHER_PUBLIC_KEY ? OTHER_KEY : OWN_KEY;
  const signature = await sign(key.sign, `blender-dp log head 1\0${entries.at(-1)?.hash ?? ''}`);
  return JSON.stringify({ entries, public_key: key.name, signature } as unknown as Json);
}

async function sign(key: CryptoKey, message: string): Promise<string> {
  return toBase64url(new Uint8Array(await crypto.subtle.sign('Ed25519', key, utf8(message))));
}

/** Returns a signed list with some changes, as text; its entry follows a log. */
export async function signedText(changes: Changes = {}, log = LOG): Promise<string> {
  const list = (changes.list ?? ((same) => same))(goodList());
  const digest = changes.digest ?? (await digestOf(list));
  const given = without(await following(log, { kind: 'head-list', digest }), 'hash');
  const entry = (changes.entry ?? ((same) => same))(given);
  const hash = changes.hash ?? (await digestOf(entry));
  const key = changes.isSignedByAnother ? OTHER_KEY : OWN_KEY;
  const document = (changes.document ?? ((same) => same))({
    format: 'blender-dp signed head list',
    version: 2,
    campaign: CAMPAIGN,
    description: await digestOf(goodDescription()),
    head_list: { ...list, digest },
    log_entry: { ...entry, hash },
    public_key: key.name,
  });
  const signed = {
    campaign: document.campaign ?? null,
    description: document.description ?? null,
    head_list: digest,
    log_entry: hash,
    ...(document.relay !== undefined && { relay: document.relay }),
  };
  const signature = await sign(key.sign, `blender-dp signed head list 2\0${canonicalJson(signed)}`);
  const written = changes.signature ? changes.signature(signature) : signature;
  const full = { ...document, signature: written };
  return JSON.stringify(written === null ? without(full, 'signature') : full);
}

/** Returns the list of another campaign, as text. */
export async function listOf(campaign: string, log = LOG): Promise<string> {
  const description = await digestOf(goodDescription({ id: campaign }));
  return signedText(
    {
      entry: (entry) => ({ ...entry, campaign }),
      document: (document) => ({ ...document, campaign, description }),
    },
    log,
  );
}

const RELAY = { address: 'https://relay.example/', public_key: OTHER_PUBLIC_KEY };
/** The key that reports through the relay are encrypted for; nobody here can decrypt them. */
const ENCRYPTION_KEY = 'DioWENXY9dAPj0E3N247qm60tdTQx67nPb9gDFaVekk';

/** The relay of a campaign, as its description has it. */
export const DESCRIBED_RELAY: Fields = {
  ...RELAY,
  least_batch: 20_000,
  epsilon_cap: '8.0',
  dishonest: '0.2',
};

/** Returns the description of a campaign whose clients may use a relay. */
export function relayDescription(changes: Fields = {}): Fields {
  return goodDescription({ relay: DESCRIBED_RELAY, ...changes });
}

/** Returns a change that gives a list a relay, whose reports have this ε, δ and ε0. */
export function withRelay(
  description: string,
  {
    epsilon,
    delta,
    reportEpsilon,
  }: Readonly<Record<'epsilon' | 'delta' | 'reportEpsilon', string>>,
): Changes {
  const relay = {
    name: 'relayed-response',
    version: 1,
    epsilon,
    delta,
    report_epsilon: reportEpsilon,
    least_batch: 20_000,
    dishonest: '0.2',
  };
  return {
    list: (list) => ({ ...list, relay }),
    document: (document) => ({
      ...document,
      description,
      relay: { ...RELAY, encryption_key: ENCRYPTION_KEY },
    }),
  };
}

/** Returns the log entry of a signed list, if there is one. */
export function entryOf(text: string): readonly Fields[] {
  const { log_entry: entry } = JSON.parse(text);
  return isObject(entry) ? [entry] : [];
}

/** Returns the description of the campaign, with some fields changed. */
export function goodDescription(changes: Fields = {}): Fields {
  return {
    id: CAMPAIGN,
    name: 'A town',
    purpose: 'To suggest searches.',
    consent: { version: '1', text: CONSENT_TEXT },
    parameters: { epsilon: '4.0', delta: '1e-06', head_list_size: null, project: true },
    expected_clients: 1000,
    open_enrolment: true,
    rules: { opt_in_until: null },
    created_at: '2026-11-14T12:00:00.000000Z',
    ...changes,
  };
}

/** Returns a refusal as services word it. */
export function problem(status: number, slug: string): Response {
  return Response.json({ type: `urn:blender-dp:problem:${slug}`, status }, { status });
}

/** A service behind `fetch`: serves one list, and answers what is sent as it is told to. */
export class FakeService {
  readonly reports: string[] = [];
  /** What was contributed and not withdrawn, as far as the service knows, by token. */
  readonly contributions = new Map<string, string>();
  /** Everything that was asked or sent, addresses and bodies. */
  readonly traffic: string[] = [];
  /** What the next reports are answered with; 0 is no answer at all, and 202 follows. */
  answers: number[] = [];
  /** The same for contributions and withdrawals; an answer below 0 is a request that got lost. */
  optInAnswers: number[] = [];
  text: string;
  /** The log, if it is not that which ends with the list. */
  log: readonly Fields[] | undefined;
  /** Every campaign has this description, with its own id. */
  description: Fields | null = goodDescription();
  describedId: string | undefined;
  /** How far the campaign is. */
  state = 'clients-open';
  beforeReport: () => Promise<void> = async () => {};
  beforeContribution: () => Promise<void> = async () => {};
  /** Who issues tokens; the requests that were signed, by enrolment, and all that arrived. */
  issuer: TestIssuer | undefined;
  readonly signedRequests = new Map<string, string>();
  readonly tokenRequests: string[] = [];
  /** What the next requests for tokens are answered with; 0 is an answer that got lost. */
  tokenAnswers: (number | Response)[] = [];
  #tokens = 0;

  constructor(text: string) {
    this.text = text;
  }

  readonly fetch: Fetch = async (address, options) => {
    this.traffic.push(`${address} ${options.body ?? ''}`);
    const [, , start] = /^(.*)\/v1\/log\?from=(\d+)$/.exec(address) ?? [];
    if (start !== undefined) return new Response(await this.logFrom(Number(start)));
    const [, id = '', path = ''] = /\/campaigns\/([^/]+)(.*)$/.exec(address) ?? [];
    if (path === '/opt-in') return this.#optIn(options);
    if (path === '/report-token') return this.#issue(options);
    if (path === '/enrol') return Response.json({ token: `token ${++this.#tokens}` });
    if (options.method !== 'POST') {
      if (path) return new Response(this.text);
      const own = { id: this.describedId ?? id };
      const description = this.description && { ...this.description, ...own };
      return Response.json({ state: this.state, description });
    }
    await this.beforeReport();
    this.reports.push(String(options.body));
    const status = this.answers.shift() ?? 202;
    if (status === 0) throw new TypeError('network error');
    return new Response(null, { status });
  };

  /** Returns the log from an index on, as it is served. */
  async logFrom(start: number): Promise<string> {
    const log = this.log ?? [...LOG, ...entryOf(this.text)];
    const { public_key: signer } = JSON.parse(this.text);
    return logText(
      log.filter(({ index }) => Number(index) >= start),
      signer,
    );
  }

  /** Signs one request per enrolment, as often as it is asked. */
  #issue({ headers, body }: RequestInit): Response {
    const enrolment = new Headers(headers).get('authorization') ?? '';
    const { version, request } = JSON.parse(String(body));
    this.tokenRequests.push(request);
    const answer = this.tokenAnswers.shift() ?? 200;
    if (typeof answer !== 'number') return answer;
    if (answer !== 0 && answer !== 200) return new Response(null, { status: answer });
    if (version !== 1 || !this.issuer) return new Response(null, { status: 422 });
    if ((this.signedRequests.get(enrolment) ?? request) !== request)
      return problem(409, 'token-issued-already');
    this.signedRequests.set(enrolment, request);
    if (answer === 0) throw new TypeError('network error');
    const bytes = fromBase64url(request, 259) ?? new Uint8Array();
    return Response.json({ response: toBase64url(signed(this.issuer.secret, bytes)) });
  }

  async #optIn({ method, headers, body }: RequestInit): Promise<Response> {
    await this.beforeContribution();
    const token = new Headers(headers).get('authorization') ?? '';
    const status = this.optInAnswers.shift() ?? (method === 'DELETE' ? 204 : 201);
    const isTaken = status === 0 || (status >= 200 && status < 300);
    if (isTaken && method === 'DELETE') this.contributions.delete(token);
    if (isTaken && method === 'POST') this.contributions.set(token, String(body));
    if (status <= 0) throw new TypeError('network error');
    return new Response(null, { status });
  }
}
