/** Subset selection: the reports of the `sharp` preset, from the question to the bytes. */
import { toBase64url } from './base64url.js';
import { type Fields, sha256, utf8 } from './canonical.js';
import { at, type Cells } from './cells.js';
import { BITS, oddsOfALie } from './exponential.js';
import { decimal, exact, type Fraction, isBelow, largest } from './fraction.js';
import type { Mechanism } from './mechanism.js';
import { missed, type Odds } from './odds.js';
import { must } from './refusal.js';
import { drawBelow, drawWord, firstWord, type UniformBytes, WORD } from './uniform.js';

/** Reads the mechanism that a head list describes. */
export function subsetSelection(described: Fields): Mechanism {
  const epsilon = decimal(described, 'epsilon', (x) => x > 0 && x < Number.POSITIVE_INFINITY);
  const queryShare = decimal(described, 'query_share', (x) => x >= 0 && x < 1);
  const channelsOf = ({ queryOfCell, urlsPerQuery }: Cells) => ({
    record: subsetChannel(queryOfCell.length, exact(epsilon)),
    query: subsetChannel(urlsPerQuery.length, exact(epsilon)),
  });
  return {
    document: { name: 'subset-selection', version: 1, epsilon, query_share: queryShare },
    epsilon,
    delta: '0.0',
    likelihoodRatio: (cells) => largest(Object.values(channelsOf(cells)).map(likelihoodRatio)),
    odds: (cells) => {
      const { record, query } = channelsOf(cells);
      const asked = Number(queryShare) > 0 ? [oddsOf('query', query)] : [];
      return [oddsOf('record', record), ...asked];
    },
    prepare: async (cells, reportId) => {
      const question = (await askedForQuery(reportId, queryShare)) ? 'query' : 'record';
      const channel = channelsOf(cells)[question];
      return (cell, uniform) => {
        const item = question === 'record' ? cell : at(cells.queryOfCell, cell);
        const named = chooseSubset(item, channel, uniform);
        return { question, items: toBase64url(packItems(named, channel.size)) };
      };
    },
  };
}

/** Returns what a report to a question says. */
export function oddsOf(question: Odds['question'], channel: SubsetChannel): Odds {
  const { size, subsetSize, threshold } = channel;
  return { question, size, named: subsetSize, missed: missed(threshold) };
}

/** Subset selection among `size` items; make one with {@link subsetChannel}. */
export interface SubsetChannel {
  /** N, the items that may be named. */
  readonly size: number;
  /** d, how many of them each report names. */
  readonly subsetSize: number;
  /** Words of 64 bits below this name the truth. */
  readonly threshold: bigint;
}

/** Chooses d and computes its threshold, exactly as `core/channels/subset_selection.py` says. */
export function subsetChannel(size: number, epsilon: Fraction): SubsetChannel {
  if (size === 1) return { size, subsetSize: 1, threshold: WORD };
  const odds = oddsOfALie(epsilon);
  const below = Number((BigInt(size) * odds) / ((1n << BITS) + odds));
  let best: SubsetChannel | undefined;
  for (const d of [1, Math.max(below, 1), Math.min(below + 1, size - 1)].sort((a, b) => a - b)) {
    const channel = { size, subsetSize: d, threshold: threshold(odds, d, size) };
    const isUsable = channel.threshold * BigInt(size) > BigInt(d) * WORD;
    if (isUsable && (!best || isBelow(rareVariance(channel), rareVariance(best)))) best = channel;
  }
  must(
    best !== undefined,
    'epsilon must be large enough for thresholds of 64 bits: the truth must be named most often',
  );
  return best;
}

/** Computes the threshold of k-ary randomised response: d = 1. */
export function namingOne(size: number, epsilon: Fraction): SubsetChannel {
  return { size, subsetSize: 1, threshold: threshold(oddsOfALie(epsilon), 1, size) };
}

/** Returns how many of 2^64 words name the truth: 2^64 e^ε d/(e^ε d + N - d), rounded down. */
function threshold(odds: bigint, subsetSize: number, size: number): bigint {
  const d = BigInt(subsetSize) << BITS;
  return (WORD * d) / (d + BigInt(size - subsetSize) * odds);
}

function rareVariance(channel: SubsetChannel): Fraction {
  const [n, t] = [BigInt(channel.size), channel.threshold];
  const d = BigInt(channel.subsetSize) * WORD;
  return [(d - t) * ((n - 1n) * WORD - d + t), (n * t - d) ** 2n];
}

/**
 * Returns the d items that one client names instead of `item`, increasing.
 *
 * The others are drawn as positions 0 to N-2, where the position of the client's own item stands
 * for the last item (Floyd's algorithm: a position drawn twice gives way to the newest one).
 */
export function chooseSubset(
  item: number,
  channel: SubsetChannel,
  uniform: UniformBytes,
): readonly number[] {
  if (channel.size === 1) return [0];
  const namesTruth = drawWord(uniform) < channel.threshold;
  const last = channel.size - 1;
  const named = new Set<number>();
  for (let newest = last - channel.subsetSize + (namesTruth ? 1 : 0); newest < last; newest++) {
    const drawn = drawBelow(newest + 1, uniform);
    named.add(named.has(drawn) ? newest : drawn);
  }
  if (named.delete(item)) named.add(last);
  if (namesTruth) named.add(item);
  return [...named].sort((a, b) => a - b);
}

const COIN_DOMAIN = utf8('blender-dp public coin 1\0');

/** Tells whether the client with this id reports only its query. Anybody can check it: only the public id decides. */
export async function askedForQuery(id: Uint8Array, queryShare: string): Promise<boolean> {
  const [numerator, denominator] = exact(queryShare);
  const hash = await sha256(Uint8Array.from([...COIN_DOMAIN, ...id]));
  return firstWord(hash) < (numerator * WORD) / denominator;
}

/** Writes increasing items as a list of numbers, or as a bitmap where that is shorter: the same length for every report. */
export function packItems(items: readonly number[], size: number): Uint8Array {
  const width = 32 - Math.clz32(size - 1);
  const listLength = Math.ceil((items.length * width) / 8);
  const isBitmap = Math.ceil(size / 8) < listLength;
  const packed = new Uint8Array(isBitmap ? Math.ceil(size / 8) : listLength);
  const setBit = (place: number) => {
    packed[place >> 3] = (packed[place >> 3] ?? 0) | (128 >> (place & 7));
  };
  if (isBitmap) items.forEach(setBit);
  else {
    items.forEach((item, i) => {
      for (let bit = 0; bit < width; bit++) {
        if ((item >> (width - 1 - bit)) & 1) setBit(i * width + bit);
      }
    });
  }
  return packed;
}

/** Returns P(subset | an item in it)/P(subset | one that is not). */
export function likelihoodRatio({ size, subsetSize, threshold }: SubsetChannel): Fraction {
  if (size === 1) return [1n, 1n];
  return [threshold * BigInt(size - subsetSize), (WORD - threshold) * BigInt(subsetSize)];
}
