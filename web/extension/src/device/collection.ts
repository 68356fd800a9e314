/** A campaign of a service, over HTTP: all but reports and releases, which the client does. */
import type { Fetch } from '@blender-dp/client';
import { parsed } from '../search-pages/match-pattern.js';

const PATIENCE = 30_000;
const LOOPBACK = ['127.0.0.1', 'localhost'];
const ADDRESS = /^(.*)\/v1\/campaigns\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/?$/;
const KEY = /^#([\w-]{43})$/;

/** Where to take part; an organisation gives it to people as a link. */
export interface Invitation {
  readonly service: string;
  readonly campaign: string;
  /** The service's public key, if the link has it: then no other is ever trusted. */
  readonly publicKey: string | null;
}

/** What everybody may know of a campaign, as far as the extension uses it. */
export interface Campaign {
  readonly name: string;
  readonly purpose: string;
  readonly state: string;
  readonly consent: { readonly version: string; readonly text: string; readonly digest: string };
  readonly epsilon: number;
  readonly isOpenToAll: boolean;
  /** When the opt-in side closes, in milliseconds since 1970; null if nobody said. */
  readonly optInUntil: number | null;
}

/** Reads a link such as https://collect.example/v1/campaigns/0000…#key. */
export function readInvitation(text: string): Invitation | undefined {
  const url = parsed(text.trim());
  if (!url || url.username || url.password || url.search) return undefined;
  const isSafe = url.protocol === 'https:' || LOOPBACK.includes(url.hostname);
  const [, path, campaign] = ADDRESS.exec(url.pathname) ?? [];
  const key = url.hash ? KEY.exec(url.hash)?.[1] : null;
  if (!isSafe || !/^https?:$/.test(url.protocol) || !campaign || key === undefined)
    return undefined;
  return { service: url.origin + (path ?? ''), campaign, publicKey: key };
}

/** Returns the match pattern of the service, which a person is asked to allow. */
export function servicePattern({ service }: Invitation): string {
  const { protocol, hostname } = new URL(service);
  return `${protocol}//${hostname}/*`;
}

/** Returns the digest by which a receipt names the text of a consent. */
export async function textDigest(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const hex = Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0'));
  return `sha256:${hex.join('')}`;
}

/** Reads a campaign; the digest of its consent is computed here, never believed. */
export async function readCampaign(document: unknown): Promise<Campaign | undefined> {
  const {
    name,
    purpose,
    state,
    consent,
    parameters,
    rules,
    open_enrolment: isOpen,
  } = fields(document);
  const { version, text } = fields(consent);
  const { epsilon } = fields(parameters);
  const { opt_in_until: until } = fields(rules);
  if (!areTexts(name, purpose, state, version, text) || typeof epsilon !== 'number')
    return undefined;
  const optInUntil = typeof until === 'string' ? Date.parse(until) : Number.NaN;
  return {
    name: `${name}`,
    purpose: `${purpose}`,
    state: `${state}`,
    consent: { version: `${version}`, text: `${text}`, digest: await textDigest(`${text}`) },
    epsilon,
    isOpenToAll: isOpen === true,
    optInUntil: Number.isNaN(optInUntil) ? null : optInUntil,
  };
}

/** One campaign, asked for and written to. */
export class Collection {
  readonly #address: string;
  readonly #fetch: Fetch;

  constructor({ service, campaign }: Invitation, fetch: Fetch) {
    this.#address = `${service}/v1/campaigns/${campaign}`;
    this.#fetch = fetch;
  }

  /** Returns the campaign, or undefined if the service cannot be reached or has none. */
  async campaign(): Promise<Campaign | undefined> {
    const response = await this.#request('', {});
    return response?.ok ? readCampaign(await json(response)) : undefined;
  }

  /** Returns a token for one contribution. */
  async enrol(): Promise<string | undefined> {
    const response = await this.#request('/enrol', { method: 'POST' });
    const { token } = fields(response?.ok ? await json(response) : null);
    return typeof token === 'string' ? token : undefined;
  }

  /** Sends a contribution; returns the status of the answer, 0 if there was none. */
  contribute(token: string, body: string): Promise<number> {
    const headers = { ...bearer(token), 'content-type': 'application/json' };
    return this.#status('/opt-in', { method: 'POST', headers, body });
  }

  /** Has a contribution deleted; returns the status of the answer, 0 if there was none. */
  withdraw(token: string): Promise<number> {
    return this.#status('/opt-in', { method: 'DELETE', headers: bearer(token) });
  }

  async #status(path: string, options: RequestInit): Promise<number> {
    return (await this.#request(path, options))?.status ?? 0;
  }

  async #request(path: string, options: RequestInit): Promise<Response | undefined> {
    try {
      return await this.#fetch(this.#address + path, {
        ...options,
        cache: 'no-store',
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        signal: AbortSignal.timeout(PATIENCE),
      });
    } catch {
      return undefined;
    }
  }
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

async function json(response: Response): Promise<unknown> {
  return response.json().catch(() => null);
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}
