/** The cost of a report: what it can really reveal is debited, and δ is capped. */
import { expect, test } from 'vitest';
import type { Fields } from '../src/canonical.js';
import { digestOf } from '../src/canonical.js';
import { cellsOf } from '../src/cells.js';
import { BlenderClient } from '../src/client.js';
import type { HeadList } from '../src/head-list.js';
import { EMPTY_LEDGER, type LedgerEntry } from '../src/ledger.js';
import { readMechanism } from '../src/mechanism.js';
import { DEFAULT_POLICY, type Policy, spent } from '../src/policy.js';
import { reportCost } from '../src/report-cost.js';
import { memoryStorage } from '../src/storage.js';
import { CAMPAIGN, FakeService, goodDescription, SERVICE, signedText } from './service.js';
import { readVectors } from './vectors.js';

interface Vectors {
  readonly costs: readonly {
    readonly name: string;
    readonly mechanism: Fields;
    /** How many queries have how many URLs. */
    readonly queries: readonly (readonly [number, number])[];
    readonly cost: string;
  }[];
  readonly windows: readonly {
    readonly name: string;
    readonly window_days: number;
    readonly rows: readonly { readonly age_seconds: number; readonly epsilon: string }[];
    readonly spent: string;
  }[];
}

const { costs, windows } = readVectors<Vectors>('device_costs');

test.each(costs)('$name', ({ mechanism, queries, cost }) => {
  const urls = queries.flatMap(([count, size]) => Array<number>(count).fill(size));
  const list = { mechanism: readMechanism(mechanism), cells: cellsOf(urls) } as HeadList;
  expect(reportCost(list)).toEqual({ epsilon: cost, delta: mechanism.delta ?? '0.0' });
});

test.each(windows)('the window with $name', ({ window_days: windowDays, rows, spent: sum }) => {
  const now = Date.UTC(2026, 10, 15);
  const entries = rows.map(
    ({ age_seconds: age, epsilon }) => ({ epsilon, drawnAt: now - age * 1000 }) as LedgerEntry,
  );
  const policy = { ...DEFAULT_POLICY, windowDays };
  const [a, b] = spent({ ...EMPTY_LEDGER, entries }, 'epsilon', policy, now);
  expect((Number(a) / Number(b)).toFixed(6)).toBe(sum);
});

/** Reports to a campaign with LocalAlg of some ε and δ, which its description promises. */
async function reportByLocalAlg(epsilon: string, delta: string, policy: Partial<Policy> = {}) {
  const description = goodDescription({ parameters: { epsilon, delta } });
  const digest = await digestOf(description);
  const mechanism = {
    name: 'local-alg',
    version: 1,
    epsilon,
    delta,
    query_budget_fraction: '0.85',
    records_per_client: 1,
  };
  const text = await signedText({
    list: (list) => ({
      ...list,
      mechanism,
      queries: Array.from({ length: 1000 }, (_, i) => ({ query: `q ${1000 + i}`, urls: ['a'] })),
    }),
    document: (document) => ({ ...document, description: digest }),
  });
  const service = new FakeService(text);
  service.description = description;
  const storage = memoryStorage();
  const { fetch } = service;
  const client = new BlenderClient({ service: SERVICE, storage, fetch, policy });
  const result = await client.report(CAMPAIGN, null);
  const { entries } = await storage.update((ledger) => ({ value: ledger }));
  return { result, entries, reports: service.reports };
}

test('a small ε with a δ close to 1 is refused for its δ', async () => {
  const { result, entries, reports } = await reportByLocalAlg('0.01', '0.999');
  expect(result).toEqual({
    ok: false,
    problem:
      'the chance that a limit fails (δ) must be at most what is left of this device’s budget',
  });
  expect([entries, reports]).toEqual([[], []]);
});

test('where a device allows that δ, the report costs what it reveals', async () => {
  const { result, entries } = await reportByLocalAlg('0.01', '0.999', { mostDelta: 1 });
  expect(result).toMatchObject({ ok: true, epsilon: 6.679004 });
  expect(entries).toMatchObject([{ epsilon: '6.679004', delta: '0.999' }]);
});

test('and is refused where that is above the cap of ε', async () => {
  const policy = { mostDelta: 1, mostEpsilon: 6.679 };
  const { result, entries } = await reportByLocalAlg('0.01', '0.999', policy);
  expect(result).toMatchObject({ problem: expect.stringContaining('(ε) must be at most') });
  expect(entries).toEqual([]);
});

test('the δ of a list is debited, up to the cap exactly', async () => {
  const { entries } = await reportByLocalAlg('4.0', '1e-05');
  expect(entries).toMatchObject([{ delta: '1e-05' }]);
  expect((await reportByLocalAlg('4.0', '1.1e-05')).result.ok).toBe(false);
});
