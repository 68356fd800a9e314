import { expect, test } from 'vitest';
import { toBase64url } from '../src/base64url.js';
import type { Fields } from '../src/canonical.js';
import { exact, toDecimal } from '../src/fraction.js';
import { readHeadList } from '../src/head-list.js';
import { askedForQuery, chooseSubset, packItems, subsetChannel } from '../src/subset-selection.js';
import { GivenBytes, readVectors, toHex } from './vectors.js';

interface Vectors {
  readonly channels: readonly {
    readonly size: number;
    readonly epsilon: string;
    readonly subset_size: number;
    readonly threshold: string;
    readonly bytes: number;
  }[];
  readonly draws: readonly {
    readonly size: number;
    readonly epsilon: string;
    readonly item: number;
    readonly uniform_bytes: string;
    readonly items: readonly number[];
    readonly packed: string;
  }[];
  readonly public_coins: readonly {
    readonly campaign_id: string;
    readonly query_share: number;
    readonly asked_for_query: boolean;
  }[];
  readonly documents: {
    readonly head_list: Fields;
    readonly reports: readonly {
      readonly items: readonly number[];
      readonly document: { readonly question: string; readonly items: string };
    }[];
  };
}

const VECTORS = readVectors<Vectors>('subset_selection');

test('channels are chosen as the server chooses them', () => {
  expect(VECTORS.channels.length).toBe(110);
  for (const vector of VECTORS.channels) {
    const channel = subsetChannel(vector.size, exact(vector.epsilon));
    expect(channel.subsetSize).toBe(vector.subset_size);
    expect(String(channel.threshold)).toBe(vector.threshold);
    const items = Array.from({ length: vector.subset_size }, (_, i) => i);
    expect(packItems(items, vector.size).length).toBe(vector.bytes);
  }
});

test('the same bytes draw the same subset and pack it alike', () => {
  expect(VECTORS.draws.length).toBe(72);
  for (const vector of VECTORS.draws) {
    const source = new GivenBytes(vector.uniform_bytes);
    const channel = subsetChannel(vector.size, exact(vector.epsilon));
    const named = chooseSubset(vector.item, channel, source.take);
    expect(named).toEqual(vector.items);
    expect(source.left).toBe(0);
    expect(toHex(packItems(named, vector.size))).toBe(vector.packed);
  }
});

test('the public coin falls alike', async () => {
  for (const coin of VECTORS.public_coins) {
    const id = new TextEncoder().encode(coin.campaign_id);
    expect(await askedForQuery(id, toDecimal(coin.query_share))).toBe(coin.asked_for_query);
  }
});

test('a published list is read, and its reports are written alike', async () => {
  const list = await readHeadList(VECTORS.documents.head_list);
  expect(list.digest).toBe(VECTORS.documents.head_list.digest);
  const sizes = { record: list.cells.queryOfCell.length, query: list.cells.urlsPerQuery.length };
  for (const { items, document } of VECTORS.documents.reports) {
    const size = document.question === 'record' ? sizes.record : sizes.query;
    expect(toBase64url(packItems(items, size))).toBe(document.items);
  }
});

test('an ε too small for 64 bits is refused', () => {
  expect(() => subsetChannel(3000, exact('1e-25'))).toThrow('epsilon must be large enough');
});
