/** The head list: which queries, and which URLs of each, may be reported. */
import {
  canonicalJson,
  type Fields,
  isObject,
  type Json,
  textDigest,
  without,
} from './canonical.js';
import { at, type Cells, cellsOf } from './cells.js';
import { type Mechanism, readMechanism } from './mechanism.js';
import { must } from './refusal.js';
import { type RelayedResponse, readRelayedResponse } from './relay/relayed-response.js';
import { type IssuerKey, readIssuerKey } from './token/token.js';

const FORMAT = 'blender-dp head list';

export interface HeadList {
  readonly queries: readonly string[];
  readonly urls: readonly (readonly string[])[];
  readonly mechanism: Mechanism;
  /** How relay clients report; undefined without a relay. */
  readonly relay: RelayedResponse | undefined;
  /** The key that the tokens of reports are signed with; undefined if reports need none. */
  readonly tokenKey: IssuerKey | undefined;
  /** False when a seed made it: good for an experiment, not for people. */
  readonly isPrivate: boolean;
  readonly digest: string;
  readonly cells: Cells;
}

/** Reads a published head list; refuses one that was edited or breaks a rule. */
export async function readHeadList(document: Json | undefined): Promise<HeadList> {
  must(isObject(document), 'head list must be an object with fields');
  must(document.format === FORMAT, `format must be "${FORMAT}"`);
  must(document.version === 1, 'version must be 1, the version this software reads');
  const isPrivate = document.private;
  must(typeof isPrivate === 'boolean', 'private must be true or false');
  const mechanism = readMechanism(document.mechanism);
  const relay = 'relay' in document ? readRelayedResponse(document.relay) : undefined;
  const tokenKey = 'token_key' in document ? await readIssuerKey(document.token_key) : undefined;
  const entries = readEntries(document.queries);
  const written = {
    format: FORMAT,
    version: 1,
    private: isPrivate,
    mechanism: mechanism.document,
    ...(relay && { relay: relay.document }),
    ...(tokenKey && { token_key: tokenKey.text }),
    queries: entries.map(({ query, urls }) => ({ query, urls })),
  };
  const text = canonicalJson(written);
  const digest = await textDigest(text);
  must(
    document.digest === digest && canonicalJson(without(document, 'digest')) === text,
    'digest does not match the rest of the list',
  );
  return {
    queries: entries.map((entry) => entry.query),
    urls: entries.map((entry) => entry.urls),
    mechanism,
    relay,
    tokenKey,
    isPrivate,
    digest,
    cells: cellsOf(entries.map((entry) => entry.urls.length)),
  };
}

/** Returns the cell of a record; what is not listed, or no record at all, is ⋆. */
export function cellOf(
  { queries, urls, cells }: HeadList,
  query: string | null,
  url: string | null,
): number {
  const position = query === null || url === null ? -1 : queries.indexOf(query);
  if (position < 0) return cells.queryOfCell.length - 1;
  const listed = at(urls, position);
  const place = listed.indexOf(url ?? '');
  return at(cells.firstCell, position) + (place < 0 ? listed.length : place);
}

interface Entry {
  readonly query: string;
  readonly urls: readonly string[];
}

function readEntries(value: Json | undefined): readonly Entry[] {
  must(Array.isArray(value), 'queries must be a list of objects');
  const entries = value.map(readEntry);
  requireByteOrder(entries.map((entry) => entry.query));
  const withUrls = entries.filter((entry) => entry.urls.length > 0).length;
  must(
    withUrls === 0 || withUrls === entries.length,
    'every listed query must have at least one URL, or none any',
  );
  return entries;
}

function readEntry(value: Json): Entry {
  must(isObject(value), 'queries must be a list of objects');
  const { query, urls } = value as Fields & Partial<Entry>;
  must(isText(query), 'query must be a text of whole characters');
  must(Array.isArray(urls) && urls.every(isText), 'urls must be a list of texts');
  requireByteOrder(urls);
  return { query, urls };
}

/** Tells whether a value is a text; half of a surrogate pair is none. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && !/\p{Cs}/u.test(value);
}

function requireByteOrder(names: readonly string[]): void {
  const inOrder = names.every((name, i) => i === 0 || isBefore(at(names, i - 1), name));
  must(inOrder, 'a head list must be in byte order, without repetitions');
}

const SURROGATE = /[\ud800-\udfff]/;

/** Tells whether a text is before another in the order of code points, which is that of UTF-8. */
function isBefore(first: string, second: string): boolean {
  // Without surrogates this is the order of JavaScript, which compares a hundred times faster.
  if (!SURROGATE.test(first) && !SURROGATE.test(second)) return first < second;
  const [a, b] = [[...first], [...second]];
  const differs = a.findIndex((letter, i) => letter !== b[i]);
  if (differs < 0) return a.length < b.length;
  return (at(a, differs).codePointAt(0) ?? 0) < (b[differs]?.codePointAt(0) ?? -1);
}
