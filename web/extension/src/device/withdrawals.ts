/** Withdrawals: which contributions can be taken back, and where. */
import type { BlenderClient, LedgerEntry } from '@blender-dp/client';
import { presentOffer } from './choices.js';
import type { Settings } from './settings.js';

/** Takes back what services may still have; tells whether all of them confirmed it. */
export async function withdrawAll(
  entries: readonly LedgerEntry[],
  clientOf: (service: string) => BlenderClient,
): Promise<boolean> {
  const taken = await Promise.all(
    contributions(entries).map(({ service, campaign }) => clientOf(service).withdraw(campaign)),
  );
  return taken.every(({ ok }) => ok);
}

/** Returns the contributions that a service may still have. */
function contributions(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
  return entries.filter(({ role, state }) => role === 'contribution' && state !== 'withdrawn');
}

/**
 * Returns the address that a contribution was sent to, or undefined if it is not known.
 *
 * An earlier version kept none: then it is the address of the campaign's own link.
 */
export function addressOf(
  settings: Settings,
  entries: readonly LedgerEntry[],
  campaign: string,
): string | undefined {
  const given = entries.find((one) => one.role === 'contribution' && one.campaign === campaign);
  const link = presentOffer(settings)?.invitation;
  return given?.service || (link?.campaign === campaign ? link.service : undefined);
}
