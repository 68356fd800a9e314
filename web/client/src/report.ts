/** Report of a device: from a record to the randomised report that is sent. */
import { toBase64url } from './base64url.js';
import { at } from './cells.js';
import { exact } from './fraction.js';
import { cellOf, type HeadList } from './head-list.js';
import { localAlgChannel, privatize } from './local-alg.js';
import { must } from './refusal.js';
import { askedForQuery, chooseSubset, packItems, subsetChannel } from './subset-selection.js';
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
 * The id decides, by a public coin, whether a client is asked for its query only.
 */
export async function randomizerFor(list: HeadList, reportId: Uint8Array): Promise<Randomizer> {
  must(list.queries.length > 0, 'a head list must have at least one query');
  const { mechanism } = list;
  const shared = {
    version: 1,
    report_id: toBase64url(reportId),
    head_list: list.digest,
    mechanism: `${mechanism.name}/1`,
  };
  const cell = (record: SearchRecord | null) =>
    cellOf(list, record?.query ?? null, record?.url ?? null);
  if (mechanism.name === 'local-alg') {
    const channel = localAlgChannel(list.cells, mechanism);
    return (record, uniform) =>
      JSON.stringify({ ...shared, cell: privatize(cell(record), channel, uniform) });
  }
  const epsilon = exact(mechanism.epsilon);
  const channels = {
    record: subsetChannel(list.cells.queryOfCell.length, epsilon),
    query: subsetChannel(list.cells.urlsPerQuery.length, epsilon),
  };
  const question = (await askedForQuery(reportId, mechanism.queryShare)) ? 'query' : 'record';
  const channel = channels[question];
  return (record, uniform) => {
    const own = cell(record);
    const item = question === 'record' ? own : at(list.cells.queryOfCell, own);
    const named = chooseSubset(item, channel, uniform);
    return JSON.stringify({
      ...shared,
      question,
      items: toBase64url(packItems(named, channel.size)),
    });
  };
}
