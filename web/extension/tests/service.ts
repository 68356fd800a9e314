/** A service that lives in the tests: one campaign that takes contributions, and a storage area. */
import type { Fetch } from '@blender-dp/client';
import { signed, type TestIssuer } from '../../client/tests/issuer.js';
import { FakeService as ClientService } from '../../client/tests/service.js';
import { presentOffer } from '../src/device/choices.js';
import type { Device } from '../src/device/device.js';
import type { Area } from '../src/device/kept.js';

export const CAMPAIGN = '00000000-0000-4000-8000-000000000001';
export const SERVICE = 'https://collect.example';
export const INVITATION = `${SERVICE}/v1/campaigns/${CAMPAIGN}`;
/** Where the campaign's relay is, if it has one. */
export const RELAY = 'https://relay.example/';
export const OTHER = '00000000-0000-4000-8000-000000000002';
export const OTHER_INVITATION = `${SERVICE}/v1/campaigns/${OTHER}`;
export const CONSENT_TEXT = 'You agree that your searches are counted.';

/** Returns a campaign as a service shows it; changes other than of the state are promised. */
export function campaignDocument({ state = 'opt-in-open', ...changes }: CampaignChanges = {}) {
  return {
    id: CAMPAIGN,
    state,
    name: 'not what was promised',
    consent: { version: '1', text: 'not what was promised', text_digest: 'sha256:never believed' },
    description: {
      id: CAMPAIGN,
      name: 'A town',
      purpose: 'To suggest searches.',
      controller: 'Town Library',
      contact: 'privacy@town.example',
      privacy_policy: 'https://town.example/privacy',
      parameters: { epsilon: '4.0', delta: '1e-05', head_list_size: null },
      consent: { version: '1', text: CONSENT_TEXT },
      open_enrolment: true,
      rules: { opt_in_until: null },
      ...changes,
    },
  };
}

interface CampaignChanges extends Readonly<Record<string, unknown>> {
  readonly state?: string;
}

/** Returns the digest of what a person sees who is about to choose. */
export async function shownBy(device: Device): Promise<string> {
  return presentOffer(await device.settings.read())?.campaign.description ?? '';
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
  /** A second campaign of the same service. */
  other: object = campaignDocument({ id: OTHER, name: 'Another town' });
  /** A signed head list, if there is one. */
  headList = '';
  /**
   * What contributions and withdrawals are answered with; 0 is an answer that was lost on the way,
   * -1 a request that was.
   */
  answers: number[] = [];
  /** The bodies that the service holds, by token: taken, and not withdrawn. */
  readonly held = new Map<string, string>();
  readonly traffic: {
    readonly address: string;
    readonly line: string;
    readonly body: string;
    readonly token: string;
  }[] = [];
  /** Who signs tokens, if anybody does. */
  issuer: TestIssuer | undefined;
  #enrolled = 0;

  /** What was uploaded, in order. */
  get uploads(): readonly string[] {
    return this.#bodies('POST /opt-in');
  }

  /** What was asked of an issuer, in order, with the address and what let it in. */
  get asked(): readonly (readonly [string, string, string])[] {
    return this.traffic
      .filter(({ address }) => address.endsWith('/report-token'))
      .map(({ address, token, body }) => [address, token, JSON.parse(body).request] as const);
  }

  /** What was sent to the relay, in order. */
  get relayed(): readonly string[] {
    return this.#bodies(`POST ${RELAY}v1/campaigns/${CAMPAIGN}/reports`);
  }

  /** What was reported, in order. */
  get reports(): readonly string[] {
    return this.#bodies('POST /reports');
  }

  readonly fetch: Fetch = async (address, options) => {
    const path = address.replace(INVITATION, '').replace(OTHER_INVITATION, '');
    const token = new Headers(options.headers).get('authorization') ?? '';
    const line = `${options.method ?? 'GET'} ${path}`;
    this.traffic.push({ address, line, body: String(options.body ?? ''), token });
    const [, start] = /\/v1\/log\?from=(\d+)$/.exec(address) ?? [];
    if (start) return new Response(await new ClientService(this.headList).logFrom(Number(start)));
    if (line === 'GET ') return Response.json(address === INVITATION ? this.campaign : this.other);
    if (line === 'POST /enrol') return Response.json({ token: `token ${++this.#enrolled}` });
    if (line === 'GET /head-list' && this.headList) return new Response(this.headList);
    if (line.startsWith(`POST ${RELAY}`)) return new Response(null, { status: 202 });
    if (line === 'POST /reports') return new Response('{}', { status: 202 });
    if (address.endsWith('/report-token')) return this.#issue(options);
    if (path !== '/opt-in') return new Response('', { status: 404 });
    return this.#optIn(options, token);
  };

  #issue({ body }: RequestInit): Response {
    const { request } = JSON.parse(String(body));
    const secret = this.issuer?.secret;
    const answer = secret ? signed(secret, Buffer.from(request, 'base64url')) : '';
    return Response.json({ response: Buffer.from(answer).toString('base64url') });
  }

  #optIn({ method, body }: RequestInit, token: string): Response {
    const status = this.answers.shift() ?? (method === 'DELETE' ? 204 : 201);
    if (status === 0 || (status >= 200 && status < 300)) {
      if (method === 'DELETE') this.held.delete(token);
      else this.held.set(token, String(body));
    }
    if (status <= 0) throw new TypeError('network error');
    return new Response(null, { status });
  }

  #bodies(wanted: string): readonly string[] {
    return this.traffic.filter(({ line }) => line === wanted).map(({ body }) => body);
  }
}
