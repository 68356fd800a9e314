/** Nouns of a campaign: what it calls a query and a URL. */

import { pluralNoun, useNouns as useInSentences } from '@blender-dp/pages/nouns.js';
import type { Campaign } from '../api/messages.js';

/** Returns singular and plural of what the campaign calls a query. */
export function nounsOf(campaign: Campaign | undefined): readonly [string, string] {
  const noun = campaign?.query_name;
  return noun ? [noun, pluralNoun(noun)] : ['query', 'queries'];
}

/** Has the shared sentences and labels speak of this campaign. */
export function speakOf(campaign: Campaign | undefined): void {
  useInSentences({ query: campaign?.query_name ?? null, url: campaign?.url_name ?? null });
}
