/** Tokens against the vectors of RFC 9474 and RFC 9578, and against issuers that cheat. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromBase64url, toBase64url } from '../src/base64url.js';
import { blind, finalize, isSignature, type SignerKey, toInteger } from '../src/token/blind-rsa.js';
import {
  challengeOf,
  finishToken,
  readIssuerKey,
  reportIdOf,
  requestToken,
} from '../src/token/token.js';
import { secureBytes } from '../src/uniform.js';
import { issuer, power, signed, toBytes } from './issuer.js';
import { fromHex, GivenBytes, readVectors, toHex } from './vectors.js';

type Case = Readonly<Record<string, string>>;

/** Appendix A of RFC 9474. */
const BLIND_RSA = readVectors<readonly Case[]>('rfc9474_blind_rsa');
/** Publicly verifiable tokens of RFC 9578. */
const TYPE_2 = readVectors<readonly Case[]>('rfc9578_type2');

function field(one: Case, name: string): string {
  return (one[name] ?? '').replace(/^0x/, '');
}

function keyOf(one: Case): SignerKey {
  const [modulus, exponent] = ['n', 'e'].map((name) => BigInt(`0x${field(one, name)}`));
  return { modulus: modulus ?? 0n, exponent: exponent ?? 0n, saltBytes: Number(one.sLen) };
}

describe.each(BLIND_RSA)('$name', (one) => {
  const key = keyOf(one);
  const message = fromHex(field(one, 'input_msg'));
  const inverse = fromHex(field(one, 'inv'));

  test('the message is blinded as the RFC says', async () => {
    // The vector has the inverse of the factor: the factor is the inverse of that.
    const factor = toHex(toBytes(inverseOf(toInteger(inverse), key.modulus), inverse.length));
    const given = new GivenBytes(field(one, 'salt') + factor);
    const made = await blind(key, message, given.take);
    expect(given.left).toBe(0);
    expect(toHex(made.blinded)).toBe(one.blinded_msg);
    expect(toHex(made.inverse)).toBe(field(one, 'inv'));
  });

  test('the signature is that of the RFC', async () => {
    const signature = await finalize(key, message, inverse, fromHex(field(one, 'blind_sig')));
    expect(toHex(signature)).toBe(one.sig);
    expect(await isSignature(key, message, signature)).toBe(true);
  });

  test('an answer above the modulus is one of another key', async () => {
    const above = toBytes(key.modulus + 1n, fromHex(field(one, 'blind_sig')).length);
    await expect(finalize(key, message, inverse, above)).rejects.toThrow('must sign with the key');
  });
});

describe.each(TYPE_2.map((one, i) => ({ i, one })))('token $i of RFC 9578', ({ one }) => {
  const challenge = fromHex(field(one, 'token_challenge'));
  const key = readIssuerKey(toBase64url(fromHex(field(one, 'pkS'))));

  test('request and token are those of the RFC', async () => {
    const given = new GivenBytes(field(one, 'nonce') + field(one, 'salt') + field(one, 'blind'));
    const request = await requestToken(await key, challenge, given.take);
    expect(toHex(request.request)).toBe(one.token_request);
    const token = await finishToken(
      await key,
      challenge,
      request,
      fromHex(field(one, 'token_response')),
    );
    expect(toHex(token)).toBe(one.token);
  });

  test('an answer with one wrong bit, or a wrong length, is refused', async () => {
    const made = { nonce: fromHex(field(one, 'nonce')), inverse: inverseOfBlind(one) };
    const answer = fromHex(field(one, 'token_response'));
    for (const wrong of [flipped(answer, 5), answer.slice(1), new Uint8Array(256).fill(255)]) {
      await expect(finishToken(await key, challenge, made, wrong)).rejects.toThrow('issuer');
    }
  });

  test('a key of another kind is refused', async () => {
    const encoded = fromHex(field(one, 'pkS'));
    const [before, modulusStart] = [20, 81];
    for (const wrong of [
      flipped(encoded, before),
      flipped(encoded, encoded.length - 1),
      encoded.slice(0, -1),
      new Uint8Array(),
      encoded.map((byte, i) => (i === modulusStart ? 0x7f : byte)),
    ]) {
      await expect(readIssuerKey(toBase64url(wrong))).rejects.toThrow(
        'RSASSA-PSS key of 2048 bits',
      );
    }
  });
});

interface Vectors {
  readonly token_key: string;
  readonly tokens: readonly Case[];
  readonly refused_keys: readonly Case[];
}

/** Tokens of campaigns, as Python makes them. */
const CAMPAIGNS = readVectors<Vectors>('report_tokens');

test.each(CAMPAIGNS.tokens)(
  'the token of campaign $campaign is what Python makes it',
  async (one) => {
    const bytes = (name: string, length: number) =>
      fromBase64url(one[name], length) ?? fromHex(field(one, name));
    const key = await readIssuerKey(CAMPAIGNS.token_key);
    const challenge = await challengeOf(one.campaign ?? '');
    const drawn = [bytes('nonce', 32), bytes('salt', 48), bytes('factor', 256)].map(toHex);
    const request = await requestToken(key, challenge, new GivenBytes(drawn.join('')).take);
    expect(toHex(request.request)).toBe(toHex(bytes('request', 259)));
    const token = await finishToken(key, challenge, request, bytes('response', 256));
    expect(toHex(token)).toBe(toHex(bytes('token', 354)));
    expect(toHex(await reportIdOf(token))).toBe(toHex(bytes('report_id', 16)));
  },
);

test.each(CAMPAIGNS.refused_keys)('a key that Python refuses is refused: $why', async (one) => {
  await expect(readIssuerKey(one.token_key ?? '')).rejects.toThrow('RSASSA-PSS key of 2048 bits');
});

const CHALLENGE = new Uint8Array([0, 2, 0, 1, 65, 0, 0, 0]);

test('whatever is drawn, the issuer’s answer finishes to a token that its key signed', async () => {
  const { key, secret } = await issuer();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (challenge) => {
      const asked = Uint8Array.from(challenge);
      const request = await requestToken(key, asked, secureBytes);
      const token = await finishToken(key, asked, request, signed(secret, request.request));
      expect(token.length).toBe(354);
      expect(await isSignature(key, token.slice(0, 98), token.slice(98))).toBe(true);
      expect(await isSignature(key, flipped(token.slice(0, 98), 40), token.slice(98))).toBe(false);
    }),
    { numRuns: 20 },
  );
});

test('an issuer that signs with another key of its own is refused', async () => {
  const [named, other] = [await issuer(), await issuer()];
  const request = await requestToken(named.key, CHALLENGE, secureBytes);
  for (const answer of [
    signed(other.secret, request.request),
    signed(
      named.secret,
      request.request.map((byte, i) => (i === 9 ? byte ^ 1 : byte)),
    ),
  ]) {
    await expect(finishToken(named.key, CHALLENGE, request, answer)).rejects.toThrow('issuer');
  }
});

test('any token could belong to any request: for every pair there is one blinding factor', async () => {
  const { key, secret } = await issuer();
  const requests = [];
  const tokens: Uint8Array<ArrayBuffer>[] = [];
  for (let i = 0; i < 3; i++) {
    const request = await requestToken(key, CHALLENGE, secureBytes);
    requests.push(request);
    tokens.push(await finishToken(key, CHALLENGE, request, signed(secret, request.request)));
  }
  const { modulus: n, exponent } = key;
  for (const { request } of requests) {
    const [blinded, answer] = [request.slice(3), signed(secret, request)].map(toInteger);
    for (const token of tokens) {
      const signature = toInteger(token.slice(98));
      const factor = ((answer ?? 0n) * inverseOf(signature, n)) % n;
      const encoded = power(signature, exponent, n);
      expect((encoded * power(factor, exponent, n)) % n).toBe(blinded);
    }
  }
});

function flipped(bytes: Uint8Array<ArrayBuffer>, place: number): Uint8Array<ArrayBuffer> {
  return bytes.map((byte, i) => (i === place ? byte ^ 1 : byte));
}

function inverseOfBlind(one: Case): Uint8Array<ArrayBuffer> {
  const modulus = toInteger(fromHex(field(one, 'pkS')).slice(81, -5));
  return toBytes(inverseOf(toInteger(fromHex(field(one, 'blind'))), modulus), 256);
}

/** Returns the inverse modulo n, by Euclid’s algorithm, written a second time. */
function inverseOf(number: bigint, n: bigint): bigint {
  const step = (a: bigint, b: bigint): readonly [bigint, bigint] => {
    if (!b) return [1n, 0n];
    const [x, y] = step(b, a % b);
    return [y, x - (a / b) * y];
  };
  return ((step(number, n)[0] % n) + n) % n;
}
