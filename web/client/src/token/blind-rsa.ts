/**
 * Blind RSA signatures (RFC 9474), RSABSSA-SHA384-PSS with deterministic preparation: the side of
 * the person, who has a message signed that the signer never sees.
 */
import { toBase64url } from '../base64url.js';
import { fromHex, toHex } from '../hexadecimal.js';
import { must } from '../refusal.js';
import { joined } from '../relay/hpke.js';
import type { UniformBytes } from '../uniform.js';

type Bytes = Uint8Array<ArrayBuffer>;

const HASH = 'SHA-384';
const HASH_BYTES = 48;

/** The public key of a signer; its modulus fills whole bytes. */
export interface SignerKey {
  readonly modulus: bigint;
  readonly exponent: bigint;
  /** The random bytes in every signature. */
  readonly saltBytes: number;
}

/** A message as the signer sees it, and the secret that only the person has. */
export interface Blinded {
  readonly blinded: Bytes;
  /** Removes the blinding from the signature. */
  readonly inverse: Bytes;
}

/** Blinds a message (section 4.2): whatever the message is, the result is uniform. */
export async function blind(
  key: SignerKey,
  message: Bytes,
  uniform: UniformBytes,
): Promise<Blinded> {
  const { modulus: n, exponent, saltBytes } = key;
  const encoded = toInteger(await encodePss(message, uniform(saltBytes), bytesOf(n)));
  must(inverseOf(encoded, n) !== undefined, 'the issuer’s key must be an RSA key');
  const { factor, inverse } = drawFactor(n, uniform);
  const blinded = (encoded * power(factor, exponent, n)) % n;
  return { blinded: toBytes(blinded, bytesOf(n)), inverse: toBytes(inverse, bytesOf(n)) };
}

/** Removes the blinding (section 4.4); refuses what is not a signature of the key. */
export async function finalize(
  key: SignerKey,
  message: Bytes,
  inverse: Bytes,
  blindSignature: Bytes,
): Promise<Bytes> {
  const { modulus: n } = key;
  must(blindSignature.length === bytesOf(n), 'the issuer’s answer must be as long as its key');
  const signature = toBytes((toInteger(blindSignature) * toInteger(inverse)) % n, bytesOf(n));
  // A larger number is an answer of another key, one time in four or so.
  must(
    toInteger(blindSignature) < n && (await isSignature(key, message, signature)),
    'the issuer must sign with the key that the list names',
  );
  return signature;
}

/** Tells whether a signature is that of a key, by the browser's own cryptography. */
export async function isSignature(
  { modulus, exponent, saltBytes }: SignerKey,
  message: Bytes,
  signature: Bytes,
): Promise<boolean> {
  const jwk = { kty: 'RSA', n: encoded(modulus), e: encoded(exponent), ext: true };
  const algorithm = { name: 'RSA-PSS', hash: HASH };
  const key = await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['verify']);
  const scheme = { name: 'RSA-PSS', saltLength: saltBytes };
  return crypto.subtle.verify(scheme, key, signature, message);
}

/** Returns the integer of bytes, the highest first. */
export function toInteger(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes)}`);
}

/** EMSA-PSS-ENCODE of RFC 8017, section 9.1.1, for a modulus of this many whole bytes. */
async function encodePss(message: Bytes, salt: Uint8Array, length: number): Promise<Bytes> {
  const digest = await hash(joined(new Uint8Array(8), await hash(message), salt));
  const block = new Uint8Array(length - HASH_BYTES - 1);
  block[block.length - salt.length - 1] = 1;
  block.set(salt, block.length - salt.length);
  const mask = await generateMask(digest, block.length);
  const masked = block.map((byte, i) => byte ^ (mask[i] ?? 0));
  masked[0] = (masked[0] ?? 0) & 0x7f;
  return joined(masked, digest, [0xbc]);
}

/** MGF1 of RFC 8017, appendix B.2.1. */
async function generateMask(seed: Bytes, length: number): Promise<Bytes> {
  const rounds = Array.from({ length: Math.ceil(length / HASH_BYTES) }, (_, i) =>
    hash(joined(seed, [0, 0, 0, i])),
  );
  return joined(...(await Promise.all(rounds))).slice(0, length);
}

/** Draws a uniform number that has an inverse, by rejection. */
function drawFactor(n: bigint, uniform: UniformBytes) {
  for (;;) {
    const factor = toInteger(uniform(bytesOf(n)));
    const inverse = factor < n ? inverseOf(factor, n) : undefined;
    if (inverse !== undefined) return { factor, inverse };
  }
}

/** Returns the inverse modulo n, by Euclid's algorithm; undefined if there is none. */
function inverseOf(number: bigint, n: bigint): bigint | undefined {
  let [a, b, x, y] = [number, n, 1n, 0n];
  while (b) {
    const quotient = a / b;
    [a, b, x, y] = [b, a - quotient * b, y, x - quotient * y];
  }
  return a === 1n ? ((x % n) + n) % n : undefined;
}

function power(base: bigint, exponent: bigint, n: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result * (bit === '1' ? base : 1n)) % n;
  }
  return result;
}

function toBytes(number: bigint, length: number): Bytes {
  return fromHex(number.toString(16).padStart(2 * length, '0'));
}

function bytesOf(number: bigint): number {
  return Math.ceil(number.toString(16).length / 2);
}

function encoded(number: bigint): string {
  return toBase64url(toBytes(number, bytesOf(number)));
}

async function hash(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest(HASH, bytes));
}
