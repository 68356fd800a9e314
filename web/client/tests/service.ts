/** A service that lives in the tests: it signs whatever it is told to, and counts what it gets. */
import { toBase64url } from '../src/base64url.js';
import {
  canonicalJson,
  digestOf,
  type Fields,
  type Json,
  utf8,
  without,
} from '../src/canonical.js';
import type { Fetch } from '../src/transport.js';

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

const [OWN_KEY, OTHER_KEY] = await Promise.all([newKey(), newKey()]);

async function newKey(): Promise<{ readonly sign: CryptoKey; readonly name: string }> {
  const pair = (await crypto.subtle.generateKey('Ed25519', true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair;
  const raw = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
  return { sign: pair.privateKey, name: toBase64url(raw) };
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

/** Returns a signed list with some changes, as text. */
export async function signedText(changes: Changes = {}): Promise<string> {
  const list = (changes.list ?? ((same) => same))(goodList());
  const digest = changes.digest ?? (await digestOf(list));
  const entry = (changes.entry ?? ((same) => same))({
    index: 3,
    time: '2026-11-15T12:00:00Z',
    kind: 'head-list',
    campaign: CAMPAIGN,
    digest,
    previous: NOWHERE,
  });
  const hash = changes.hash ?? (await digestOf(entry));
  const key = changes.isSignedByAnother ? OTHER_KEY : OWN_KEY;
  const document = (changes.document ?? ((same) => same))({
    format: 'blender-dp signed head list',
    version: 2,
    campaign: CAMPAIGN,
    description: NOWHERE,
    head_list: { ...list, digest },
    log_entry: { ...entry, hash },
    public_key: key.name,
  });
  const signed = {
    campaign: document.campaign ?? null,
    description: document.description ?? null,
    head_list: digest,
    log_entry: hash,
  };
  const message = utf8(`blender-dp signed head list 2\0${canonicalJson(signed)}`);
  const signature = toBase64url(
    new Uint8Array(await crypto.subtle.sign('Ed25519', key.sign, message)),
  );
  const written = changes.signature ? changes.signature(signature) : signature;
  const full = { ...document, signature: written };
  return JSON.stringify(written === null ? without(full, 'signature') : full);
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
  description = goodDescription();
  beforeReport: () => Promise<void> = async () => {};
  beforeContribution: () => Promise<void> = async () => {};
  #tokens = 0;

  constructor(text: string) {
    this.text = text;
  }

  readonly fetch: Fetch = async (address, options) => {
    this.traffic.push(`${address} ${options.body ?? ''}`);
    const [, , path = ''] = /^(.*\/campaigns\/[^/]+)(.*)$/.exec(address) ?? [];
    if (path === '/opt-in') return this.#optIn(options);
    if (path === '/enrol') return Response.json({ token: `token ${++this.#tokens}` });
    if (options.method !== 'POST') {
      return path ? new Response(this.text) : Response.json({ description: this.description });
    }
    await this.beforeReport();
    this.reports.push(String(options.body));
    const status = this.answers.shift() ?? 202;
    if (status === 0) throw new TypeError('network error');
    return new Response('{}', { status });
  };

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
