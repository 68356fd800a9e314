/** Report of a device: from a record to the randomised report that is sent. */
import { toBase64url } from './base64url.js';
import { cellOf, type HeadList } from './head-list.js';
import { nameOf } from './mechanism.js';
import { must } from './refusal.js';
import type { UniformBytes } from './uniform.js';

/** What a person searched for and where they went. */
export interface SearchRecord {
  readonly query: string;
  readonly url: string;
}

/** Draws one report instead of a record, or of none; synchronous, so that a transaction holds it. */
export type Randomizer = (record: SearchRecord | null, uniform: UniformBytes) => string;

/**
 * Prepares to report against a list: everything but the draw itself, which must happen once.
 *
 * The id decides, by a public coin, whether a client is asked for its query only. It is drawn, or
 * follows from the token, which is then sent in its place.
 */
export async function randomizerFor(
  list: HeadList,
  reportId: Uint8Array,
  token?: string,
): Promise<Randomizer> {
  must(list.queries.length > 0, 'a head list must have at least one query');
  const { cells, digest, mechanism } = list;
  const shared = {
    version: 1,
    ...(token === undefined ? { report_id: toBase64url(reportId) } : { token }),
    head_list: digest,
    mechanism: nameOf(mechanism.document),
  };
  const draw = await mechanism.prepare(cells, reportId);
  return (record, uniform) => {
    const cell = cellOf(list, record?.query ?? null, record?.url ?? null);
    return JSON.stringify({ ...shared, ...draw(cell, uniform) });
  };
}
