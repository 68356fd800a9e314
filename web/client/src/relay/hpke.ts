/**
 * HPKE (RFC 9180) in base mode, to encrypt one message: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256,
 * AES-128-GCM. Everything that is secret is computed by the browser's own cryptography.
 */
import { utf8 } from '../canonical.js';
import { must } from '../refusal.js';

type Bytes = Uint8Array<ArrayBuffer>;

const VERSION = utf8('HPKE-v1');
/** The identifiers of the suite, as section 7 of the RFC numbers them. */
const KEM = joined(utf8('KEM'), [0, 32]);
const SUITE = joined(utf8('HPKE'), [0, 32, 0, 1, 0, 1]);
const BASE_MODE = [0];
const NOTHING = new Uint8Array();
const X25519 = 'X25519';

/** Key and nonce that encrypt one message, and what lets the recipient compute them. */
export interface MessageKey {
  /** The public half of the key that was made for this message. */
  readonly encapsulated: Bytes;
  readonly key: Bytes;
  readonly nonce: Bytes;
}

/** Encrypts a message that only the owner of a key can read; `info` must be known to decrypt it. */
export async function encryptFor(recipient: Bytes, info: Bytes, message: Bytes): Promise<Bytes> {
  const { encapsulated, key, nonce } = await messageKey(recipient, info, await ephemeralPair());
  const imported = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt']);
  const ciphertext = await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, imported, message);
  return joined(encapsulated, new Uint8Array(ciphertext));
}

/** Agrees on a secret with a recipient (section 4.1) and derives key and nonce (section 5.1). */
export async function messageKey(
  recipient: Bytes,
  info: Bytes,
  { publicKey, privateKey }: CryptoKeyPair,
): Promise<MessageKey> {
  const { subtle } = crypto;
  const encapsulated = new Uint8Array(await subtle.exportKey('raw', publicKey));
  const agreed = {
    name: X25519,
    public: await subtle.importKey('raw', recipient, X25519, true, []),
  };
  const shared = new Uint8Array(await subtle.deriveBits(agreed, privateKey, 256));
  const extracted = await extract(KEM, NOTHING, 'eae_prk', shared);
  const context = joined(encapsulated, recipient);
  const secret = await extract(
    SUITE,
    await expand(KEM, extracted, 'shared_secret', context, 32),
    'secret',
    NOTHING,
  );
  const scheduled = joined(
    BASE_MODE,
    await extract(SUITE, NOTHING, 'psk_id_hash', NOTHING),
    await extract(SUITE, NOTHING, 'info_hash', info),
  );
  return {
    encapsulated,
    key: await expand(SUITE, secret, 'key', scheduled, 16),
    nonce: await expand(SUITE, secret, 'base_nonce', scheduled, 12),
  };
}

/** Returns arrays of bytes as one. */
export function joined(...parts: readonly (Uint8Array | readonly number[])[]): Bytes {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** Makes the key of one message, from the system's generator. */
async function ephemeralPair(): Promise<CryptoKeyPair> {
  const made = await Promise.resolve()
    .then(() => crypto.subtle.generateKey({ name: X25519 }, false, ['deriveBits']))
    .catch(() => undefined);
  must(
    made !== undefined && 'privateKey' in made,
    'this browser cannot encrypt with X25519, so nothing is reported through a relay; a newer one can',
  );
  return made;
}

/** LabeledExtract of section 4. */
function extract(suite: Bytes, salt: Bytes, label: string, secret: Bytes): Promise<Bytes> {
  // HMAC fills a key with zeros: 32 of them are the same key as none.
  const key = salt.length ? salt : new Uint8Array(32);
  return hmac(key, joined(VERSION, suite, utf8(label), secret));
}

/** LabeledExpand of section 4, for at most 32 bytes: one round of HKDF. */
async function expand(
  suite: Bytes,
  key: Bytes,
  label: string,
  info: Bytes,
  length: number,
): Promise<Bytes> {
  const labelled = joined([0, length], VERSION, suite, utf8(label), info, [1]);
  return (await hmac(key, labelled)).slice(0, length);
}

async function hmac(key: Bytes, message: Bytes): Promise<Bytes> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, message));
}
