/** A service that lives in the tests: one campaign that takes contributions, and a storage area. */
import type { Fetch } from '@blender-dp/client';
import type { Area } from '../src/device/kept.js';

export const CAMPAIGN = '00000000-0000-4000-8000-000000000001';
export const SERVICE = 'https://collect.example';
export const INVITATION = `${SERVICE}/v1/campaigns/${CAMPAIGN}`;
export const CONSENT_TEXT = 'You agree that your searches are counted.';

/** Returns a campaign as a service shows it. */
export function campaignDocument(changes: object = {}): object {
  return {
    id: CAMPAIGN,
    name: 'A town',
    purpose: 'To suggest searches.',
    state: 'opt-in-open',
    parameters: { epsilon: 4, delta: 1e-5 },
    consent: { version: '1', text: CONSENT_TEXT, text_digest: 'sha256:is never believed' },
    open_enrolment: true,
    rules: { opt_in_until: null },
    ...changes,
  };
}

/** Keeps values in memory, as `chrome.storage.local` does on disk: copies, never the same object. */
export function memoryArea(): Area & { readonly kept: Map<string, unknown> } {
  const kept = new Map<string, unknown>();
  return {
    kept,
    async get(key) {
      return kept.has(key) ? { [key]: structuredClone(kept.get(key)) } : {};
    },
    async set(items) {
      for (const [key, value] of Object.entries(items)) kept.set(key, structuredClone(value));
    },
    async remove(key) {
      kept.delete(key);
    },
  };
}

/** A service behind `fetch`. */
export class FakeService {
  campaign: object = campaignDocument();
  /** What contributions and withdrawals are answered with; 0 is no answer at all. */
  answers: number[] = [];
  readonly traffic: { readonly line: string; readonly body: string; readonly token: string }[] = [];
  #enrolled = 0;

  /** What was uploaded, in order. */
  get uploads(): readonly string[] {
    return this.traffic.filter(({ line }) => line === 'POST /opt-in').map(({ body }) => body);
  }

  readonly fetch: Fetch = async (address, options) => {
    const path = address.replace(INVITATION, '');
    const token = new Headers(options.headers).get('authorization') ?? '';
    const line = `${options.method ?? 'GET'} ${path}`;
    this.traffic.push({ line, body: String(options.body ?? ''), token });
    if (line === 'GET ') return Response.json(this.campaign);
    if (line === 'POST /enrol') return Response.json({ token: `token ${++this.#enrolled}` });
    if (path !== '/opt-in') return new Response('', { status: 404 });
    const status = this.answers.shift() ?? (options.method === 'DELETE' ? 204 : 201);
    if (status === 0) throw new TypeError('network error');
    return new Response(null, { status });
  };
}
