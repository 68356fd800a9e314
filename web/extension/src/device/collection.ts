/** Campaign of a service as it is shown to people; the client does everything else. */
import { type DescribedRelay, type Fetch, readDescription } from '@blender-dp/client';
import { presetOf } from '@blender-dp/pages/presets.js';
import type { Invitation } from './invitation.js';

const PATIENCE = 30_000;

/** Who collects, as a campaign names them; a text is empty if it does not. */
export interface Collector {
  readonly controller: string;
  readonly contact: string;
  /** The address of the privacy policy. */
  readonly privacyPolicy: string;
}

/** Public facts of a campaign that the extension uses. */
export interface Campaign extends Collector {
  /** The digest of all that is promised: what a person chose by must stay as it is. */
  readonly description: string;
  readonly name: string;
  readonly purpose: string;
  readonly state: string;
  readonly consent: { readonly version: string; readonly text: string; readonly digest: string };
  readonly epsilon: number;
  readonly delta: number;
  /** The name of its method; a report may have a δ by it. */
  readonly preset?: string;
  /** The relay through which people may report; undefined if there is none. */
  readonly relay?: DescribedRelay;
  /** Whether a token goes with every report, which shows that it is from one person. */
  readonly needsToken?: boolean;
  /** The address of the server that gives tokens, if it is not the service. */
  readonly issuer?: string;
  readonly isOpenToAll: boolean;
  /** When the opt-in side closes, in milliseconds since 1970; null if it is not set. */
  readonly optInUntil: number | null;
}

/** States in which a campaign takes nothing more from anybody, ever. */
const OVER: readonly string[] = ['clients-sealed', 'released', 'purged'];

/** Tells whether a campaign takes nothing more from anybody. */
export function isOver({ state }: Pick<Campaign, 'state'>): boolean {
  return OVER.includes(state);
}

/** Tells whether a campaign takes searches as they are now. */
export function takesContributions({ state }: Campaign): boolean {
  return state === 'opt-in-open';
}

/** Tells whether a person needs a code, which they were given: to opt in, or for a report's token. */
export function needsCode(
  { needsToken, issuer, isOpenToAll }: Campaign,
  isOptIn: boolean,
): boolean {
  if (isOptIn) return !isOpenToAll;
  return needsToken === true && (issuer !== undefined || !isOpenToAll);
}

/** Returns the δ of a private report to a campaign; that of the campaign if its method is unknown. */
export function reportDelta({ delta, preset }: Pick<Campaign, 'delta' | 'preset'>): number {
  return presetOf(preset).deltaIsForAll ? delta : 0;
}

/** Reads a campaign from its description, whose digests are computed here and never believed. */
export async function readCampaign(text: string, id: string): Promise<Campaign | undefined> {
  const description = await readDescription(text, id).catch(() => undefined);
  if (!description) return undefined;
  const { name, purpose, consent, rules, open_enrolment: isOpen } = description.fields;
  const { controller, contact, privacy_policy: privacyPolicy } = description.fields;
  const { version, text: consentText } = fields(consent);
  const { state } = description;
  const { opt_in_until: until } = fields(rules);
  const { preset } = fields(description.fields.parameters);
  if (!areTexts(name, purpose, state, version)) return undefined;
  const optInUntil = typeof until === 'string' ? Date.parse(until) : Number.NaN;
  return {
    description: description.digest,
    name: `${name}`,
    purpose: `${purpose}`,
    controller: textOf(controller),
    contact: textOf(contact),
    privacyPolicy: textOf(privacyPolicy),
    state: `${state}`,
    consent: { version: `${version}`, text: `${consentText}`, digest: description.consent },
    epsilon: Number(description.epsilon),
    delta: Number(description.delta),
    ...(typeof preset === 'string' && { preset }),
    ...(description.relay && { relay: description.relay }),
    ...(description.needsToken && { needsToken: true }),
    ...(description.issuer && { issuer: description.issuer.address }),
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

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
