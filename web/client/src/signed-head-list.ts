/** A head list as a service publishes it: signed, and entered in a public log. */
import { canonicalJson, isObject, parseJson, without } from './canonical.js';
import { type HeadList, readHeadList } from './head-list.js';
import { CAMPAIGN_ID, DIGEST, type LogEntry, readLogEntry } from './public-log.js';
import { guarded, must, type Result } from './refusal.js';
import { type ListedRelay, readListedRelay } from './relay/listed-relay.js';
import { requireSignature } from './signature.js';

const FORMAT = 'blender-dp signed head list';
const DOMAIN = `${FORMAT} 2\0`;
const FIELDS = 'campaign,description,format,head_list,log_entry,public_key,signature,version';
const MOST_LETTERS = 2 ** 26;

export interface SignedHeadList {
  readonly campaign: string;
  /** The digest of the campaign's public description. */
  readonly description: string;
  readonly headList: HeadList;
  /** Where relay clients send their reports; undefined without a relay. */
  readonly relay: ListedRelay | undefined;
  /** The entry of the public log that names the list. */
  readonly logEntry: LogEntry;
  /** Who signed it: base64url of 32 bytes. */
  readonly publicKey: string;
  readonly signature: string;
}

/** Reads a signed head list; refuses one whose parts do not belong together. */
export async function readSignedHeadList(text: string): Promise<SignedHeadList> {
  const document = parseJson(text, MOST_LETTERS);
  must(isObject(document), 'a signed head list must be a JSON object');
  must(document.format === FORMAT, `format must be "${FORMAT}"`);
  must(document.version === 2, 'version must be 2, the version this software reads');
  must(
    Object.keys(without(document, 'relay')).sort().join() === FIELDS,
    'a signed head list must have its fields',
  );
  const { campaign, description, public_key: publicKey, signature } = document;
  must(
    typeof campaign === 'string' && CAMPAIGN_ID.test(campaign),
    'campaign must be the id of a campaign',
  );
  must(
    typeof description === 'string' && DIGEST.test(description),
    'description must be the digest of the campaign’s description',
  );
  const headList = await readHeadList(document.head_list);
  const relay = 'relay' in document ? readListedRelay(document.relay) : undefined;
  must(
    !relay === !headList.relay,
    'a list with a relay must say how its clients report, and where',
  );
  const logEntry = await readLogEntry(document.log_entry);
  const { kind, digest, hash } = logEntry;
  must(
    kind === 'head-list' && digest === headList.digest && logEntry.campaign === campaign,
    'log_entry must be about this list',
  );
  must(
    typeof publicKey === 'string' && typeof signature === 'string',
    'public_key and signature must be texts',
  );
  const signed = {
    campaign,
    description,
    head_list: headList.digest,
    log_entry: hash,
    ...(relay && { relay: relay.document }),
  };
  await requireSignature(DOMAIN + canonicalJson(signed), publicKey, signature);
  return { campaign, description, headList, relay, logEntry, publicKey, signature };
}

/** Tells whether a list as it was published is what a device of this campaign would take. */
export function checkHeadList(text: string, campaign: string): Promise<Result> {
  return guarded(async () => {
    const signed = await readSignedHeadList(text);
    must(signed.campaign === campaign, 'campaign must be the one that was asked for');
    return {};
  });
}
