/** Limits of this device: why nothing is made for a campaign now, though the person chose it. */
import { type Account, DEFAULT_POLICY, type LedgerEntry, type Role } from '@blender-dp/client';
import { type Campaign, reportDelta } from './collection.js';
import type { Settings } from './settings.js';

const DAY = 86_400_000;
/** Sums here only choose words; the client computes with fractions. */
const ROUNDING = 1e-9;

/**
 * What keeps the device from making something: the campaign asks for more than it ever allows, ε or
 * δ of older entries, or the time since the last report to the same service.
 */
export type Obstacle =
  | { readonly kind: 'never' | 'epsilon' | 'delta' }
  | { readonly kind: 'pause'; readonly until: number };

/** Tells whether a campaign asks for more than this device ever allows. */
export function isTooMuch(campaign: Campaign, role: Role): boolean {
  const { mostEpsilon, mostDelta } = DEFAULT_POLICY;
  return isAbove(campaign.epsilon, mostEpsilon) || isAbove(deltaOf(campaign, role), mostDelta);
}

/** Returns what keeps this device from making anything in a role for the campaign at hand. */
export function obstacle(
  { campaign, invitation, list }: Settings,
  { entries, left, relayLeft }: Account,
  role: Role,
  now: number,
): Obstacle | undefined {
  if (!campaign || !invitation) return undefined;
  if (isTooMuch(campaign, role)) return { kind: 'never' };
  const together = role === 'relayed' ? (list?.relay?.relayEpsilon ?? 0) : 0;
  if (isAbove(campaign.epsilon, left) || isAbove(together, relayLeft)) return { kind: 'epsilon' };
  const before = role === 'report' ? 0 : deltaSpent(entries, now);
  if (isAbove(before + deltaOf(campaign, role), DEFAULT_POLICY.mostDelta)) return { kind: 'delta' };
  const until = role === 'contribution' ? 0 : endOfPause(entries, invitation.service);
  return until > now ? { kind: 'pause', until } : undefined;
}

function deltaOf(campaign: Campaign, role: Role): number {
  return role === 'report' ? reportDelta(campaign) : campaign.delta;
}

/** Returns the δ of what was made in the window; that of private reports is not added up. */
function deltaSpent(entries: readonly LedgerEntry[], now: number): number {
  const since = now - DEFAULT_POLICY.windowDays * DAY;
  return entries
    .filter(({ role, drawnAt }) => role !== 'report' && drawnAt > since)
    .reduce((sum, { delta }) => sum + Number(delta), 0);
}

/** Returns when the next report may go to a service; 0 if none went there. */
function endOfPause(entries: readonly LedgerEntry[], service: string): number {
  const times = entries
    .filter((entry) => entry.role !== 'contribution' && entry.service === service)
    .map(({ drawnAt }) => drawnAt + DEFAULT_POLICY.shortestIntervalDays * DAY);
  return Math.max(0, ...times);
}

function isAbove(amount: number, cap: number): boolean {
  return amount > cap * (1 + ROUNDING);
}
