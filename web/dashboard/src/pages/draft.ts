/** Draft of a campaign: the fields of the form, and the message that is sent. */

import { count, plain } from '@blender-dp/pages/numbers.js';
import { PRESETS } from '@blender-dp/pages/presets.js';
import type { Campaign, Issuer, NewCampaign, Question, Relay, Rules } from '../api/messages.js';
import { lossOf } from '../words/privacy.js';

export interface Draft {
  readonly name: string;
  readonly purpose: string;
  readonly controller: string;
  readonly contact: string;
  readonly privacy_policy: string;
  readonly query_name: string;
  readonly url_name: string;
  /** The id of an earlier campaign whose released records are known; empty if nothing is. */
  readonly known: string;
  readonly consent_text: string;
  readonly consent_version: string;
  readonly open_enrolment: boolean;
  readonly reports: 'open' | 'token';
  /** Empty if the service issues tokens. */
  readonly issuer_address: string;
  readonly issuer_public_key: string;
  readonly preset: 'sharp' | 'paper';
  readonly epsilon: string;
  readonly delta: string;
  readonly expected_opt_in: string;
  readonly expected_clients: string;
  readonly head_list_size: string;
  readonly opt_in_until: string;
  readonly opt_in_enough: string;
  readonly clients_from: string;
  readonly clients_until: string;
  readonly clients_enough: string;
  readonly open_hours: string;
  /** Empty if there is no relay. */
  readonly relay_address: string;
  readonly relay_public_key: string;
  readonly relay_least_batch: string;
  readonly relay_epsilon_cap: string;
  readonly relay_wait_hours: string;
  /** For the prediction only: how many of 100 clients would use a relay. */
  readonly relay_share: string;
  /** The share of a batch that may be dishonest, which the form does not show. */
  readonly relay_dishonest: number | undefined;
  /** Parameters that the form does not show. */
  readonly others: Partial<NewCampaign['parameters']>;
}

export const EMPTY_DRAFT: Draft = {
  name: '',
  purpose: '',
  controller: '',
  contact: '',
  privacy_policy: '',
  query_name: '',
  url_name: '',
  known: '',
  consent_text: '',
  consent_version: '1',
  open_enrolment: false,
  reports: 'open',
  issuer_address: '',
  issuer_public_key: '',
  preset: 'sharp',
  epsilon: '4',
  delta: '1e-6',
  expected_opt_in: '5000',
  expected_clients: '95000',
  head_list_size: '',
  opt_in_until: '',
  opt_in_enough: '',
  clients_from: '',
  clients_until: '',
  clients_enough: '',
  open_hours: '24',
  relay_address: '',
  relay_public_key: '',
  relay_least_batch: '',
  relay_epsilon_cap: '8',
  relay_wait_hours: '48',
  relay_share: '',
  relay_dishonest: undefined,
  others: {},
};

/** Returns a draft after a change; δ follows the number of people until somebody chooses it. */
export function changed(draft: Draft, part: Partial<Draft>): Draft {
  const next = { ...draft, ...part };
  const isSuited = draft.delta === suitableDelta(usersOf(draft));
  return isSuited && part.delta === undefined
    ? { ...next, delta: suitableDelta(usersOf(next)) }
    : next;
}

/** Returns the largest power of ten that is at most 1/(10·users) and at most 10⁻⁵. */
export function suitableDelta(users: number): string {
  return `1e-${Math.max(5, Math.ceil(Math.log10(Math.max(users, 1)) - 1e-9) + 1)}`;
}

function usersOf(draft: Draft): number {
  return (whole(draft.expected_opt_in) ?? 0) + (whole(draft.expected_clients) ?? 0);
}

/** Returns why δ is large for the people expected, or null; the rule of the service. */
export function deltaWarning(draft: Draft): string | null {
  const users = usersOf(draft);
  const delta = Number(draft.delta);
  if (users < 1 || !(delta > 0 && delta < 1) || delta * 10 * users <= 1) return null;
  return `δ is large for ${count(users)} people. It allows that some person is exposed with a probability of up to ${plain(Math.min(1, delta * users))}; choose at most ${plain(1 / (10 * users))}.`;
}

export function campaignOf(draft: Draft): NewCampaign {
  return {
    name: draft.name.trim(),
    purpose: draft.purpose.trim(),
    controller: draft.controller.trim(),
    contact: draft.contact.trim(),
    privacy_policy: draft.privacy_policy.trim(),
    query_name: draft.query_name.trim() || null,
    url_name: draft.url_name.trim() || null,
    consent: { version: draft.consent_version.trim(), text: draft.consent_text.trim() },
    parameters: {
      ...draft.others,
      epsilon: Number(draft.epsilon),
      delta: Number(draft.delta),
      head_list_size: whole(draft.head_list_size),
      preset: draft.preset,
    },
    expected_clients: whole(draft.expected_clients) ?? 0,
    ...(hasRelay(draft) ? { relay: relayOf(draft) } : {}),
    ...(draft.reports === 'token' ? { reports: draft.reports } : {}),
    ...(hasIssuer(draft) ? { issuer: issuerOf(draft) } : {}),
    known: draft.known.trim() || null,
    open_enrolment: draft.open_enrolment,
    rules: rulesOf(draft),
  };
}

/** Tells whether somebody began to fill in a relay. */
export function hasRelay(draft: Draft): boolean {
  const filled = [draft.relay_address, draft.relay_public_key, draft.relay_least_batch];
  return filled.some((text) => text.trim() !== '');
}

/** Tells whether somebody began to fill in an issuer of tokens. */
export function hasIssuer({ reports, issuer_address, issuer_public_key }: Draft): boolean {
  return reports === 'token' && `${issuer_address}${issuer_public_key}`.trim() !== '';
}

function issuerOf(draft: Draft): Issuer {
  return {
    address: draft.issuer_address.trim(),
    public_key: draft.issuer_public_key.trim(),
  };
}

function relayOf(draft: Draft): Relay {
  return {
    address: draft.relay_address.trim(),
    public_key: draft.relay_public_key.trim(),
    least_batch: whole(draft.relay_least_batch) ?? 0,
    epsilon_cap: Number(draft.relay_epsilon_cap),
    ...(draft.relay_dishonest === undefined ? {} : { dishonest: draft.relay_dishonest }),
  };
}

function rulesOf(draft: Draft): Rules {
  return {
    opt_in_until: time(draft.opt_in_until),
    opt_in_enough: whole(draft.opt_in_enough),
    clients_from: time(draft.clients_from),
    clients_until: time(draft.clients_until),
    clients_enough: whole(draft.clients_enough),
    open_hours: whole(draft.open_hours) ?? 0,
    ...(hasRelay(draft) ? { relay_wait_hours: whole(draft.relay_wait_hours) } : {}),
  };
}

/** Returns the form of a campaign, to edit it. */
export function draftOf(campaign: Campaign): Draft {
  const { rules, consent, parameters, relay } = campaign;
  const { epsilon, delta } = lossOf(campaign);
  const number = (value: unknown) => (typeof value === 'number' ? `${value}` : '');
  return {
    name: campaign.name,
    purpose: campaign.purpose,
    controller: campaign.controller ?? '',
    contact: campaign.contact ?? '',
    privacy_policy: campaign.privacy_policy ?? '',
    query_name: campaign.query_name ?? '',
    url_name: campaign.url_name ?? '',
    known: campaign.known ?? '',
    consent_text: consent.text,
    consent_version: consent.version,
    open_enrolment: campaign.open_enrolment,
    reports: campaign.reports ?? 'open',
    issuer_address: campaign.issuer?.address ?? '',
    issuer_public_key: campaign.issuer?.public_key ?? '',
    preset: parameters.preset === 'paper' ? 'paper' : 'sharp',
    epsilon: `${epsilon}`,
    delta: `${delta}`,
    expected_opt_in: number(rules.opt_in_enough),
    expected_clients: `${campaign.expected_clients}`,
    head_list_size: number(parameters.head_list_size),
    opt_in_until: field(rules.opt_in_until),
    opt_in_enough: number(rules.opt_in_enough),
    clients_from: field(rules.clients_from),
    clients_until: field(rules.clients_until),
    clients_enough: number(rules.clients_enough),
    open_hours: number(rules.open_hours),
    relay_address: relay?.address ?? '',
    relay_public_key: relay?.public_key ?? '',
    relay_least_batch: number(relay?.least_batch),
    relay_epsilon_cap: number(relay?.epsilon_cap) || EMPTY_DRAFT.relay_epsilon_cap,
    relay_wait_hours: number(rules.relay_wait_hours) || EMPTY_DRAFT.relay_wait_hours,
    relay_share: '',
    relay_dishonest: relay?.dishonest,
    others: parameters,
  };
}

/** Returns the form of a new campaign like an earlier one, whose times are over and key is used. */
export function duplicateOf(campaign: Campaign): Draft {
  const draft = draftOf(campaign);
  const isKnown = campaign.state === 'released' && PRESETS[draft.preset].takesRelay;
  const known = isKnown ? campaign.id : '';
  const over = { opt_in_until: '', clients_from: '', clients_until: '', issuer_public_key: '' };
  return { ...draft, known, ...over };
}

/** Returns the planner's question, or null as long as there is none. */
export function questionOf(draft: Draft): Question | null {
  const [optIn, clients] = [whole(draft.expected_opt_in), whole(draft.expected_clients)];
  const [epsilon, delta] = [Number(draft.epsilon), Number(draft.delta)];
  if (!optIn || !clients || !(epsilon > 0) || !(delta > 0 && delta < 1)) return null;
  const users = optIn + clients;
  const relayed = Math.min((whole(draft.relay_share) ?? 0) / 100, 1);
  const cap = Number(draft.relay_epsilon_cap);
  const { takesRelay } = PRESETS[draft.preset];
  return {
    users,
    opt_in: optIn / users,
    epsilon,
    delta,
    preset: draft.preset,
    head_list_size: whole(draft.head_list_size),
    ...(relayed > 0 && takesRelay ? { relay: relayed } : {}),
    ...(relayed > 0 && takesRelay && cap > 0 ? { relay_cap: cap } : {}),
    ...(draft.known.trim() && takesRelay ? { known: true } : {}),
  };
}

export function whole(text: string): number | null {
  const trimmed = text.trim();
  return /^\d+$/.test(trimmed) ? Number(trimmed) : null;
}

/** Returns a time of the form, which is meant in UTC, as it is sent. */
export function time(text: string): string | null {
  return text ? `${text.length === 16 ? `${text}:00` : text}Z` : null;
}

/** Returns a time as the form shows it. */
function field(sent: string | null | undefined): string {
  return sent ? new Date(sent).toISOString().slice(0, 16) : '';
}
