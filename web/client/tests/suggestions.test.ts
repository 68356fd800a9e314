import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Fields } from '../src/canonical.js';
import { fold } from '../src/search/folding.js';
import { LocalSearch } from '../src/search/local-search.js';
import { decodePunycode, encodePunycode } from '../src/search/punycode.js';
import { webAddress } from '../src/search/urls.js';
import { readVectors } from './vectors.js';

interface Suggested {
  readonly query: string;
  readonly probability: number;
  readonly links: readonly object[];
  readonly is_correction: boolean;
}

interface Asked {
  readonly typed: string;
  readonly suggestions: readonly Suggested[];
}

interface Vectors {
  readonly limit: number;
  readonly release: Fields;
  readonly asked: readonly Asked[];
  readonly release_with_relay: Fields;
  readonly asked_with_relay: readonly Asked[];
  readonly folds: readonly { readonly text: string; readonly folded: string }[];
  readonly addresses: readonly {
    readonly url: string;
    readonly address: string | null;
    readonly shown: string | null;
  }[];
  readonly characters: { readonly ranges: readonly number[]; readonly folds: string };
}

const VECTORS = readVectors<Vectors>('suggestions');

function opened(release: Fields = VECTORS.release): LocalSearch {
  const result = LocalSearch.open(JSON.stringify(release));
  if (!result.ok) throw new Error(result.problem);
  return result.search;
}

test.each(['', '_with_relay'] as const)('suggests what Python suggests%s', (clients) => {
  const search = opened(VECTORS[`release${clients}`]);
  for (const { typed, suggestions } of VECTORS[`asked${clients}`]) {
    const found = search.suggest(typed, VECTORS.limit).map(({ isCorrection, ...rest }) => ({
      ...rest,
      is_correction: isCorrection,
    }));
    expect(found, typed).toEqual(suggestions);
  }
});

test('texts fold alike', () => {
  for (const { text, folded } of VECTORS.folds) expect(fold(text), text).toBe(folded);
});

test('every character folds alike', () => {
  const { ranges, folds } = VECTORS.characters;
  const hash = createHash('sha256');
  for (let pair = 0; pair < ranges.length; pair += 2) {
    const last = ranges[pair + 1] ?? 0;
    let lines = '';
    for (let code = ranges[pair] ?? 0; code <= last; code++) {
      lines += `${fold(String.fromCodePoint(code))}\n`;
    }
    hash.update(lines);
  }
  expect(hash.digest('hex')).toBe(folds);
});

test('URLs are spelled alike', () => {
  for (const { url, address, shown } of VECTORS.addresses) {
    const found = webAddress(url);
    expect([found?.address ?? null, found?.shown ?? null], url).toEqual([address, shown]);
  }
});

test('folding twice changes nothing', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => fold(fold(text)) === fold(text)));
});

test('a suggestion is found by each of its beginnings', () => {
  const search = opened();
  for (const { query } of search.suggest('', 100)) {
    const letters = [...fold(query)];
    for (let length = 1; length <= letters.length; length++) {
      const found = search.suggest(letters.slice(0, length).join(''), 100);
      expect(found.map((one) => one.query)).toContain(query);
    }
  }
});

test('spelling a URL once is enough, and gives plain ASCII', () => {
  const part = fc.constantFrom(
    'http://',
    'a.example',
    '/',
    '?',
    '#',
    '%',
    'é',
    '..',
    ':',
    '@',
    '&',
  );
  const url = fc.array(fc.oneof(part, fc.string())).map((parts) => parts.join(''));
  fc.assert(
    fc.property(url, (text) => {
      const found = webAddress(text);
      if (!found) return;
      expect(webAddress(found.address)).toEqual(found);
      expect(found.address).toMatch(/^https?:\/\/[!-~]+$/);
    }),
  );
});

test('Punycode comes back as it was', () => {
  const letters = fc.string({ unit: 'grapheme', minLength: 1 });
  fc.assert(fc.property(letters, (text) => decodePunycode(encodePunycode(text)) === text));
});

test('nothing typed throws, whatever it is', () => {
  const search = opened();
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (typed) => search.suggest(typed).length <= 8),
  );
  expect(search.suggest(undefined as unknown as string)).toEqual([]);
});

const [row] = VECTORS.release.queries as unknown as [Fields];
const BROKEN: Readonly<Record<string, Partial<Fields>>> = {
  'another format': { format: 'blender-dp head list' },
  'another version': { version: 2 },
  'no users': { users: null },
  'half a user': { users: { opt_in: 0.5, clients: 1 } },
  'a confidence of one': { confidence: 1 },
  'private unknown': { private: null },
  'no queries': { queries: [] },
  'rows that are none': { queries: [1] },
  'a row twice': { queries: [row, ...(VECTORS.release.queries as Fields[])] },
  'a probability that is a text': { queries: [{ ...row, probability: '1' }] },
  'an error of the clients without estimate': { queries: [{ ...row, client_probability: null }] },
  'an unlisted bound of two': { unlisted_bound: 2 },
  'records of other queries': { records: (VECTORS.release.records as Fields[]).slice(-1) },
};

test.each(Object.keys(BROKEN))('a release with %s is refused, without a throw', (what) => {
  const result = LocalSearch.open(JSON.stringify({ ...VECTORS.release, ...BROKEN[what] }));
  expect(result.ok).toBe(false);
});

const UNASKED: Fields = { client_probability: null, client_std_error: null };

test('an empty list, about which no client was asked, suggests nothing', () => {
  const others = (name: string) =>
    (VECTORS.release[name] as Fields[])
      .filter(({ cell }) => cell === 'other')
      .map((other) => ({ ...other, ...UNASKED }));
  const search = opened({
    ...VECTORS.release,
    queries: others('queries'),
    records: others('records'),
  });
  expect(search.size).toBe(0);
  expect(search.suggest('')).toEqual([]);
  expect(search.suggest('g')).toEqual([]);
});

test('a query about which no client was asked is not suggested', () => {
  const queries = (VECTORS.release.queries as Fields[]).map((one) =>
    one.query === 'google' ? { ...one, ...UNASKED } : one,
  );
  const search = opened({ ...VECTORS.release, queries });
  expect(search.suggest('', 100).map(({ query }) => query)).not.toContain('google');
  expect(search.size).toBe(opened().size - 1);
});

test('what is no JSON is refused', () => {
  expect(LocalSearch.open('{').ok).toBe(false);
  expect(LocalSearch.open('null').ok).toBe(false);
});

test('a stricter rule shows less', () => {
  const result = LocalSearch.open(JSON.stringify(VECTORS.release), { significance: 1e9 });
  expect(result.ok && result.search.size).toBe(0);
});
