/** Report through a relay: one cell, randomised with ε0 and encrypted for the collector. */
import { toBase64url } from '../base64url.js';
import { utf8 } from '../canonical.js';
import { cellOf } from '../head-list.js';
import { campaignBytes, fromHex } from '../hexadecimal.js';
import { must } from '../refusal.js';
import type { SearchRecord } from '../report.js';
import type { SignedHeadList } from '../signed-head-list.js';
import { chooseSubset, packItems } from '../subset-selection.js';
import type { UniformBytes } from '../uniform.js';
import { encryptFor, joined } from './hpke.js';
import { relayChannel } from './relayed-response.js';

const DOMAIN = utf8('blender-dp relayed report 1\0');
const VERSION = 1;
/** Versions of what is encrypted: with an id that was drawn, or with a token. */
const [WITH_ID, WITH_TOKEN] = [1, 2];
const ID_BYTES = 16;

/**
 * Draws one report instead of a record, or of none, and returns the request to the relay.
 *
 * Whoever calls it stores the result before it is sent, and sends no other one.
 */
export async function relayedReport(
  { campaign, headList, relay }: SignedHeadList,
  record: SearchRecord | null,
  uniform: UniformBytes,
  token?: Uint8Array,
): Promise<string> {
  must(relay !== undefined && headList.relay !== undefined, 'the campaign has no relay');
  const { cells, digest } = headList;
  const channel = relayChannel(cells, headList.relay);
  const cell = cellOf(headList, record?.query ?? null, record?.url ?? null);
  const named = chooseSubset(cell, channel, uniform);
  const sender = token ? joined([WITH_TOKEN], token) : joined([WITH_ID], uniform(ID_BYTES));
  const message = joined(sender, packItems(named, channel.size));
  const report = await encryptFor(relay.encryptionKey, infoOf(campaign, digest), message);
  return JSON.stringify({
    version: VERSION,
    head_list: digest,
    // The relay compares it with the key that it was shown: a device with one of its own is noticed.
    encryption_key: toBase64url(relay.encryptionKey),
    report: toBase64url(report),
  });
}

/** Returns what binds a report to its campaign and list: it can be opened for no other. */
export function infoOf(campaign: string, digest: string): Uint8Array<ArrayBuffer> {
  return joined(DOMAIN, campaignBytes(campaign), fromHex(digest.slice('sha256:'.length)));
}
