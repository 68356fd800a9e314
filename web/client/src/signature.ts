/** Ed25519 signatures of a service. */
import { fromBase64url } from './base64url.js';
import { type Json, utf8 } from './canonical.js';
import { must } from './refusal.js';

/** Refuses a text that the owner of a key did not sign. */
export async function requireSignature(
  message: string,
  publicKey: string,
  signature: Json | undefined,
): Promise<void> {
  const key = fromBase64url(publicKey, 32);
  const bytes = fromBase64url(signature, 64);
  must(key !== undefined && bytes !== undefined, 'public_key and signature must be base64url');
  const imported = await importKey(key);
  const isGood = await crypto.subtle.verify('Ed25519', imported, bytes, utf8(message));
  must(isGood, 'signature must be that of the public key');
}

async function importKey(key: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const imported = await Promise.resolve()
    .then(() => crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']))
    .catch(() => undefined);
  must(
    imported !== undefined,
    'this browser cannot check Ed25519 signatures, so nothing is reported; a newer one, on a secure page, can',
  );
  return imported;
}
