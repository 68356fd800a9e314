/** The list against the campaign's promise: refused where it asks for more, or is bound to another. */
import { expect, test } from 'vitest';
import { digestOf, type Fields } from '../src/canonical.js';
import { BlenderClient } from '../src/client.js';
import { EMPTY_LEDGER, type LogPlace } from '../src/ledger.js';
import { memoryStorage } from '../src/storage.js';
import { CAMPAIGN, FakeService, goodDescription, SERVICE, signedText } from './service.js';
import { readVectors } from './vectors.js';

interface Case {
  readonly signed: Fields;
  readonly description: Fields;
}

const VECTORS = readVectors<{
  readonly campaign: string;
  readonly good: Fields;
  readonly description: Fields;
  readonly refused_by_description: Readonly<Record<string, Case>>;
}>('signed_head_list');

/** Reports from a device that has read the log up to the entry of the list. */
async function reportTo({ signed, description }: Case) {
  const service = new FakeService(JSON.stringify(signed));
  service.description = description;
  service.describedId = String(description.id);
  const storage = memoryStorage();
  const { index, hash } = signed.log_entry as Fields & LogPlace;
  const logs = { [String(signed.public_key)]: { index, hash } };
  await storage.update(() => ({ ledger: { ...EMPTY_LEDGER, logs }, value: undefined }));
  const client = new BlenderClient({ service: SERVICE, storage, fetch: service.fetch });
  const result = await client.report(VECTORS.campaign, null);
  return { result, reports: service.reports };
}

test('a list that is bound to the description and keeps to it is reported to', async () => {
  const { result } = await reportTo({ signed: VECTORS.good, description: VECTORS.description });
  expect(result).toMatchObject({ ok: true, state: 'sent' });
});

test.each(Object.keys(VECTORS.refused_by_description))('%s: refused', async (what) => {
  const { result, reports } = await reportTo(VECTORS.refused_by_description[what] as Case);
  expect(result.ok).toBe(false);
  expect(reports).toEqual([]);
});

test('a campaign that shows ε = 1 with a signed list of ε = 8 gets nothing', async () => {
  const description = goodDescription({ parameters: { epsilon: '1.0', delta: '1e-06' } });
  const digest = await digestOf(description);
  const service = new FakeService(
    await signedText({
      list: (list) => ({ ...list, mechanism: { ...(list.mechanism as Fields), epsilon: '8.0' } }),
      document: (document) => ({ ...document, description: digest }),
    }),
  );
  service.description = description;
  const storage = memoryStorage();
  const client = new BlenderClient({ service: SERVICE, storage, fetch: service.fetch });
  const refused = {
    ok: false,
    problem: 'epsilon and delta must be at most what the campaign promises',
  };
  expect(await client.headList(CAMPAIGN)).toEqual(refused);
  expect(await client.report(CAMPAIGN, null)).toEqual(refused);
  expect(await storage.update((ledger) => ({ value: ledger }))).toEqual(EMPTY_LEDGER);
  expect(service.reports).toEqual([]);
});

test('a description that changed since the list was looked at is refused', async () => {
  const service = new FakeService(await signedText());
  const storage = memoryStorage();
  const client = new BlenderClient({ service: SERVICE, storage, fetch: service.fetch });
  const seen = await client.headList(CAMPAIGN);
  expect(seen).toMatchObject({ ok: true, description: await digestOf(goodDescription()) });
  service.description = goodDescription({ purpose: 'To sell them.' });
  const description = await digestOf(service.description);
  service.text = await signedText({ document: (document) => ({ ...document, description }) });
  expect(await client.report(CAMPAIGN, null)).toEqual({
    ok: false,
    problem: 'the description of a campaign must stay the same',
  });
  expect(service.reports).toEqual([]);
});
