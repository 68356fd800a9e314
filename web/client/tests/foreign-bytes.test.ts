/** Readers of what services publish, given anything: a refusal in our words, or a value. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromBase64url } from '../src/base64url.js';
import { digestOf, type Fields, type Json, without } from '../src/canonical.js';
import { cellsOf } from '../src/cells.js';
import { readDescription } from '../src/description.js';
import { toDecimal } from '../src/fraction.js';
import { readHeadList } from '../src/head-list.js';
import type { LogPlace } from '../src/ledger.js';
import { requireLogged } from '../src/public-log.js';
import { Refusal } from '../src/refusal.js';
import { readRelayedResponse, requireKept } from '../src/relay/relayed-response.js';
import { readRelease } from '../src/search/release.js';
import { readSignedHeadList } from '../src/signed-head-list.js';
import { readVectors } from './vectors.js';

const RUNS = Number(process.env.FUZZ_RUNS ?? 1000);
const LISTS = readVectors<{ readonly head_lists: readonly Fields[] }>('device_reports').head_lists;
const { good, description } = readVectors<{
  readonly good: Fields;
  readonly description: Fields;
}>('signed_head_list');
const relayed = readVectors<{
  readonly signed_head_list: Fields & { readonly head_list: Fields };
  readonly description: Fields;
}>('relayed_reports');
interface LogCase {
  readonly listed: LogPlace;
  readonly pieces: Readonly<Record<string, Fields>>;
}
/** Report tokens of RFC 9578: the key of their issuer. */
const [{ pkS }] = readVectors<readonly [{ readonly pkS: string }]>('rfc9578_type2');
const TOKEN_KEY = Buffer.from(pkS, 'hex').toString('base64url');
const WITH_TOKENS = {
  ...description,
  reports: 'token',
  issuer: { address: 'https://issuer.example/', public_key: TOKEN_KEY },
};
const { public_key: KEY, cases } = readVectors<{
  readonly public_key: string;
  readonly cases: readonly LogCase[];
}>('public_log');
const { release } = readVectors<{ readonly release: Fields }>('suggestions');

/** Values that readers trip over. */
const ODD: readonly Json[] = [
  ...[null, true, false, 0, -1, 1, 2 ** 31, 2 ** 53, 2 ** 64, 1e308, -0, 0.5, 5e-324],
  ...['', ' ', '0', '1e999', 'NaN', '1/3', '1_0', '٣', '0x1', '\0', '\ud800', 'é', 'record'],
  ...[`sha256:${'0'.repeat(64)}`, '2026-11-16T10:00:00Z', '__proto__', 'a'.repeat(300)],
  ...[[], {}, [[]], [null]],
];

/** Changes some places of a document; the numbers say where and to what. */
function changed(document: Json, steps: readonly (readonly [number, number])[]): Json {
  let copy: Json = structuredClone(document);
  for (const [where, what] of steps) {
    const places: [Fields, string][] = [];
    const walk = (value: Json): void => {
      if (value === null || typeof value !== 'object') return;
      for (const key of Object.keys(value)) {
        places.push([value as Fields, key]);
        walk((value as Fields)[key] as Json);
      }
    };
    walk(copy);
    const [inside, key] = places[where % Math.max(places.length, 1)] ?? [undefined, ''];
    const odd = structuredClone(ODD[what % ODD.length] as Json);
    if (inside === undefined) copy = odd;
    else if (what % 7 === 0 && !Array.isArray(inside)) Reflect.deleteProperty(inside, key);
    else Object.assign(inside, { [key]: odd });
  }
  return copy;
}

const STEPS = fc.array(fc.tuple(fc.nat(100_000), fc.nat(100_000)), { minLength: 1, maxLength: 4 });

/** Runs a reader; anything thrown but a refusal is a failure. */
async function refuseOrRead(read: () => unknown): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error.message).not.toBe('');
  }
}

async function withNewDigest(document: Json): Promise<Json> {
  if (document === null || typeof document !== 'object' || Array.isArray(document)) return document;
  const bare = without(document as Fields, 'digest');
  return { ...bare, digest: await digestOf(bare) };
}

test('a head list of any shape is read or refused', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(
        ...LISTS,
        relayed.signed_head_list.head_list,
        ...LISTS.slice(0, 1).map((list) => ({ ...list, token_key: TOKEN_KEY })),
      ),
      STEPS,
      fc.boolean(),
      async (list, steps, isDigestNew) => {
        const document = changed(list, steps);
        const given = isDigestNew ? await withNewDigest(document).catch(() => document) : document;
        await refuseOrRead(() => readHeadList(given));
      },
    ),
    { numRuns: RUNS },
  );
});

test('a signed head list of any shape is read or refused', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(good, relayed.signed_head_list),
      STEPS,
      async (list, steps) => {
        await refuseOrRead(() => readSignedHeadList(JSON.stringify(changed(list, steps))));
      },
    ),
    { numRuns: RUNS },
  );
});

/** Numbers at the edges of what a promise to relay clients may be made of. */
const NUMBERS = [5e-324, 1e-300, 1e-101, 1e-30, 1e-9, 0.001, 0.5, 1, 8, 44, 48, 90, 300, 1e308];
const NUMBER = fc.constantFrom(...NUMBERS.map(toDecimal));

test('a promise to relay clients of any size is kept or refused', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ epsilon: NUMBER, delta: NUMBER, report_epsilon: NUMBER, dishonest: NUMBER }),
      fc.constantFrom(1, 2, 1000, 20_000, 10 ** 7, 10 ** 10, Number.MAX_SAFE_INTEGER),
      fc.constantFrom(1, 40, 3000),
      async (numbers, batch, queries) => {
        const document = { name: 'relayed-response', version: 1, ...numbers, least_batch: batch };
        await refuseOrRead(() => {
          const cells = cellsOf(Array.from({ length: queries }, () => 1));
          requireKept(cells, readRelayedResponse(document));
        });
      },
    ),
    { numRuns: RUNS },
  );
});

test('a description of any shape is read or refused', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(description, relayed.description, WITH_TOKENS),
      STEPS,
      async (one, steps) => {
        const shown = changed({ state: 'clients-open', description: one }, steps);
        await refuseOrRead(() => readDescription(JSON.stringify(shown), String(description.id)));
      },
    ),
    { numRuns: RUNS },
  );
});

test('a log of any shape is read or refused', async () => {
  const { listed, pieces } = cases[0] as LogCase;
  await fc.assert(
    fc.asyncProperty(STEPS, async (steps) => {
      const piece = (start: number) => JSON.stringify(changed(pieces[start] ?? null, steps));
      await refuseOrRead(() =>
        requireLogged(listed, KEY, undefined, async (start) => piece(start)),
      );
    }),
    { numRuns: RUNS },
  );
});

test('a release of any shape is read or refused', async () => {
  await fc.assert(
    fc.asyncProperty(STEPS, async (steps) => {
      await refuseOrRead(() => readRelease(JSON.stringify(changed(release, steps))));
    }),
    { numRuns: RUNS },
  );
});

test('texts of any kind are read or refused', async () => {
  const cut = fc.json().map((whole) => whole.slice(0, -1));
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.json(), cut);
  await fc.assert(
    fc.asyncProperty(text, async (given) => {
      await refuseOrRead(() => readSignedHeadList(given));
      await refuseOrRead(() => readRelease(given));
    }),
    { numRuns: RUNS },
  );
});

test('bytes have one spelling', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(64), (text, length) => {
      const bytes = fromBase64url(text, length);
      if (bytes === undefined) return;
      expect(bytes.length).toBe(length);
      expect(Buffer.from(bytes).toString('base64url')).toBe(text);
    }),
    { numRuns: RUNS },
  );
});
