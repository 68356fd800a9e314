/** How relay clients report, and what a shuffled batch promises them: the same as in Python. */
import { describe, expect, test } from 'vitest';
import { toBase64url } from '../src/base64url.js';
import type { Fields } from '../src/canonical.js';
import { cellsOf } from '../src/cells.js';
import { exact, type Fraction, times } from '../src/fraction.js';
import { cellOf, readHeadList } from '../src/head-list.js';
import { Refusal } from '../src/refusal.js';
import { readRelayedResponse, relayChannel, requireKept } from '../src/relay/relayed-response.js';
import { shuffledDelta } from '../src/relay/shuffle.js';
import { costOf } from '../src/report-cost.js';
import { chooseSubset, likelihoodRatio, namingOne, packItems } from '../src/subset-selection.js';
import { WORD } from '../src/uniform.js';
import { GivenBytes, readVectors } from './vectors.js';

interface Vectors {
  readonly channels: readonly {
    readonly size: number;
    readonly epsilon: string;
    readonly threshold: string;
  }[];
  readonly small_batches: readonly {
    readonly cells: number;
    readonly honest: number;
    readonly report_epsilon: string;
    readonly epsilon: string;
    readonly counted: string;
    readonly bounds: Readonly<Record<string, string>>;
  }[];
  readonly promises: readonly {
    readonly name: string;
    readonly cells: number;
    readonly relay: Fields;
    readonly honest: number;
    readonly delta: string;
    readonly is_kept: boolean;
  }[];
  readonly head_list: Fields;
  readonly report_cost: string;
  readonly reports: readonly {
    readonly query: string | null;
    readonly url: string | null;
    readonly uniform_bytes: string;
    readonly items: string;
  }[];
}

const VECTORS = readVectors<Vectors>('relayed_responses');
/** δ is written as a number of 2^-200. */
const UNITS = 200n;

/** Returns cells so many that a list has them: one query, its other URLs, and ⋆. */
function cellsOfCount(count: number) {
  return cellsOf([count - 2]);
}

/** Tells whether δ is at least one of the vectors, rounded down, and hardly more than another. */
function isBetween([a, b]: Fraction, least: bigint, most: bigint): boolean {
  return a << UNITS >= least * b && a << UNITS <= (most + (most >> 60n) + 1n) * b;
}

test('thresholds are the same integers', () => {
  for (const { size, epsilon, threshold } of VECTORS.channels) {
    expect(String(namingOne(size, exact(epsilon)).threshold)).toBe(threshold);
  }
});

test('the same bytes draw the same items, at the same cost', async () => {
  const list = await readHeadList(VECTORS.head_list);
  const channel = relayChannel(list.cells, list.relay ?? readRelayedResponse(null));
  expect(costOf(likelihoodRatio(channel))).toBe(VECTORS.report_cost);
  expect(VECTORS.reports.length).toBe(24);
  for (const { query, url, uniform_bytes: bytes, items } of VECTORS.reports) {
    const source = new GivenBytes(bytes);
    const named = chooseSubset(cellOf(list, query, url), channel, source.take);
    expect(named.length).toBe(1);
    expect(toBase64url(packItems(named, channel.size))).toBe(items);
    expect(source.left).toBe(0);
  }
});

test.each(VECTORS.small_batches)(
  'δ among $honest reports on $cells cells is no less than counted',
  ({ cells, honest, report_epsilon: reportEpsilon, epsilon, counted, bounds }) => {
    const channel = namingOne(cells, exact(reportEpsilon));
    for (const [spare, bound] of Object.entries(bounds)) {
      const [share = '', whole = ''] = spare.split('/');
      const delta = shuffledDelta(channel, honest, exact(epsilon), [BigInt(share), BigInt(whole)]);
      expect(isBetween(delta, BigInt(counted), BigInt(bound))).toBe(true);
    }
  },
);

describe('a promise is kept or refused as in Python', () => {
  test.each(VECTORS.promises)(
    '$name: $cells cells, $honest honest',
    ({ cells, relay, honest, delta, is_kept: isKept }) => {
      const mechanism = readRelayedResponse(relay);
      const listed = cellsOfCount(cells);
      const spare = times(exact(mechanism.delta), [1n, 1000n]);
      const channel = relayChannel(listed, mechanism);
      const spent = shuffledDelta(channel, honest, exact(mechanism.epsilon), spare);
      // Python's own figure is rounded up too: both are, and by less than 2^-60 of it.
      const stated = BigInt(delta);
      expect(isBetween(spent, stated - (stated >> 60n), stated)).toBe(true);
      if (isKept) requireKept(listed, mechanism);
      else expect(() => requireKept(listed, mechanism)).toThrow('must keep');
    },
  );

  test('with a uniform share that is 2 % too small, each is refused', () => {
    const twins = VECTORS.promises.filter(({ name }) => name.includes('2 % too small'));
    expect(twins.length).toBe(24);
    expect(twins.some(({ is_kept: isKept }) => isKept)).toBe(false);
  });
});

test('a channel with 2 % fewer lies spends more', () => {
  const channel = namingOne(50, exact('6.466'));
  const lies = WORD - channel.threshold;
  const twin = { ...channel, threshold: WORD - (lies * 98n) / 100n };
  const spare: Fraction = [1n, 100_000_000n];
  const [a, b] = shuffledDelta(channel, 20_000, [1n, 1n], spare);
  const [c, d] = shuffledDelta(twin, 20_000, [1n, 1n], spare);
  expect(a * 100_000n <= b && c * 100_000n > d).toBe(true);
});

test('a report with ε0 of at most ε needs no batch', () => {
  const relay = readRelayedResponse({
    ...(VECTORS.head_list.relay as Fields),
    epsilon: '4.0',
    report_epsilon: '4.0',
    least_batch: 2,
  });
  expect(() => requireKept(cellsOfCount(50), relay)).not.toThrow();
});

describe('refused', () => {
  const RELAY = VECTORS.head_list.relay as Fields;
  const WRONG: Readonly<Record<string, Fields | null>> = {
    'no object': null,
    'another name': { ...RELAY, name: 'relayed' },
    'another version': { ...RELAY, version: 2 },
    'an ε of 0': { ...RELAY, epsilon: '0.0' },
    'a δ of 1': { ...RELAY, delta: '1.0' },
    'an ε0 of 0': { ...RELAY, report_epsilon: '0.0' },
    'an ε0 in another spelling': { ...RELAY, report_epsilon: '3.50' },
    'everybody dishonest': { ...RELAY, dishonest: '1.0' },
    'a batch of a text': { ...RELAY, least_batch: '20000' },
    'a batch of half a report': { ...RELAY, least_batch: 0.5 },
    'an empty batch': { ...RELAY, least_batch: 0 },
  };
  test.each(Object.keys(WRONG))('%s', (what) => {
    expect(() => readRelayedResponse(WRONG[what])).toThrow(Refusal);
  });

  test('a batch without an honest report', () => {
    const relay = readRelayedResponse({ ...RELAY, least_batch: 1 });
    expect(() => requireKept(cellsOfCount(50), relay)).toThrow('honest report');
  });

  test('a batch so large that checking it would take long', () => {
    const batch = Number.MAX_SAFE_INTEGER;
    const relay = readRelayedResponse({ ...RELAY, least_batch: batch });
    expect(() => requireKept(cellsOfCount(50), relay)).toThrow('small enough');
  });

  test('a list whose relay has a field too many, or another digest', async () => {
    const { head_list: list } = VECTORS;
    const more = { ...list, relay: { ...RELAY, note: '' } };
    await expect(readHeadList(more)).rejects.toThrow('digest');
    const other = { ...list, relay: { ...RELAY, least_batch: 20_001 } };
    await expect(readHeadList(other)).rejects.toThrow('digest');
  });
});
