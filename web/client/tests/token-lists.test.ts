/** Lists and descriptions of campaigns with tokens: read and refused as in Python. */
import { expect, test } from 'vitest';
import type { Fields } from '../src/canonical.js';
import { readDescription, requirePromised } from '../src/description.js';
import { readSignedHeadList } from '../src/signed-head-list.js';
import { readVectors } from './vectors.js';

interface Vectors {
  readonly token_key: string;
  readonly description: Fields;
  readonly signed_head_list: Fields;
  readonly signed_head_list_without_relay: Fields;
  readonly broken_head_lists: Readonly<Record<string, Fields>>;
  readonly refused_by_description: Readonly<
    Record<string, { readonly signed: Fields; readonly description: Fields }>
  >;
}

const VECTORS = readVectors<Vectors>('report_tokens');

function described(description: Fields) {
  const shown = JSON.stringify({ state: 'clients-open', description });
  return readDescription(shown, String(description.id));
}

test('a list with a token key keeps to its description', async () => {
  const signed = await readSignedHeadList(JSON.stringify(VECTORS.signed_head_list));
  expect(signed.headList.tokenKey?.text).toBe(VECTORS.token_key);
  const promise = await described(VECTORS.description);
  expect(promise).toMatchObject({ needsToken: true, issuer: undefined });
  requirePromised(signed, promise);
});

test('a list with a token key and no relay is read', async () => {
  const text = JSON.stringify(VECTORS.signed_head_list_without_relay);
  expect((await readSignedHeadList(text)).headList.tokenKey?.text).toBe(VECTORS.token_key);
});

test.each(Object.entries(VECTORS.broken_head_lists))('%s is refused', async (_, list) => {
  await expect(readSignedHeadList(JSON.stringify(list))).rejects.toThrow('RSASSA-PSS key');
});

test.each(Object.entries(VECTORS.refused_by_description))('%s are refused', async (_, one) => {
  const signed = await readSignedHeadList(JSON.stringify(one.signed));
  const promise = await described(one.description);
  expect(signed.description).toBe(promise.digest);
  expect(() => requirePromised(signed, promise)).toThrow(/key/);
});
