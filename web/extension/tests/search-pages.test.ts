/** Which pages are search pages, and which clicks on them are records. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clickedRecord, spelledQuery } from '../src/search-pages/clicked-record.js';
import { hostPattern, matches, patternProblem } from '../src/search-pages/match-pattern.js';
import {
  KNOWN_PAGES,
  pageAt,
  pageProblem,
  type SearchPage,
} from '../src/search-pages/search-page.js';

const PAGE: SearchPage = {
  name: 'Engine',
  address: 'https://search.example/find*',
  query: 'q',
  results: 'main a',
  target: 'to',
};
const AT = 'https://search.example/find?q=Old%20%20Town&page=2';

describe('patterns', () => {
  test.each([
    ['https://search.example/find*', 'https://search.example/find?q=a', true],
    ['https://search.example/find*', 'https://search.example:8443/find/', true],
    ['https://search.example/find*', 'https://search.example/lost?q=find', false],
    ['https://search.example/find*', 'http://search.example/find', false],
    ['https://search.example/find*', 'https://evil-search.example/find', false],
    ['https://search.example/find*', 'https://search.example.evil.example/find', false],
    ['https://*.search.example/find*', 'https://de.search.example/find', true],
    ['https://*.search.example/find*', 'https://search.example/find', true],
    ['https://*.search.example/find*', 'https://notsearch.example/find', false],
    ['https://search.example/?*q=*', 'https://search.example/?a=1&q=2', true],
    ['https://search.example/?*q=*', 'https://search.example/?a=1', false],
    ['https://search.example/a*a', 'https://search.example/a', false],
    ['https://search.example/exact', 'https://search.example/exact', true],
    ['https://search.example/exact', 'https://search.example/exactly', false],
    ['nonsense', 'https://search.example/', false],
    ['https://search.example/*', 'nonsense', false],
  ])('%s and %s: %s', (pattern, address, expected) => {
    expect(matches(pattern, address)).toBe(expected);
  });

  test('a pattern made of any path matches that path', () => {
    fc.assert(
      fc.property(fc.webPath(), fc.nat(), (path, cut) => {
        const { pathname } = new URL(`https://a.example${path}`);
        const place = 1 + (cut % (pathname.length + 1));
        const glob = `/${pathname.slice(1, place)}*`;
        expect(matches(`https://a.example${glob}`, `https://a.example${path}`)).toBe(true);
      }),
    );
  });

  test('a hostile pattern takes no time', () => {
    const glob = `https://a.example/${'a*'.repeat(5000)}b`;
    expect(matches(glob, `https://a.example/${'a'.repeat(20_000)}`)).toBe(false);
  });

  test.each([
    ['http://search.example/*', 'https'],
    ['ftp://search.example/*', 'look like'],
    ['https://search.example', 'look like'],
    ['https://*/*', 'look like'],
    ['https://search.example:8080/*', 'look like'],
  ])('%s is refused', (pattern, reason) => {
    expect(patternProblem(pattern)).toContain(reason);
  });

  test('a page on this computer may be without https', () => {
    expect(patternProblem('http://127.0.0.1/search*')).toBeUndefined();
  });

  test('only the host is asked for, not all of the web', () => {
    expect(hostPattern('https://*.search.example/find*')).toBe('https://*.search.example/*');
    expect(hostPattern('http://localhost/a*b')).toBe('http://localhost/*');
  });
});

describe('the list of pages', () => {
  test('known pages keep the rules that people’s own must keep', () => {
    for (const page of KNOWN_PAGES) expect(pageProblem(page, () => true)).toBeUndefined();
  });

  test.each([
    [{ name: ' ' }, 'name'],
    [{ query: 'q=' }, 'query parameter'],
    [{ target: '?' }, 'target parameter'],
    [{ address: 'search.example' }, 'address'],
  ])('%o is refused', (change, reason) => {
    expect(pageProblem({ ...PAGE, ...change }, () => true)).toContain(reason);
  });

  test('a selector that is none is refused', () => {
    expect(pageProblem(PAGE, () => false)).toContain('CSS selector');
  });

  test('the first page that fits is taken', () => {
    const other = { ...PAGE, name: 'Other', address: 'https://search.example/*' };
    expect(pageAt([PAGE, other], AT)?.name).toBe('Engine');
    expect(pageAt([PAGE, other], 'https://search.example/else')?.name).toBe('Other');
    expect(pageAt([PAGE, other], 'https://else.example/')).toBeUndefined();
  });
});

describe('clicks', () => {
  test('a result is recorded in one spelling, without what tracks people', () => {
    const link = 'https://Town.example/map?utm_source=a&id=7#part';
    expect(clickedRecord(PAGE, AT, link)).toEqual({
      query: 'old town',
      url: 'https://town.example/map?id=7',
    });
  });

  test('a link that counts clicks is followed to its target', () => {
    const link = 'https://search.example/away?to=https%3A%2F%2Ftown.example%2Fa';
    expect(clickedRecord(PAGE, AT, link)?.url).toBe('https://town.example/a');
  });

  test.each([
    ['the next page', AT, 'https://search.example/find?q=old+town&page=3'],
    ['no query', 'https://search.example/find?p=1', 'https://town.example/'],
    ['an empty query', 'https://search.example/find?q=%20%09', 'https://town.example/'],
    ['a program', AT, 'javascript:alert(1)'],
    ['a letter', AT, 'mailto:somebody@town.example'],
    ['no address', AT, 'nonsense'],
    ['a target that is no page', AT, 'https://search.example/away?to=javascript%3Aalert(1)'],
    ['too long a query', `https://search.example/find?q=${'a'.repeat(2049)}`, 'https://b.example/'],
  ])('%s is no record', (_, page, link) => {
    expect(clickedRecord(PAGE, page, link)).toBeUndefined();
  });

  test('spelling a query again changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const once = spelledQuery(text);
        expect(spelledQuery(once)).toBe(once);
      }),
    );
  });
});
