/** Policy of a device: what it refuses, whatever a service asks for. */
import type { Description } from './description.js';
import { exact, type Fraction, isBelow, plus, toDecimal } from './fraction.js';
import {
  knownDescription,
  type Ledger,
  type LedgerEntry,
  type LogPlace,
  type Role,
} from './ledger.js';
import { must } from './refusal.js';
import type { SignedHeadList } from './signed-head-list.js';

const DAY = 86_400_000;
const NOTHING: Fraction = [0n, 1n];

export interface Policy {
  /** The largest ε of one report or contribution, and of all of them in a window. */
  readonly mostEpsilon: number;
  /** The largest δ of one report, and of all contributions and relayed reports in a window. */
  readonly mostDelta: number;
  /** The largest ε0 of one relayed report: what relay and collector could learn from it together. */
  readonly mostRelayEpsilon: number;
  /** The largest ε0 of all relayed reports in a window. */
  readonly mostRelayTotal: number;
  /** How long a window is. */
  readonly windowDays: number;
  /** The least time between two reports to one service, relayed or not. */
  readonly shortestIntervalDays: number;
  /** The fewest queries of a list: among few, an answer says more. */
  readonly smallestList: number;
  /** The longest wait of a report with a token; how long, is drawn. */
  readonly tokenDelayHours: number;
}

export const DEFAULT_POLICY: Policy = {
  mostEpsilon: 8,
  mostDelta: 1e-5,
  mostRelayEpsilon: 8,
  mostRelayTotal: 16,
  windowDays: 90,
  shortestIntervalDays: 7,
  smallestList: 32,
  tokenDelayHours: 24,
};

/** What something costs, as decimal texts. */
export interface Cost {
  readonly epsilon: string;
  readonly delta: string;
  /** ε0 of a relayed report. */
  readonly relayEpsilon?: string;
}

/** A list, what a report against it costs, and the last place read of the log that has it. */
export interface LoggedList {
  readonly signed: SignedHeadList;
  readonly cost: Cost;
  /** What the campaign promised, and how far it was, when it was asked for. */
  readonly promise: Description;
  readonly logged: LogPlace;
}

/** Refuses settings that are no numbers: a comparison with one would let everything through. */
export function requirePolicy(policy: Policy): void {
  const { mostEpsilon, mostDelta, mostRelayEpsilon, mostRelayTotal } = policy;
  must(
    Object.values(policy).every((setting) => setting >= 0) &&
      Number.isFinite(mostEpsilon + mostDelta + mostRelayEpsilon + mostRelayTotal),
    'every setting of the policy must be a number of 0 or more',
  );
}

/** Refuses a list that no device should report against. */
export function requireAcceptable(signed: SignedHeadList, campaign: string, policy: Policy): void {
  const { headList } = signed;
  must(signed.campaign === campaign, 'campaign must be the one that was asked for');
  must(headList.isPrivate, 'private must be true: this list is for an experiment');
  must(
    headList.queries.length >= policy.smallestList,
    'queries must be as many as this device demands',
  );
}

/** Refuses a key or a list that differs from what is known; returns the ledger that knows them. */
export function requireKnown(
  ledger: Ledger,
  service: string,
  { signed, logged }: LoggedList,
  publicKey: string | undefined,
): Ledger {
  const { keys, lists, logs } = ledger;
  const { campaign, description, headList, logEntry, publicKey: signer, signature } = signed;
  const seen = keys[service] ?? signer;
  // A key that was given is better than one that was only seen first.
  must(
    signer === (publicKey ?? seen),
    'the key of this server (public_key) must be the one that it had before; please ask its contact',
  );
  const { digest } = headList;
  must(
    (lists[campaign] ?? digest) === digest,
    'a campaign must have one list, the same for everybody',
  );
  const before = ledger.evidence[campaign];
  requireSameDescription(ledger, campaign, description);
  const evidence = before ?? {
    campaign,
    description,
    head_list: digest,
    log_entry: logEntry,
    public_key: signer,
    signature,
  };
  const known = logs[signer];
  const last = known && known.index > logged.index ? known : logged;
  return {
    ...ledger,
    keys: { ...keys, [service]: seen },
    lists: { ...lists, [campaign]: digest },
    logs: { ...logs, [signer]: last },
    evidence: { ...ledger.evidence, [campaign]: evidence },
  };
}

/** Refuses a description that differs from the one seen first, by a report or a contribution. */
export function requireSameDescription(ledger: Ledger, campaign: string, digest: string): void {
  must(
    (knownDescription(ledger, campaign) ?? digest) === digest,
    'the description of a campaign must stay the same',
  );
}

/** Refuses a report, relayed or not, that comes too soon after the last one to the same service. */
export function requirePause(ledger: Ledger, service: string, policy: Policy, now: number): void {
  const since = now - policy.shortestIntervalDays * DAY;
  // Written so that a clock that was set back, or is no number, lets nothing through.
  const isSoon = ledger.entries.some(
    (entry) =>
      entry.role !== 'contribution' && entry.service === service && !(entry.drawnAt <= since),
  );
  must(
    !isSoon,
    `this device waits ${policy.shortestIntervalDays} days between two reports to one organisation`,
  );
}

/**
 * Refuses a cost above what is left of the budget in the window, which all services share.
 *
 * ε adds up over all roles, δ over contributions and relayed reports: what is debited for a local
 * report is a pure ε, and its δ is held to the cap by itself. ε0 has caps of its own.
 */
export function requireBudget(
  ledger: Ledger,
  role: Role,
  cost: Cost,
  policy: Policy,
  now: number,
): void {
  const { mostEpsilon, mostDelta, mostRelayEpsilon, mostRelayTotal } = policy;
  const before = (what: keyof Cost) => spent(ledger, what, policy, now);
  const ownDelta = role === 'report' ? NOTHING : before('delta');
  requireBelow('epsilon', mostEpsilon, before('epsilon'), cost.epsilon);
  requireBelow('delta', mostDelta, ownDelta, cost.delta);
  if (cost.relayEpsilon === undefined) return;
  requireBelow('relayEpsilon', mostRelayEpsilon, NOTHING, cost.relayEpsilon);
  requireBelow('relayEpsilon', mostRelayTotal, before('relayEpsilon'), cost.relayEpsilon);
}

/** What is limited, in words. */
const LIMITED = {
  epsilon: 'what others may learn (ε)',
  delta: 'the chance that a limit fails (δ)',
  relayEpsilon: 'what relay and organisation could learn together (ε)',
} as const;

function requireBelow(what: keyof Cost, cap: number, before: Fraction, cost: string): void {
  must(
    !isBelow(exact(toDecimal(cap)), plus(before, exact(cost))),
    `${LIMITED[what]} must be at most what is left of this device’s budget`,
  );
}

/** Returns what all entries cost in a window without its first moment; δ without local reports. */
export function spent(ledger: Ledger, what: keyof Cost, policy: Policy, now: number): Fraction {
  const since = now - policy.windowDays * DAY;
  const isCounted = ({ drawnAt, role }: LedgerEntry) =>
    !(drawnAt <= since) && (what !== 'delta' || role !== 'report');
  return ledger.entries
    .filter(isCounted)
    .reduce<Fraction>((sum, entry) => plus(sum, exact(entry[what] ?? '0')), NOTHING);
}
