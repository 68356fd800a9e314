/** What a device refuses, whatever a service asks for. */
import { exact, type Fraction, isBelow, plus, toDecimal } from './fraction.js';
import { type Ledger, listName } from './ledger.js';
import { must } from './refusal.js';
import type { SignedHeadList } from './signed-head-list.js';

const DAY = 86_400_000;

export interface Policy {
  /** The largest ε of one report, and of all reports in a window. */
  readonly mostEpsilon: number;
  /** How long a window is. */
  readonly windowDays: number;
  /** The least time between two reports to one service. */
  readonly shortestIntervalDays: number;
  /** The fewest queries of a list: among few, an answer says more. */
  readonly smallestList: number;
}

export const DEFAULT_POLICY: Policy = {
  mostEpsilon: 8,
  windowDays: 90,
  shortestIntervalDays: 7,
  smallestList: 32,
};

/** Refuses a list that nobody should report against. */
export function requireAcceptable(signed: SignedHeadList, campaign: string, policy: Policy): void {
  const { headList } = signed;
  must(signed.campaign === campaign, 'campaign must be the one that was asked for');
  must(headList.isPrivate, 'private must be true: this list is for an experiment');
  must(
    headList.queries.length >= policy.smallestList,
    'queries must be as many as this device demands',
  );
  must(
    !isBelow(exact(toDecimal(policy.mostEpsilon)), exact(headList.mechanism.epsilon)),
    'epsilon must be at most what this device allows',
  );
}

/** Refuses a key or a list that differs from what is known; returns the ledger that knows them. */
export function requireKnown(
  ledger: Ledger,
  service: string,
  signed: SignedHeadList,
  publicKey: string | undefined,
): Ledger {
  const { keys, lists } = ledger;
  const pinned = publicKey ?? keys[service] ?? signed.publicKey;
  must(signed.publicKey === pinned, 'public_key must be the one known of this service');
  const name = listName(service, signed.campaign);
  const { digest } = signed.headList;
  must((lists[name] ?? digest) === digest, 'a campaign must have one list, the same for everybody');
  return { ...ledger, keys: { ...keys, [service]: pinned }, lists: { ...lists, [name]: digest } };
}

/** Refuses a report that comes too soon, or for which too little is left in the window. */
export function requireBudget(
  ledger: Ledger,
  service: string,
  epsilon: string,
  policy: Policy,
  now: number,
): void {
  const since = now - policy.shortestIntervalDays * DAY;
  // Written so that a clock that was set back, or is no number, lets nothing through.
  const isSoon = ledger.entries.some(
    (entry) => entry.service === service && !(entry.drawnAt <= since),
  );
  must(!isSoon, 'a report must come later after the last one to this service');
  const total = plus(spentEpsilon(ledger, policy, now), exact(epsilon));
  must(
    !isBelow(exact(toDecimal(policy.mostEpsilon)), total),
    'epsilon must be at most what is left of this device’s budget',
  );
}

/** Returns the ε of all reports in the window that ends now. */
export function spentEpsilon(ledger: Ledger, policy: Policy, now: number): Fraction {
  const since = now - policy.windowDays * DAY;
  return ledger.entries
    .filter((entry) => !(entry.drawnAt <= since))
    .reduce<Fraction>((sum, entry) => plus(sum, exact(entry.epsilon)), [0n, 1n]);
}
