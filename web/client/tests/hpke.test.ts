/** Encryption against the vectors of RFC 9180, those of Python, and an opener of its own. */
import { describe, expect, test } from 'vitest';
import { fromBase64url, toBase64url } from '../src/base64url.js';
import type { Fields } from '../src/canonical.js';
import { encryptFor, joined, messageKey } from '../src/relay/hpke.js';
import { infoOf } from '../src/relay/relayed-report.js';
import { opened } from './opened.js';
import { fromHex, readVectors, toHex } from './vectors.js';

interface Vectors {
  readonly campaign: string;
  readonly collector_key: string;
  readonly report_length: number;
  readonly signed_head_list: Fields & { readonly head_list: Fields; readonly relay: Fields };
  readonly reports: readonly Readonly<Record<string, string>>[];
  readonly refused_reports: readonly Readonly<Record<string, string>>[];
}

const VECTORS = readVectors<Vectors>('relayed_reports');
const { head_list: LIST, relay: RELAY } = VECTORS.signed_head_list;
const INFO = infoOf(VECTORS.campaign, String(LIST.digest));
const KEY_BYTES = 32;

function bytes(text: unknown, length = KEY_BYTES): Uint8Array<ArrayBuffer> {
  return fromBase64url(text, length) ?? new Uint8Array();
}

/** Returns a key pair from its private half, as a vector has it. */
async function pair(secret: Uint8Array): Promise<CryptoKeyPair> {
  const der = joined(fromHex('302e020100300506032b656e04220420'), secret);
  const privateKey = await crypto.subtle.importKey('pkcs8', der, 'X25519', true, ['deriveBits']);
  const { x = '' } = await crypto.subtle.exportKey('jwk', privateKey);
  const publicKey = await crypto.subtle.importKey('raw', bytes(x), 'X25519', true, []);
  return { publicKey, privateKey };
}

/** RFC 9180, appendix A.1.1: base mode of the suite that is used here. */
const RFC = {
  ephemeral: '52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736',
  encapsulated: '37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431',
  recipient: '3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d',
  info: '4f6465206f6e2061204772656369616e2055726e',
  key: '4531685d41d65f03dc48f6b8302c05b0',
  nonce: '56d890e5accaaf011cff4b7d',
  message: '4265617574792069732074727574682c20747275746820626561757479',
  associated: '436f756e742d30',
  ciphertext:
    'f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a',
};

test('key and nonce are those of the RFC, and encrypt to the same bytes', async () => {
  const made = await messageKey(
    fromHex(RFC.recipient),
    fromHex(RFC.info),
    await pair(fromHex(RFC.ephemeral)),
  );
  expect(toHex(made.encapsulated)).toBe(RFC.encapsulated);
  expect(toHex(made.key)).toBe(RFC.key);
  expect(toHex(made.nonce)).toBe(RFC.nonce);
  const key = await crypto.subtle.importKey('raw', made.key, 'AES-GCM', false, ['encrypt']);
  const how = { name: 'AES-GCM', iv: made.nonce, additionalData: fromHex(RFC.associated) };
  const ciphertext = await crypto.subtle.encrypt(how, key, fromHex(RFC.message));
  expect(toHex(new Uint8Array(ciphertext))).toBe(RFC.ciphertext);
});

test('the same ephemeral keys encryptFor the same reports as Python', async () => {
  expect(VECTORS.reports.length).toBeGreaterThan(3);
  for (const { ephemeral_key: ephemeral, plaintext = '', encrypted } of VECTORS.reports) {
    const made = await messageKey(bytes(RELAY.encryption_key), INFO, await pair(bytes(ephemeral)));
    const key = await crypto.subtle.importKey('raw', made.key, 'AES-GCM', false, ['encrypt']);
    const how = { name: 'AES-GCM', iv: made.nonce };
    const ciphertext = await crypto.subtle.encrypt(how, key, fromHex(plaintext));
    expect(toBase64url(joined(made.encapsulated, new Uint8Array(ciphertext)))).toBe(encrypted);
  }
});

describe('opened', () => {
  const secret = bytes(VECTORS.collector_key);

  test('what Python encrypted, and nothing that was changed or is for another list', () => {
    for (const { plaintext, encrypted } of VECTORS.reports) {
      const ciphertext = bytes(encrypted, VECTORS.report_length);
      expect(toHex(opened(secret, INFO, ciphertext))).toBe(plaintext);
    }
    const foreign = VECTORS.refused_reports.filter(({ fault }) => fault === 'not-for-this-list');
    expect(foreign.length).toBeGreaterThan(2);
    for (const { encrypted } of foreign) {
      expect(() => opened(secret, INFO, bytes(encrypted, VECTORS.report_length))).toThrow();
    }
  });

  test('what was encrypted here; the same message never gives the same bytes', async () => {
    const message = fromHex('00ff10');
    const [first, second] = await Promise.all(
      [1, 2].map(() => encryptFor(bytes(RELAY.encryption_key), INFO, message)),
    );
    for (const ciphertext of [first, second]) {
      expect(opened(secret, INFO, ciphertext ?? message)).toEqual(Buffer.from(message));
      expect(ciphertext?.length).toBe(KEY_BYTES + message.length + 16);
    }
    expect(first).not.toEqual(second);
  });

  test('not with another info', async () => {
    const ciphertext = await encryptFor(bytes(RELAY.encryption_key), INFO, fromHex('00'));
    const other = infoOf('00000000-0000-4000-8000-000000000002', String(LIST.digest));
    expect(() => opened(secret, other, ciphertext)).toThrow();
  });
});

test('a key with which every secret would be zero is refused', async () => {
  await expect(encryptFor(new Uint8Array(KEY_BYTES), INFO, fromHex('00'))).rejects.toThrow();
});
