/** Host names in two spellings: for programs, and for people without imitating another. */
import { decodePunycode, encodePunycode } from './punycode.js';

const PREFIX = 'xn--';
const MOST_LETTERS = 253;
/** Scripts in which names are shown: those in common modern use (UAX 31, table 5). */
const SCRIPTS =
  'Latn Grek Cyrl Armn Hebr Arab Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Thai Laoo Tibt Mymr Geor Hang Ethi Khmr Thaa Hira Kana Bopo Hani'
    .split(' ')
    .map((code) => [code, new RegExp(`^\\p{sc=${code}}$`, 'u')] as const);
/** Scripts that one language mixes. */
const TOGETHER = ['Hani Hira Kana', 'Hani Hang', 'Hani Bopo'];
/** Rare signs that Unicode counts to a script and the names of its letters do not. */
const NAMELESS = /[\u3005\u303b]/;
const LOOK_LATIN =
  /^[\u0430\u0441\u0501\u0435\u04bb\u0456\u0458\u04cf\u043e\u0440\u051b\u0455\u051d\u0445\u0443\u044a\u044c\u0432\u043a\u043c\u043d\u0442\u0433\u043f\u03b1\u03b3\u03b5\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c3\u03c4\u03c5\u03c7\u03c9\u0585\u057d\u0578\u0570\u0575\u0581\u0566]*$/;

/** Returns a host as programs name it, or undefined if it is not a host. */
export function asciiHost(host: string): string | undefined {
  if (host.startsWith('[')) return ipv6(host);
  const labels = host
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\.$/, '')
    .split(/[.\u3002\uff0e\uff61]/)
    .map(asciiLabel);
  if (!labels.every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label))) return undefined;
  const name = labels.join('.');
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return ipv4(name);
  return labels.length > 1 && name.length <= MOST_LETTERS ? name : undefined;
}

/** Returns a host of {@link asciiHost} as people may see it. */
export function shownHost(host: string): string {
  return host.split('.').map(shownLabel).join('.');
}

function asciiLabel(label: string): string {
  const isForeign = /[^\0-\x7f]/.test(label) && /^[\p{L}\p{M}\p{N}-]*$/u.test(label);
  return isForeign ? PREFIX + encodePunycode(label) : label;
}

function shownLabel(label: string): string {
  if (!label.startsWith(PREFIX)) return label;
  const letters = decodePunycode(label.slice(PREFIX.length));
  // What would not come back the same is not what it seems.
  const isItself = letters !== undefined && asciiHost(`${letters}.example`) === `${label}.example`;
  return isItself && isPlain(letters) ? letters : label;
}

/** Tells whether letters show what they are: one script, known, and not all posing as Latin. */
function isPlain(letters: string): boolean {
  const special = letters.replace(/[0-9-]/g, '');
  // Letters beyond the basic plane: few fonts have them, and each Unicode version adds some.
  if (/[\p{N}\u{10000}-\u{10ffff}]/u.test(special)) return false;
  const scripts = [...new Set(Array.from(special.replace(/\p{M}/gu, ''), scriptOf))];
  if (scripts.join() === 'Latn') return Array.from(special).every(isPlainLatin);
  const isOne =
    scripts.length === 1 ? scripts[0] !== '' : TOGETHER.some((mix) => areWithin(scripts, mix));
  return isOne && !LOOK_LATIN.test(special);
}

function areWithin(scripts: readonly string[], mix: string): boolean {
  return scripts.length > 0 && scripts.every((script) => script !== '' && mix.includes(script));
}

function scriptOf(letter: string): string {
  if (letter === '\u0640') return 'Arab';
  if (letter === '\u30fc') return 'Kana';
  if (NAMELESS.test(letter)) return '';
  return SCRIPTS.find(([, letters]) => letters.test(letter))?.[0] ?? '';
}

function isPlainLatin(letter: string): boolean {
  return /^[a-zßæøœþð]/.test(letter) || /^[a-z]/.test(letter.normalize('NFD'));
}

/** Returns an address of four plain numbers; other spellings of one are for hiding it. */
function ipv4(host: string): string | undefined {
  const parts = host.split('.');
  const isPlainNumber = (part: string) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256;
  return parts.length === 4 && parts.every(isPlainNumber) ? host : undefined;
}

function ipv6(host: string): string | undefined {
  try {
    return /^\[[\da-f:.]*\]$/i.test(host) ? new URL(`http://${host}`).hostname : undefined;
  } catch {
    return undefined;
  }
}
