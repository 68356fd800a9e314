/** Folding of texts for comparison: removes case, accents, punctuation and width. */

const LETTERS: Readonly<Record<string, string>> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
};
/** Letters of scripts written without spaces: Thai, Lao, Burmese, Khmer, kana, Han. */
const NO_SPACES =
  '\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}';
const WORDS = new RegExp(`[${NO_SPACES}]|[^ ${NO_SPACES}]+`, 'gu');

/** Returns a text as it is compared: words with one space between them. */
export function fold(text: string): string {
  let folded = foldOnce(text);
  // Rarely, a letter that lost its accent can be folded once more.
  for (let again = foldOnce(folded); again !== folded; again = foldOnce(folded)) folded = again;
  return folded;
}

/** Returns a folded text from each of its words on; without spaces, every letter may begin one. */
export function wordStarts(folded: string): string[] {
  return Array.from(folded.matchAll(WORDS), (found) => folded.slice(found.index));
}

function foldOnce(text: string): string {
  const composed = caseFold(text.normalize('NFKC')).replace(
    /[øłđðħŧıæœþ]/g,
    (letter) => LETTERS[letter] ?? letter,
  );
  const kept = Array.from(composed.normalize('NFD'), comparable).join('').normalize('NFKC');
  return kept.replace(/ +/g, ' ').replace(/^ | $/g, '');
}

/** Folds case letter by letter: up and down again; Cherokee alone folds to its capitals. */
function caseFold(text: string): string {
  const down = (letters: string) => letters.replace(/[^\u13a0-\u13f5]/gu, (x) => x.toLowerCase());
  return Array.from(text, (letter) => down(down(letter).toUpperCase())).join('');
}

function comparable(letter: string): string {
  if (/[\p{Cc}\p{Z}\p{P}]/u.test(letter)) return ' ';
  return /[\p{Cf}\p{Cs}\ufe00-\ufe0f\u{10ffff}]/u.test(letter) || isAccent(letter) ? '' : letter;
}

/**
 * Tells accents and optional points from marks that a script cannot do without: combining classes
 * 10 to 36 and from 200. Normal form puts marks in the order of their classes, so that a mark of
 * a known class (9, 36, 132; none is in use up to 199) tells on which side of it another is.
 */
function isAccent(letter: string): boolean {
  const isAbove = (mark: string) =>
    letter !== mark && (letter + mark).normalize('NFD') === mark + letter;
  return isAbove('\u0f74') || (isAbove('\u094d') && !isAbove('\u0711'));
}

/** White space of Python: that of JavaScript has one character more and five fewer. */
const SPACE =
  '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const ENDS = new RegExp(`^${SPACE}|${SPACE}$`, 'g');

/** Returns a text without white space at either end. */
export function trimmed(text: string): string {
  return text.replace(ENDS, '');
}
