/** Faults of a draft: what is missing, what the service would refuse, and what devices refuse. */

import { count, plain } from '@blender-dp/pages/numbers.js';
import { PRESETS } from '@blender-dp/pages/presets.js';
import { visible } from '@blender-dp/pages/visible.js';
import { type Draft, hasIssuer, hasRelay, time, whole } from './draft.js';

export type FieldName = Exclude<
  keyof Draft,
  'open_enrolment' | 'reports' | 'preset' | 'relay_dishonest' | 'others'
>;
/** A sentence for every field at fault. */
export type Faults = Readonly<Partial<Record<FieldName, string>>>;

const NEEDED: readonly FieldName[] = [
  ...(['name', 'purpose', 'controller', 'contact', 'privacy_policy'] as const),
  ...(['consent_text', 'consent_version', 'epsilon', 'delta'] as const),
];
/** Needed as soon as one of them is there. */
const NEEDED_OF_A_RELAY: readonly FieldName[] = [
  ...(['relay_address', 'relay_public_key', 'relay_least_batch'] as const),
  ...(['relay_epsilon_cap', 'relay_wait_hours'] as const),
];
/** Needed as soon as one of them is there. */
const NEEDED_OF_AN_ISSUER: readonly FieldName[] = ['issuer_address', 'issuer_public_key'];
const MOST_LETTERS: PerField<number> = {
  name: 200,
  purpose: 10_000,
  controller: 200,
  contact: 200,
  privacy_policy: 2000,
  query_name: 40,
  url_name: 40,
  known: 36,
  consent_text: 10_000,
  consent_version: 100,
};
/** Texts that may have several lines. */
const TEXTS: readonly string[] = ['purpose', 'consent_text'];
const MOST_PEOPLE = 10 ** 10;
/** The least and the largest whole number of a field. */
const WHOLE: PerField<readonly [number, number]> = {
  expected_opt_in: [0, MOST_PEOPLE],
  expected_clients: [0, MOST_PEOPLE],
  head_list_size: [1, 100_000],
  opt_in_enough: [1, MOST_PEOPLE],
  clients_enough: [1, MOST_PEOPLE],
  open_hours: [0, 24 * 366],
  relay_least_batch: [1, MOST_PEOPLE],
  relay_wait_hours: [0, 24 * 366],
  relay_share: [0, 100],
};
const MOST_EPSILON = 64;
/** What devices accept, unless their owner allows more. */
const MOST_RELAY_EPSILON = 8;
export const DEVICE_LIMITS = {
  mostEpsilon: 8,
  mostDelta: 1e-5,
  windowDays: 90,
};
type PerField<T> = Readonly<Partial<Record<FieldName, T>>>;

/** Returns the fields that must still be filled. */
export function missingFields(draft: Draft): Faults {
  const needed = [
    ...NEEDED,
    ...(hasRelay(draft) ? NEEDED_OF_A_RELAY : []),
    ...(hasIssuer(draft) ? NEEDED_OF_AN_ISSUER : []),
  ];
  const empty = needed.filter((name) => !draft[name].trim());
  return Object.fromEntries(empty.map((name) => [name, 'Please fill this in.']));
}

/** Returns the fields that the service would refuse; empty ones are not among them. */
export function wrongFields(draft: Draft, now: Date): Faults {
  const filled = Object.entries(checks(draft, now)).filter(
    ([name, fault]) => fault && draft[name as FieldName].trim(),
  );
  return Object.fromEntries(filled);
}

function checks(draft: Draft, now: Date): Record<string, string | null> {
  const lengths = Object.entries(MOST_LETTERS).map(([name, most]) => [
    name,
    textFault(name, draft[name as FieldName].trim(), most),
  ]);
  const numbers = Object.entries(WHOLE).map(([name, [least, most]]) => [
    name,
    numberFault(draft[name as FieldName], least, most),
  ]);
  const [epsilon, delta] = [Number(draft.epsilon), Number(draft.delta)];
  return {
    ...Object.fromEntries([...lengths, ...numbers]),
    ...timeFaults(draft, now),
    ...relayFaults(draft),
    ...(hasIssuer(draft) ? issuerFaults(draft) : {}),
    ...(isWebAddress(draft.privacy_policy.trim()) ? {} : { privacy_policy: WEB_ADDRESS }),
    epsilon:
      epsilon > 0 && epsilon <= MOST_EPSILON
        ? null
        : `ε must be a number above 0, at most ${MOST_EPSILON}.`,
    delta: delta > 0 && delta < 1 ? null : 'δ must be between 0 and 1.',
  };
}

function issuerFaults(draft: Draft): Record<string, string | null> {
  return {
    issuer_address: isPlainAddress(draft.issuer_address.trim()) ? null : PLAIN_ADDRESS,
    issuer_public_key: /^[A-Za-z0-9_-]{456}$/.test(draft.issuer_public_key.trim())
      ? null
      : 'This must be the key that the issuer prints when it starts: 456 letters, digits, - or _.',
  };
}

/** Tells whether an address is one that devices send something to. */
function isPlainAddress(address: string): boolean {
  return isWebAddress(address) && !/[?#@]/.test(address);
}

function relayFaults(draft: Draft): Record<string, string | null> {
  const cap = Number(draft.relay_epsilon_cap);
  return {
    relay_address: isPlainAddress(draft.relay_address.trim())
      ? PRESETS[draft.preset].takesRelay
        ? null
        : 'A relay needs the preset sharp.'
      : PLAIN_ADDRESS,
    relay_public_key: /^[A-Za-z0-9_-]{43}$/.test(draft.relay_public_key.trim())
      ? null
      : 'This must be the key that the relay prints when it starts: 43 letters, digits, - or _.',
    relay_epsilon_cap:
      cap > 0 && cap <= MOST_EPSILON
        ? null
        : `This must be a number above 0, at most ${MOST_EPSILON}.`,
  };
}

const PLAIN_ADDRESS =
  'This must be a web address that begins with https://, without a name, ? or #.';
const WEB_ADDRESS =
  'This must be a web address that begins with https://, without a user name, invisible signs or backslashes.';

function textFault(name: string, text: string, most: number): string | null {
  const lines = TEXTS.includes(name) ? text.split('\n') : [text];
  if (lines.some((line) => visible(line) !== line))
    return 'This has a sign that nobody sees. Delete it, or type the text anew.';
  return lengthFault(text, most);
}

function lengthFault(text: string, most: number): string | null {
  const letters = [...text].length;
  if (letters <= most) return null;
  return `This is too long: ${count(letters)} characters. At most ${count(most)} are possible.`;
}

function numberFault(text: string, least: number, most: number): string | null {
  const value = whole(text);
  if (value !== null && value >= least && value <= most) return null;
  return `This must be a whole number from ${count(least)} to ${count(most)}.`;
}

/** Tells whether an address opens what people read; the rule of the service. */
function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s/@\\?#]+([/?#][^\s\\]*)?$/i.test(text)) return false;
  return !/[\p{C}\p{Z}<>"`{}|^]/u.test(text) && URL.canParse(text);
}

/** Rules under which a side would be over before it began. */
function timeFaults(draft: Draft, now: Date): Faults {
  const at = (name: FieldName) => Date.parse(time(draft[name]) ?? '');
  const isPast = (name: FieldName) => at(name) <= now.getTime();
  const past = 'This time is over. Choose a later one; times are in UTC.';
  const faults: Partial<Record<FieldName, string>> = {};
  if (isPast('opt_in_until')) faults.opt_in_until = past;
  if (at('clients_until') <= at('clients_from'))
    faults.clients_until = 'This must be later than the time at which clients begin.';
  if (at('clients_until') <= at('opt_in_until'))
    faults.clients_until = 'This must be later than the end of the opt-in side.';
  if (isPast('clients_until')) faults.clients_until = past;
  return faults;
}

/** Returns what devices will refuse although the service takes it. */
export function deviceNotes(draft: Draft): Faults {
  const { mostEpsilon, mostDelta, windowDays } = DEVICE_LIMITS;
  return {
    ...(Number(draft.epsilon) > mostEpsilon && {
      epsilon: `Most devices will not take part: they spend at most ε = ${plain(mostEpsilon)} in ${windowDays} days, on all collections together.`,
    }),
    ...(hasRelay(draft) &&
      Number(draft.relay_epsilon_cap) > MOST_RELAY_EPSILON && {
        relay_epsilon_cap: `Most devices will not take part: you and the relay together may learn at most ε = ${plain(MOST_RELAY_EPSILON)} of a report.`,
      }),
    ...(Number(draft.delta) > mostDelta && {
      delta: `Most devices will not take part: they accept at most δ = ${plain(mostDelta)}.`,
    }),
  };
}

const REFUSED: Faults = {
  delta: 'The service does not allow a δ as large as this.',
  issuer_public_key: 'Another campaign has this key. Ask the issuer for its next one.',
};
const RENAMED: Readonly<Record<string, FieldName>> = {
  relay: 'relay_address',
  issuer: 'issuer_address',
  text: 'consent_text',
  version: 'consent_version',
};

/** Returns the field that a refusal of the service names, with a sentence; nothing if it names none. */
export function refusedField(where: string | null): Faults {
  const path = where?.split('.') ?? [];
  const last = path.at(-1) ?? '';
  const server = ['relay', 'issuer'].find((one) => path.includes(one));
  const ofServer = server ? [server, ...path.slice(path.indexOf(server) + 1)] : [];
  const name = RENAMED[last] ?? ((ofServer.join('_') || last) as FieldName);
  const isKnown =
    [...NEEDED, ...NEEDED_OF_A_RELAY, ...NEEDED_OF_AN_ISSUER].includes(name) ||
    name in MOST_LETTERS ||
    name in WHOLE ||
    /_(until|from)$/.test(name);
  return isKnown ? { [name]: REFUSED[name] ?? 'The service does not take this value.' } : {};
}
