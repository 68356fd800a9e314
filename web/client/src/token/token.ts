/** Tokens of Privacy Pass, type 2 (RFC 9578, section 6): signed blindly, verified by anybody. */
import { fromBase64url } from '../base64url.js';
import { type Json, sha256, utf8 } from '../canonical.js';
import { campaignBytes, fromHex } from '../hexadecimal.js';
import { must } from '../refusal.js';
import { joined } from '../relay/hpke.js';
import type { UniformBytes } from '../uniform.js';
import { blind, finalize, type SignerKey, toInteger } from './blind-rsa.js';

type Bytes = Uint8Array<ArrayBuffer>;

const TYPE = [0, 2];
export const NONCE_BYTES = 32;
/** The length of a signature: keys have 2048 bits. */
export const SIGNATURE_BYTES = 256;
const SALT_BYTES = 48;
/**
 * A key is an RSASSA-PSS key of 2048 bits with SHA-384 (section 6.5), whose public exponent is
 * 65537: its encoding differs from others in the modulus only.
 */
const BEFORE_MODULUS = fromHex(
  '30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d' +
    '010108300b0609608648016503040202a2030201300382010f003082010a0282010100',
);
const AFTER_MODULUS = fromHex('0203010001');
const KEY_BYTES = BEFORE_MODULUS.length + SIGNATURE_BYTES + AFTER_MODULUS.length;
const TOKEN_BYTES = TYPE.length + NONCE_BYTES + 32 + 32 + SIGNATURE_BYTES;
const REPORT_ID_BYTES = 16;
const ISSUER_NAME = utf8('blender-dp');
const CONTEXT_DOMAIN = utf8('blender-dp report token 1\0');

/** The key of an issuer, and its id. */
export interface IssuerKey extends SignerKey {
  /** The key as lists have it. */
  readonly text: string;
  readonly id: Uint8Array;
}

/** What a person asks an issuer to sign, and what only the person keeps. */
export interface TokenRequest {
  /** What the issuer gets: it says nothing about the token. */
  readonly request: Bytes;
  readonly nonce: Bytes;
  readonly inverse: Bytes;
}

/** Reads the public key of an issuer; refuses every other kind of key. */
export async function readIssuerKey(text: Json | undefined): Promise<IssuerKey> {
  const encoded = fromBase64url(text, KEY_BYTES) ?? new Uint8Array();
  const modulus = encoded.slice(BEFORE_MODULUS.length, -AFTER_MODULUS.length);
  const expected = joined(BEFORE_MODULUS, modulus, AFTER_MODULUS);
  must(
    encoded.length > 0 &&
      encoded.every((byte, i) => byte === expected[i]) &&
      (modulus[0] ?? 0) >= 0x80 &&
      (modulus.at(-1) ?? 0) % 2 === 1,
    'the issuer’s key must be an RSASSA-PSS key of 2048 bits',
  );
  return {
    text: `${text}`,
    modulus: toInteger(modulus),
    exponent: 65537n,
    saltBytes: SALT_BYTES,
    id: await sha256(encoded),
  };
}

/** Returns the challenge that every token of a campaign answers (RFC 9577, section 2.1). */
export async function challengeOf(campaign: string): Promise<Bytes> {
  const context = await sha256(joined(CONTEXT_DOMAIN, campaignBytes(campaign)));
  const name = [0, ISSUER_NAME.length, ...ISSUER_NAME];
  return joined(TYPE, name, [context.length], context, [0, 0]);
}

/** Makes the request for one token (section 6.1); keep it all before it is sent. */
export async function requestToken(
  key: IssuerKey,
  challenge: Bytes,
  uniform: UniformBytes,
): Promise<TokenRequest> {
  const nonce = joined(uniform(NONCE_BYTES));
  const message = await tokenInput(key, challenge, nonce);
  const { blinded, inverse } = await blind(key, message, uniform);
  return { request: joined(TYPE, key.id.slice(-1), blinded), nonce, inverse };
}

/** Returns the token of an issuer's answer (section 6.3); refuses one that the key did not sign. */
export async function finishToken(
  key: IssuerKey,
  challenge: Bytes,
  { nonce, inverse }: Pick<TokenRequest, 'nonce' | 'inverse'>,
  response: Bytes,
): Promise<Bytes> {
  const message = await tokenInput(key, challenge, nonce);
  return joined(message, await finalize(key, message, inverse, response));
}

/** Reads a token that was kept. */
export function readToken(text: string): Bytes {
  const token = fromBase64url(text, TOKEN_BYTES);
  must(token !== undefined, 'a token must be 354 bytes in base64url');
  return token;
}

/** Returns the id of the report that a token is spent on: the signature decides, nobody else. */
export async function reportIdOf(token: Bytes): Promise<Uint8Array> {
  return (await sha256(token.slice(-SIGNATURE_BYTES))).slice(0, REPORT_ID_BYTES);
}

/** Everything of a token but its signature. */
async function tokenInput(key: IssuerKey, challenge: Bytes, nonce: Bytes): Promise<Bytes> {
  return joined(TYPE, nonce, await sha256(challenge), key.id);
}
