/** Draft of a campaign: the fields of the form, and the message that is sent. */

import { count, plain } from '@blender-dp/pages/numbers.js';
import type { NewCampaign, Question, Rules } from '../api/messages.js';

export interface Draft {
  readonly name: string;
  readonly purpose: string;
  readonly controller: string;
  readonly contact: string;
  readonly privacy_policy: string;
  readonly consent_text: string;
  readonly consent_version: string;
  readonly open_enrolment: boolean;
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
}

export const EMPTY_DRAFT: Draft = {
  name: '',
  purpose: '',
  controller: '',
  contact: '',
  privacy_policy: '',
  consent_text: '',
  consent_version: '1',
  open_enrolment: false,
  preset: 'sharp',
  epsilon: '4',
  delta: '1e-5',
  expected_opt_in: '5000',
  expected_clients: '95000',
  head_list_size: '',
  opt_in_until: '',
  opt_in_enough: '',
  clients_from: '',
  clients_until: '',
  clients_enough: '',
  open_hours: '24',
};

const NEEDED = {
  name: 'a name',
  purpose: 'a purpose',
  controller: 'the name of who collects',
  contact: 'a contact',
  privacy_policy: 'the address of a privacy policy',
  consent_text: 'a consent text',
  consent_version: 'a version of the consent text',
} as const;
const WHOLE = {
  expected_clients: 'clients expected',
  head_list_size: 'queries kept at most',
  opt_in_enough: 'the number of contributions',
  clients_enough: 'the number of reports',
  open_hours: 'the number of hours',
} as const;

/** Returns what must be mended before the draft can be sent, in a sentence. */
export function missing(draft: Draft): string | null {
  for (const [name, what] of Object.entries(NEEDED)) {
    if (!draft[name as keyof typeof NEEDED].trim()) return `The campaign needs ${what}.`;
  }
  if (!/^https?:\/\/[^\s/]\S*$/.test(draft.privacy_policy.trim())) {
    return 'The privacy policy must be a web address that begins with https://.';
  }
  if (!(Number(draft.epsilon) > 0)) return 'ε must be a number above 0.';
  if (!(Number(draft.delta) > 0 && Number(draft.delta) < 1)) return 'δ must be between 0 and 1.';
  for (const [name, what] of Object.entries(WHOLE)) {
    const text = draft[name as keyof typeof WHOLE].trim();
    if (text && !/^\d+$/.test(text)) return `${capital(what)} must be a whole number.`;
  }
  return null;
}

/** Returns why δ is large for the people expected, or null; the rule of the service. */
export function deltaWarning(draft: Draft): string | null {
  const users = (whole(draft.expected_opt_in) ?? 0) + (whole(draft.expected_clients) ?? 0);
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
    consent: { version: draft.consent_version.trim(), text: draft.consent_text.trim() },
    parameters: {
      epsilon: Number(draft.epsilon),
      delta: Number(draft.delta),
      head_list_size: whole(draft.head_list_size),
      preset: draft.preset,
    },
    expected_clients: whole(draft.expected_clients) ?? 0,
    open_enrolment: draft.open_enrolment,
    rules: rulesOf(draft),
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
  };
}

/** Returns the planner's question, or null as long as there is none. */
export function questionOf(draft: Draft): Question | null {
  const [optIn, clients] = [whole(draft.expected_opt_in), whole(draft.expected_clients)];
  const [epsilon, delta] = [Number(draft.epsilon), Number(draft.delta)];
  if (!optIn || !clients || !(epsilon > 0) || !(delta > 0 && delta < 1)) return null;
  const users = optIn + clients;
  return {
    users,
    opt_in: optIn / users,
    epsilon,
    delta,
    preset: draft.preset,
    head_list_size: whole(draft.head_list_size),
  };
}

function whole(text: string): number | null {
  const trimmed = text.trim();
  return /^\d+$/.test(trimmed) ? Number(trimmed) : null;
}

/** Returns a time of the form, which is meant in UTC, as it is sent. */
function time(text: string): string | null {
  return text ? `${text.length === 16 ? `${text}:00` : text}Z` : null;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
