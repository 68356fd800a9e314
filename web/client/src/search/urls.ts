/** Normal form of URLs, without tracking parameters and without disguised hosts. */
import { utf8 } from '../canonical.js';
import { trimmed } from './folding.js';
import { asciiHost, shownHost } from './hosts.js';

const FORBIDDEN = /[\0-\x20\x7f-\xa0\\<>"`{}|^\p{Cs}]/u;
const TRACKING =
  /^(?:utm_[^\n]*|mtm_[^\n]*|pk_(?:campaign|kwd|source|medium)|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|ysclid|_openstat|twclid|ttclid|li_fat_id|igshid|igsh|mc_cid|mc_eid|mkt_tok|_hsenc|_hsmi|__hst[cs]|__hsfp|hsctatracking|vero_id|oly_anon_id|oly_enc_id|_ga|_gl|ref_src|wickedid|s_cid|srsltid|phpsessid|jsessionid|sessionid|session_id)$/i;
const PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' };
const MOST_LETTERS = 2048;

/** Where a link leads. */
export interface WebAddress {
  /** For programs: ASCII, ready to open. */
  readonly address: string;
  /** For people: the same, the host in its own letters where they cannot mislead. */
  readonly shown: string;
}

/** Returns a URL in its one spelling, or undefined if it is no page of the web. */
export function webAddress(url: string): WebAddress | undefined {
  const text = trimmed(url);
  if ([...text].length > MOST_LETTERS || FORBIDDEN.test(text)) return undefined;
  const named = /^(?:([a-z][a-z0-9+.-]*):)?\/\//i.exec(text);
  const scheme = (named?.[1] ?? 'https').toLowerCase();
  const isOther = !named && /^[^/?#@[\]]*:(?!\d+(?:[/?#]|$))/.test(text);
  const [, authority = '', path = '', query = ''] =
    /^([^/?#]*)([^?#]*)(?:\?([^#]*))?/.exec(text.slice(named?.[0].length ?? 0)) ?? [];
  const place = Object.hasOwn(PORTS, scheme) && !isOther ? placeOf(scheme, authority) : undefined;
  if (!place) return undefined;
  const [host, port] = place;
  const page = spelledPath(path) + spelledQuery(query);
  return {
    address: `${scheme}://${host}${port}${page}`,
    shown: `${scheme}://${shownHost(host)}${port}${page}`,
  };
}

/** Returns host and port; what stands before an @ is a name to log in with, or a disguise. */
function placeOf(scheme: string, authority: string): readonly [string, string] | undefined {
  const place = authority.slice(authority.lastIndexOf('@') + 1);
  const [, name, digits = ''] = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{0,5}))?$/.exec(place) ?? [];
  const host = name === undefined ? undefined : asciiHost(name);
  const port = Number(digits);
  if (host === undefined || (digits && !(port >= 1 && port <= 65_535))) return undefined;
  return [host, digits && String(port) !== PORTS[scheme] ? `:${port}` : ''];
}

function spelledPath(path: string): string {
  let segments: string[] = [];
  const plain = path.replace(/;(?:jsessionid|phpsessid|sid)=[^/;]*/giu, '');
  for (const segment of plain.split('/').slice(1).map(escaped)) {
    if (segment === '..') segments = segments.slice(0, -1);
    else if (segment !== '.') segments.push(segment);
  }
  const isFolder = /\/\.{0,2}$/.test(path);
  const joined = ['', ...segments].join('/');
  return !segments.length || (isFolder && segments.at(-1)) ? `${joined}/` : joined;
}

function spelledQuery(query: string): string {
  const kept = query.split('&').filter((part) => part && !isTracking(part));
  return kept.length ? `?${kept.map(escaped).join('&')}` : '';
}

function isTracking(part: string): boolean {
  const bytes = utf8(part.split('=')[0] ?? '');
  const latin = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return TRACKING.test(
    latin.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
  );
}

/** Escapes what must be, and nothing that need not be (RFC 3986, section 6.2.2). */
function escaped(text: string): string {
  return text
    .replace(/[^\w.~!$&'()*+,;=:@/?%-]/gu, encodeURIComponent)
    .replace(/%(?![\da-f]{2})/gi, '%25')
    .replace(/%([\da-f]{2})/gi, (written, hex) => {
      const letter = String.fromCharCode(Number.parseInt(hex, 16));
      return /[\w.~-]/.test(letter) ? letter : written.toUpperCase();
    });
}
