/** Sentences of a text that people read, and how long they are. */

/** The most words that a sentence may have which people read before they decide. */
export const MOST_WORDS = 25;

/** Returns the sentences of a text that are too long. */
export function longSentences(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?])\s+|\n\n/)
    .map((sentence) => sentence.trim().replace(/\s+/g, ' '))
    .filter((sentence) => sentence.split(' ').length > MOST_WORDS);
}

/** Returns the text of a page; whatever is a block of its own ends a sentence. */
export function pageText(page: string): string {
  const [, body = page] = page.split('<body');
  return body
    .replace(/<\/?(?:em|strong|b|a|code|bdi)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, '\n\n')
    .replace(/[^\S\n]*\n[^\S\n]*(?!\n)/g, (gap) => (gap.includes('\n\n') ? '\n\n' : '\n'));
}
