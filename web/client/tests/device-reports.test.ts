import { expect, test } from 'vitest';
import type { Fields } from '../src/canonical.js';
import { oddsOfALie } from '../src/exponential.js';
import { type HeadList, readHeadList } from '../src/head-list.js';
import { localAlgChannel, readLocalAlg } from '../src/local-alg.js';
import { randomizerFor } from '../src/report.js';
import { fromHex, GivenBytes, readVectors } from './vectors.js';

interface Vectors {
  readonly odds_of_a_lie: readonly { readonly epsilon: string; readonly odds: string }[];
  readonly head_lists: readonly Fields[];
  readonly local_alg: readonly {
    readonly query_threshold: string;
    readonly url_thresholds: readonly string[];
  }[];
  readonly reports: readonly {
    readonly head_list: number;
    readonly report_id: string;
    readonly query: string | null;
    readonly url: string | null;
    readonly uniform_bytes: string;
    readonly document: Fields;
  }[];
}

const VECTORS = readVectors<Vectors>('device_reports');

async function listOf(position: number): Promise<HeadList> {
  return readHeadList(VECTORS.head_lists[position]);
}

test('e^-ε has the same bits as the server’s', () => {
  for (const { epsilon, odds } of VECTORS.odds_of_a_lie) {
    const [numerator = '', denominator = '1'] = epsilon.split('/');
    expect(String(oddsOfALie([BigInt(numerator), BigInt(denominator)]))).toBe(odds);
  }
});

test('thresholds of LocalAlg are the same integers', async () => {
  expect(VECTORS.local_alg.length).toBe(2);
  for (const [position, vector] of VECTORS.local_alg.entries()) {
    const { cells, mechanism } = await listOf(position);
    const channel = localAlgChannel(cells, readLocalAlg(mechanism.document));
    expect(String(channel.queryThreshold)).toBe(vector.query_threshold);
    expect(channel.urlThresholds.map(String)).toEqual(vector.url_thresholds);
  }
});

test('the same bytes draw the same report, for both mechanisms and both questions', async () => {
  const questions = new Set(VECTORS.reports.map(({ document }) => document.question));
  expect(questions).toEqual(new Set([undefined, 'record', 'query']));
  for (const vector of VECTORS.reports) {
    const list = await listOf(vector.head_list);
    const randomizer = await randomizerFor(list, fromHex(vector.report_id));
    const { query, url } = vector;
    const record = query === null || url === null ? null : { query, url };
    const source = new GivenBytes(vector.uniform_bytes);
    expect(JSON.parse(randomizer(record, source.take))).toEqual(vector.document);
    expect(source.left).toBe(0);
  }
});

test('an empty list is not reported against', async () => {
  const list = { ...(await listOf(0)), queries: [] };
  await expect(randomizerFor(list, new Uint8Array(16))).rejects.toThrow('at least one query');
});
