/** Issuer of tokens for tests: a key of its own, and the raw private operation. */
import { fromBase64url, toBase64url } from '../src/base64url.js';
import { toInteger } from '../src/token/blind-rsa.js';
import { type IssuerKey, readIssuerKey } from '../src/token/token.js';
import { fromHex } from './vectors.js';

type Bytes = Uint8Array<ArrayBuffer>;

export interface Secret {
  readonly modulus: bigint;
  readonly exponent: bigint;
}

export interface TestIssuer {
  /** The public key as lists have it. */
  readonly encoded: Bytes;
  readonly key: IssuerKey;
  readonly secret: Secret;
}

/** The encoding of RFC 9578, section 6.5, before the modulus. */
const BEFORE = fromHex(
  '30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d0101' +
    '08300b0609608648016503040202a2030201300382010f003082010a0282010100',
);
const AFTER = fromHex('0203010001');

/** Makes an issuer with a key of its own. */
export async function issuer(): Promise<TestIssuer> {
  const { privateKey } = await crypto.subtle.generateKey(
    {
      name: 'RSA-PSS',
      hash: 'SHA-384',
      modulusLength: 2048,
      publicExponent: new Uint8Array([1, 0, 1]),
    },
    true,
    ['sign', 'verify'],
  );
  const { n, d } = await crypto.subtle.exportKey('jwk', privateKey);
  const modulus = fromBase64url(n, 256) ?? new Uint8Array();
  const encoded = Uint8Array.from([...BEFORE, ...modulus, ...AFTER]);
  const exponent = toInteger(Buffer.from(d ?? '', 'base64url'));
  const secret = { modulus: toInteger(modulus), exponent };
  return { encoded, key: await readIssuerKey(toBase64url(encoded)), secret };
}

/** Signs the blinded message of a request. */
export function signed({ modulus, exponent }: Secret, request: Uint8Array): Bytes {
  return toBytes(power(toInteger(request.slice(3)), exponent, modulus), 256);
}

/** Returns a power modulo n. */
export function power(base: bigint, exponent: bigint, n: bigint): bigint {
  let [result, square, rest] = [1n, base % n, exponent];
  for (; rest; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % n;
    square = (square * square) % n;
  }
  return result;
}

/** Returns the bytes of an integer, the highest first. */
export function toBytes(number: bigint, length: number): Bytes {
  return fromHex(number.toString(16).padStart(2 * length, '0'));
}
