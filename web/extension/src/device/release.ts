/** Release of a campaign, kept for suggestions without a network. */
import { type BlenderClient, LocalSearch, type Result } from '@blender-dp/client';
import type { Campaign } from './collection.js';

export interface KeptRelease {
  readonly text: string;
  readonly fetchedAt: number;
}

/** Tells whether a campaign may have a result: what was released stays when the rest is purged. */
export function hasRelease({ state }: Pick<Campaign, 'state'>): boolean {
  return state === 'released' || state === 'purged';
}

/** Fetches a release; one that no suggestions can be made of is a problem. */
export async function fetchRelease(
  client: BlenderClient,
  campaign: string,
): Promise<Result<{ readonly text: string }>> {
  const found = await client.release(campaign);
  if (!found.ok) return found;
  const opened = LocalSearch.open(found.text);
  return opened.ok ? found : opened;
}
