/** What `list_ready.py` times in a browser: the client, and a service that answers at once. */
import type { Fields } from '../../web/client/src/canonical.js';
import { BlenderClient } from '../../web/client/src/client.js';
import { memoryStorage } from '../../web/client/src/storage.js';
import { CAMPAIGN, FakeService, SERVICE, signedText } from '../../web/client/tests/service.js';

const PAPER: Fields = {
  name: 'local-alg',
  version: 1,
  epsilon: '4.0',
  delta: '1e-06',
  query_budget_fraction: '0.85',
  records_per_client: 1,
};

/** Returns a signed list of queries with two URLs each: three cells per query, and one. */
function listText(queryCount: number, isPaper: boolean): Promise<string> {
  const queries = Array.from({ length: queryCount }, (_, i) => ({
    query: `what people search for ${10_000 + i}`,
    urls: ['https://one.example/page', 'https://two.example/page'],
  }));
  return signedText({
    list: (list) => ({ ...list, queries, ...(isPaper && { mechanism: PAPER }) }),
  });
}

/**
 * Returns the two steps of a first visit, each with the milliseconds that it took: the list is
 * fetched, parsed, checked with its promise and the log, and ready; then a report is drawn and sent.
 */
function visit(text: string): readonly (() => Promise<number>)[] {
  const { fetch } = new FakeService(text);
  const client = new BlenderClient({ service: SERVICE, storage: memoryStorage(), fetch });
  const steps = [() => client.headList(CAMPAIGN), () => client.report(CAMPAIGN, null)];
  return steps.map((step) => async () => {
    const began = performance.now();
    const { ok } = await step();
    if (!ok) throw new Error('refused');
    return performance.now() - began;
  });
}

Object.assign(globalThis, { listText, visit });
