/** Suggestions in the address bar, after the keyword. */
import type { Suggestion } from '@blender-dp/client';
import { visibleLines } from '../words/foreign.js';
import { shareText } from '../words/numbers.js';

const MOST = 6;

export interface OmniboxLine {
  /** What is opened: an address. */
  readonly content: string;
  readonly description: string;
}

/** Returns a line for every page of what is suggested, the most popular first. */
export function omniboxLines(suggestions: readonly Suggestion[], isMarkup: boolean): OmniboxLine[] {
  const text = isMarkup ? escaped : (plain: string) => plain;
  return suggestions
    .flatMap(({ query, probability, links }) =>
      links.slice(0, 2).map(({ address, shown }) => ({
        content: address,
        description: text(visibleLines(`${query} (${shareText(probability)}) → ${shown}`)),
      })),
    )
    .slice(0, MOST);
}

/** Chromium reads descriptions as XML. */
function escaped(plain: string): string {
  return plain.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
