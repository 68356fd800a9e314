/** White space as Python knows it: JavaScript's own has one character more and five fewer. */
const SPACE =
  '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const ENDS = new RegExp(`^${SPACE}|${SPACE}$`, 'g');

/** Returns a text without white space at either end. */
export function trimmed(text: string): string {
  return text.replace(ENDS, '');
}
