/** Decryption of relayed reports, for tests: HPKE (RFC 9180) once more, by Node's own cryptography. */
import {
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
} from 'node:crypto';

const KEM = Buffer.concat([Buffer.from('KEM'), Buffer.from('0020', 'hex')]);
const SUITE = Buffer.concat([Buffer.from('HPKE'), Buffer.from('002000010001', 'hex')]);
const TAG_BYTES = 16;

/** Returns the message that was encrypted for a key; throws if anything was changed. */
export function opened(secret: Uint8Array, info: Uint8Array, ciphertext: Uint8Array): Uint8Array {
  const privateKey = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b656e04220420', 'hex'), secret]),
    format: 'der',
    type: 'pkcs8',
  });
  const encapsulated = Buffer.from(ciphertext.slice(0, 32));
  const spki = Buffer.from('302a300506032b656e032100', 'hex');
  const publicKey = createPublicKey({
    key: Buffer.concat([spki, encapsulated]),
    format: 'der',
    type: 'spki',
  });
  const own = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32);
  const agreed = extract(KEM, '', 'eae_prk', diffieHellman({ privateKey, publicKey }));
  const shared = expand(KEM, agreed, 'shared_secret', Buffer.concat([encapsulated, own]), 32);
  const context = Buffer.concat([
    Buffer.of(0),
    extract(SUITE, '', 'psk_id_hash', ''),
    extract(SUITE, '', 'info_hash', info),
  ]);
  const key = extract(SUITE, shared, 'secret', '');
  const cipher = createDecipheriv(
    'aes-128-gcm',
    expand(SUITE, key, 'key', context, 16),
    expand(SUITE, key, 'base_nonce', context, 12),
  );
  cipher.setAuthTag(ciphertext.slice(-TAG_BYTES));
  return Buffer.concat([cipher.update(ciphertext.slice(32, -TAG_BYTES)), cipher.final()]);
}

function extract(suite: Buffer, salt: Buffer | string, label: string, secret: Uint8Array | string) {
  const keyed = createHmac('sha256', salt).update('HPKE-v1').update(suite).update(label);
  return keyed.update(secret).digest();
}

function expand(suite: Buffer, key: Buffer, label: string, info: Buffer, length: number) {
  const keyed = createHmac('sha256', key).update(Buffer.of(0, length)).update('HPKE-v1');
  return keyed
    .update(suite)
    .update(label)
    .update(info)
    .update(Buffer.of(1))
    .digest()
    .subarray(0, length);
}
