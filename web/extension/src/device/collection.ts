/** Campaign of a service as it is shown to people; the client does everything else. */
import { type Fetch, readDescription } from '@blender-dp/client';
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

/** Public facts of a campaign that the extension uses. */
export interface Campaign {
  /** The digest of all that is promised: what a person chose by must stay as it is. */
  readonly description: string;
  readonly name: string;
  readonly purpose: string;
  readonly state: string;
  readonly consent: { readonly version: string; readonly text: string; readonly digest: string };
  readonly epsilon: number;
  readonly isOpenToAll: boolean;
  /** When the opt-in side closes, in milliseconds since 1970; null if it is not set. */
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

/** Reads a campaign from its description, whose digests are computed here and never believed. */
export async function readCampaign(text: string, id: string): Promise<Campaign | undefined> {
  const description = await readDescription(text, id).catch(() => undefined);
  if (!description) return undefined;
  const { name, purpose, consent, rules, open_enrolment: isOpen } = description.fields;
  const { version, text: consentText } = fields(consent);
  const { state } = description;
  const { opt_in_until: until } = fields(rules);
  if (!areTexts(name, purpose, state, version)) return undefined;
  const optInUntil = typeof until === 'string' ? Date.parse(until) : Number.NaN;
  return {
    description: description.digest,
    name: `${name}`,
    purpose: `${purpose}`,
    state: `${state}`,
    consent: { version: `${version}`, text: `${consentText}`, digest: description.consent },
    epsilon: Number(description.epsilon),
    isOpenToAll: isOpen === true,
    optInUntil: Number.isNaN(optInUntil) ? null : optInUntil,
  };
}

/** Returns a campaign, or undefined if the service cannot be reached or has none. */
export async function fetchCampaign(
  { service, campaign }: Invitation,
  fetch: Fetch,
): Promise<Campaign | undefined> {
  try {
    const response = await fetch(`${service}/v1/campaigns/${campaign}`, {
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(PATIENCE),
    });
    return response.ok ? await readCampaign(await response.text(), campaign) : undefined;
  } catch {
    return undefined;
  }
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}
