/** From a click on a result to the record that is kept on the device. */
import { type SearchRecord, webAddress } from '@blender-dp/client';
import { parsed } from './match-pattern.js';
import type { SearchPage } from './search-page.js';

/** What a service takes at most, in bytes of UTF-8. */
const MOST_QUERY_BYTES = 2048;

/** Returns the record of a click, or undefined if it was no search or no result. */
export function clickedRecord(
  page: SearchPage,
  pageAddress: string,
  linkAddress: string,
): SearchRecord | undefined {
  const searched = parsed(pageAddress);
  const link = parsed(linkAddress);
  if (!searched || !link) return undefined;
  const query = spelledQuery(searched.searchParams.get(page.query) ?? '');
  const target = targetOf(page, link);
  // A link to the page's own site is the next page, a setting or an advertisement.
  if (!query || !target || parsed(target)?.host === searched.host) return undefined;
  const url = webAddress(target)?.address;
  return url === undefined ? undefined : { query, url };
}

/**
 * Returns a query in one spelling. All devices must use the same spelling, or equal searches are not counted together; the
 * opt-in users' records and the private reports are made by this same function.
 */
export function spelledQuery(text: string): string {
  const query = text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();
  const isSound =
    !/\p{Cs}/u.test(query) && new TextEncoder().encode(query).length <= MOST_QUERY_BYTES;
  return isSound ? query : '';
}

/** Returns where a link leads, past the counter of clicks that it may go through. */
function targetOf(page: SearchPage, link: URL): string {
  const inside = page.target ? link.searchParams.get(page.target) : null;
  return inside && /^https?:\/\//.test(inside) ? inside : link.href;
}
