/** Head lists that nobody could have published. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, digestOf, type Fields, type Json, without } from '../src/canonical.js';
import { cellOf, readHeadList } from '../src/head-list.js';
import { readVectors } from './vectors.js';

const PLANTED = 'planted-secret';
const [LOCAL, , SUBSET] = readVectors<{ readonly head_lists: readonly Fields[] }>('device_reports')
  .head_lists as readonly [Fields, Fields, Fields];

async function withNewDigest(document: Fields): Promise<Fields> {
  const bare = without(document, 'digest');
  return { ...bare, digest: await digestOf(bare) };
}

async function problemOf(document: Json): Promise<string> {
  const problem = await readHeadList(document).then(
    () => 'none',
    (error) => String(error.message),
  );
  expect(problem).not.toContain(PLANTED);
  return problem;
}

function entry(query: Json = PLANTED, urls: Json = [PLANTED]): Fields {
  return { query, urls };
}

const BAD_QUERIES: Readonly<Record<string, Json>> = {
  null: null,
  'a text': PLANTED,
  'an object': { [PLANTED]: [PLANTED] },
  texts: [PLANTED],
  nulls: [null],
  'no query': [{ urls: [PLANTED] }],
  'no urls': [{ query: PLANTED }],
  'a query of null': [entry(null)],
  'a query that is a number': [entry(7)],
  'urls of null': [entry(PLANTED, null)],
  'urls as a text': [entry(PLANTED, 'abc')],
  'urls that are numbers': [entry(PLANTED, [1, 2])],
  'a url twice': [entry(PLANTED, [PLANTED, PLANTED])],
  'urls out of order': [entry(PLANTED, ['b', 'a'])],
  'a query twice': [entry(), entry()],
  'queries out of order': [entry('b'), entry('a')],
  'a longer query first': [entry('aa'), entry('a')],
  'queries in the order of UTF-16': [entry('\u{1f600}'), entry('\uffee')],
  'half a character': [entry('\ud800')],
  'a field too many': [{ ...entry(), note: 1 }],
};

test('a query may stand without URLs', async () => {
  expect(await problemOf(await withNewDigest({ ...LOCAL, queries: [entry(PLANTED, [])] }))).toBe(
    'none',
  );
});

test.each(Object.entries(BAD_QUERIES))('queries with %s are refused', async (_, queries) => {
  expect(await problemOf(await withNewDigest({ ...LOCAL, queries }))).not.toBe('none');
});

const BAD_MECHANISMS: Readonly<Record<string, Fields>> = {
  'another name': { name: PLANTED },
  'another version': { version: 2 },
  'a version as text': { version: '1' },
  'ε not a number': { epsilon: 'NaN' },
  'ε infinite': { epsilon: '1e999' },
  'ε zero': { epsilon: '0.0' },
  'ε negative': { epsilon: '-4.0' },
  'ε as a number': { epsilon: 4 },
  'ε in another spelling': { epsilon: '4.00' },
  'δ zero': { delta: '0.0' },
  'δ one': { delta: '1.0' },
  'f_C zero': { query_budget_fraction: '0.0' },
  'f_C missing': { query_budget_fraction: null },
  'm_C zero': { records_per_client: 0 },
  'm_C half': { records_per_client: 1.5 },
  'm_C a text': { records_per_client: '1' },
  'a field too many': { query_share: '0.5' },
};

test.each(Object.entries(BAD_MECHANISMS))('a mechanism with %s is refused', async (_, changed) => {
  const mechanism = { ...(LOCAL.mechanism as Fields), ...changed };
  expect(await problemOf(await withNewDigest({ ...LOCAL, mechanism }))).not.toBe('none');
});

test.each(['-0.1', '1.0', '-0.0', '2.0'])('a query share of %s is refused', async (share) => {
  const mechanism = { ...(SUBSET.mechanism as Fields), query_share: share };
  expect(await problemOf(await withNewDigest({ ...SUBSET, mechanism }))).not.toBe('none');
});

test.each([null, 1, 'text', [], {}, { format: 'blender-dp head list' }])(
  'a document that is %j is refused',
  async (document) => {
    expect(await problemOf(document)).not.toBe('none');
  },
);

test.each([
  ['format', 'blender-dp release'],
  ['version', 2],
  ['version', '1'],
  ['private', 1],
  ['digest', null],
  ['note', PLANTED],
])('a list with another %s is refused', async (name, value) => {
  const changed = { ...LOCAL, [name]: value };
  expect(await problemOf(name === 'digest' ? changed : await withNewDigest(changed))).not.toBe(
    'none',
  );
});

const name = fc.string({ unit: 'grapheme', maxLength: 6 });

test('whatever is in byte order is read, and every record has its cell', async () => {
  const lists = fc.dictionary(name, fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), {
    noNullPrototype: true,
  });
  const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
  await fc.assert(
    fc.asyncProperty(lists, async (urlsOf) => {
      const queries = Object.keys(urlsOf)
        .sort(byBytes)
        .map((query) => ({ query, urls: [...(urlsOf[query] ?? [])].sort(byBytes) }));
      const list = await readHeadList(await withNewDigest({ ...LOCAL, queries }));
      const cells = queries.flatMap(({ query, urls }) => [
        ...urls.map((url) => cellOf(list, query, url)),
        cellOf(list, query, '\0 not listed'),
      ]);
      const all = [...cells, cellOf(list, null, null)];
      expect(all).toEqual(list.cells.queryOfCell.map((_, cell) => cell));
    }),
  );
});

test('a letter beyond 16 bits comes after those within, whatever JavaScript says', async () => {
  const queries = ['a\uff5e', 'a\u{1f600}'].map((query) => ({ query, urls: ['u'] }));
  expect(await problemOf(await withNewDigest({ ...LOCAL, queries }))).toBe('none');
  const turned = [...queries].reverse();
  expect(await problemOf(await withNewDigest({ ...LOCAL, queries: turned }))).toMatch('byte order');
});

test('canonical JSON is sorted at every depth, and reads back the same', () => {
  expect(canonicalJson({ b: [{ d: 'é\n\u2028', c: null }], a: 1 })).toBe(
    '{"a":1,"b":[{"c":null,"d":"é\\n\u2028"}]}',
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value as Json);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
    }),
  );
});
