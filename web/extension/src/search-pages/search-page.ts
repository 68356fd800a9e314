/** The pages on which searches are noticed: a list that people can change. */
import { matches, patternProblem } from './match-pattern.js';

/** One kind of result page. */
export interface SearchPage {
  readonly name: string;
  /** A match pattern, such as https://search.example/find*. */
  readonly address: string;
  /** The parameter of the address that holds what was searched for. */
  readonly query: string;
  /** A CSS selector of the links that are results. */
  readonly results: string;
  /** The parameter of a link that holds where it leads, if the page counts clicks; else empty. */
  readonly target: string;
}

/** Known pages; none is watched before a person switches it on. */
export const KNOWN_PAGES: readonly SearchPage[] = [
  {
    name: 'DuckDuckGo',
    address: 'https://duckduckgo.com/?*',
    query: 'q',
    results: 'article a',
    target: 'uddg',
  },
  {
    name: 'Google',
    address: 'https://www.google.com/search*',
    query: 'q',
    results: '#search a',
    target: 'q',
  },
  {
    name: 'Ecosia',
    address: 'https://www.ecosia.org/search*',
    query: 'q',
    results: 'main a',
    target: '',
  },
];

/** Returns what is wrong with a page as somebody wrote it, or undefined. */
export function pageProblem(
  page: SearchPage,
  isSelector: (text: string) => boolean,
): string | undefined {
  if (!page.name.trim()) return 'name must not be empty';
  if (!/^[\w.-]{1,40}$/.test(page.query)) return 'query parameter must be a name such as q';
  if (!/^[\w.-]{0,40}$/.test(page.target)) return 'target parameter must be a name such as url';
  if (!isSelector(page.results)) return 'result links must be a CSS selector such as main a';
  return patternProblem(page.address);
}

/** Returns the first page of the list that an address belongs to. */
export function pageAt(pages: readonly SearchPage[], address: string): SearchPage | undefined {
  return pages.find((page) => matches(page.address, address));
}
