/** Ledger of a device: what it promised and spent, and what it knows of services; kept forever. */
import type { Fields } from './canonical.js';
import { must } from './refusal.js';

const VERSION = 2;

/** The groups of a campaign: local clients, relay clients, opt-in users. A person is in one of them. */
export type Role = 'report' | 'relayed' | 'contribution';

/**
 * What became of what was sent: "uncertain" may have arrived and is never sent again, "withdrawn"
 * was deleted by the service, which confirmed it.
 */
export type EntryState = 'unsent' | 'sent' | 'refused' | 'uncertain' | 'withdrawn';

/** What a device sends to a campaign in one role: made once, sent as often as it takes. */
export interface LedgerEntry {
  readonly campaign: string;
  readonly role: Role;
  /** The address of the service that it was made for; empty if an earlier version kept none. */
  readonly service: string;
  /** The address of the relay that a relayed report is sent to. */
  readonly relay?: string;
  /** The digest of what it was made for: a report's list, or a contribution's description (empty if unknown). */
  readonly madeFor: string;
  /** Exactly what is sent; empty after the person chose to forget it. */
  readonly body: string;
  /** What lets a contribution in and takes it back, or a report's token; empty if it needs none. */
  readonly token: string;
  /** The ε that it costs, a decimal text. */
  readonly epsilon: string;
  /** The δ that it costs, a decimal text. */
  readonly delta: string;
  /** The ε0 of a relayed report, a decimal text: what relay and collector learn if they work together. */
  readonly relayEpsilon?: string;
  /** When it was made, in milliseconds since 1970. */
  readonly drawnAt: number;
  readonly state: EntryState;
  /** A report with a token is sent not before, in milliseconds since 1970. */
  readonly sendAfter?: number;
  /** How often it may have left the device: of contributions and relayed reports of this version. */
  readonly attempts?: number;
}

/** The token for the report of a campaign, from the request until the report is made. */
export interface KeptToken {
  /** The address of the service that collects. */
  readonly service: string;
  /** The address that the token is asked for; it ends with a slash. */
  readonly issuer: string;
  /** What lets this person have one token; empty when it is here. */
  readonly enrolment: string;
  /** What is asked: always the same bytes. */
  readonly request: string;
  /** Part of the token that only this device knows until it is used; empty when it is here. */
  readonly nonce: string;
  /** What removes the blinding; empty when the token is here. */
  readonly inverse: string;
  /** The token; empty until the issuer has answered. */
  readonly token: string;
  /** When it was asked for, in milliseconds since 1970. */
  readonly askedAt: number;
  /** The report is sent not before, in milliseconds since 1970; drawn when the token is here. */
  readonly reportAfter: number;
}

/** Where an entry of a public log is: its index, and the hash that fixes all before it. */
export interface LogPlace {
  readonly index: number;
  readonly hash: string;
}

/** What a service signed of a list: proof against it, should it show others another one. */
export interface Evidence {
  readonly campaign: string;
  readonly description: string;
  /** The digest of the list, which is itself published. */
  readonly head_list: string;
  readonly log_entry: Fields;
  readonly public_key: string;
  readonly signature: string;
}

export interface Ledger {
  readonly version: typeof VERSION;
  /** The public key of every service, by its address. */
  readonly keys: Readonly<Record<string, string>>;
  /** The digest of the list of every campaign, by campaign: whatever address it comes from. */
  readonly lists: Readonly<Record<string, string>>;
  /** The last place read of every public log, by the key that signs it. */
  readonly logs: Readonly<Record<string, LogPlace>>;
  /** What was signed of the list of every campaign, by campaign. */
  readonly evidence: Readonly<Record<string, Evidence>>;
  /** The tokens that no report was made with yet, by campaign. */
  readonly tokens: Readonly<Record<string, KeptToken>>;
  readonly entries: readonly LedgerEntry[];
}

/** The ledger as the first version kept it: reports alone, lists by address and campaign. */
export interface FirstLedger {
  readonly keys: Readonly<Record<string, string>>;
  readonly lists: Readonly<Record<string, string>>;
  readonly entries: readonly {
    readonly service: string;
    readonly campaign: string;
    readonly headList: string;
    readonly report: string;
    readonly epsilon: string;
    readonly drawnAt: number;
    readonly state: 'unsent' | 'sent' | 'refused';
  }[];
}

export const EMPTY_LEDGER: Ledger = {
  version: VERSION,
  keys: {},
  lists: {},
  logs: {},
  evidence: {},
  tokens: {},
  entries: [],
};

/** The changed ledger (left out if it stays as it was), and the answer to the caller. */
export interface Change<Value> {
  readonly ledger?: Ledger;
  readonly value: Value;
}

/** Returns a stored ledger as this version keeps it; nothing that was spent is lost on the way. */
export function upToDate(stored: Ledger | FirstLedger | undefined): Ledger {
  if (!stored) return EMPTY_LEDGER;
  if (!('version' in stored)) return migrated(stored);
  must(stored.version === VERSION, 'the ledger was written by a newer version of this software');
  return { ...EMPTY_LEDGER, ...stored };
}

/** Of two lists that one campaign showed under two addresses, the one seen first is remembered. */
function migrated({ keys, lists, entries }: FirstLedger): Ledger {
  const named = Object.entries(lists).map(([name, digest]): [string, string] => [
    name.slice(name.lastIndexOf(' ') + 1),
    digest,
  ]);
  return {
    ...EMPTY_LEDGER,
    keys,
    lists: Object.fromEntries(named.reverse()),
    entries: entries.map(({ headList: madeFor, report: body, ...rest }) => ({
      ...rest,
      role: 'report',
      madeFor,
      body,
      token: '',
      delta: '0.0',
    })),
  };
}

/** Returns what a device made for a campaign in one role, if it did. */
export function findEntry(ledger: Ledger, campaign: string, role: Role): LedgerEntry | undefined {
  return ledger.entries.find((entry) => entry.campaign === campaign && entry.role === role);
}

/** Returns the digest of the description that a campaign showed first, if it is known. */
export function knownDescription(ledger: Ledger, campaign: string): string | undefined {
  const given = findEntry(ledger, campaign, 'contribution')?.madeFor;
  return ledger.evidence[campaign]?.description ?? (given || undefined);
}

/** Returns the ledger with one entry changed. */
export function withChange(
  ledger: Ledger,
  { campaign, role, service }: LedgerEntry,
  change: Partial<LedgerEntry>,
): Ledger {
  const entries = ledger.entries.map((entry) =>
    entry.campaign === campaign && entry.role === role && entry.service === service
      ? { ...entry, ...change }
      : entry,
  );
  return { ...ledger, entries };
}

/**
 * Returns what must remain when a person has everything forgotten: who got what, when, at what
 * cost, and what takes a contribution back. Without that the device would report to the same
 * campaign again, or be in both of its groups. What was not sent never will be.
 */
export function forgotten(ledger: Ledger): Ledger {
  const campaigns = ledger.entries.map((entry) => entry.campaign);
  const services = ledger.entries.map((entry) => entry.service);
  const evidence = only(ledger.evidence, campaigns);
  const signers = Object.values(evidence).map((signed) => signed.public_key);
  return {
    ...ledger,
    keys: only(ledger.keys, services),
    lists: only(ledger.lists, campaigns),
    logs: only(ledger.logs, signers),
    evidence,
    tokens: {},
    entries: ledger.entries.map((entry) => ({
      ...entry,
      body: '',
      token: entry.role === 'contribution' ? entry.token : '',
      state: entry.state === 'unsent' ? 'uncertain' : entry.state,
    })),
  };
}

/** Returns the part of what is known that has one of these names. */
function only<Known>(
  known: Readonly<Record<string, Known>>,
  names: readonly string[],
): Readonly<Record<string, Known>> {
  return Object.fromEntries(Object.entries(known).filter(([name]) => names.includes(name)));
}
