/** Relay of a campaign: where its relay clients send their reports, as everybody was told. */
import { fromBase64url } from '../base64url.js';
import { type Fields, isObject, type Json } from '../canonical.js';
import { decimal, exact, isBelow } from '../fraction.js';
import { must } from '../refusal.js';
import type { RelayedResponse } from './relayed-response.js';

const FIELDS = 'address,encryption_key,public_key';
const KEY_BYTES = 32;
const MOST_LETTERS = 300;
const ADDRESS =
  /^https?:\/\/(?:[a-z\d][a-z\d.-]*|\[[\da-f:.]+\])(?::\d{1,5})?\/(?:[A-Za-z\d._~-]+\/)*$/;
const SAFE = /^https:|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])[:/]/;

/** The relay that a signed list names. */
export interface ListedRelay {
  /** Where reports are sent; it ends with a slash. */
  readonly address: string;
  /** The key with which the relay signs. */
  readonly publicKey: string;
  /** The collector's key for the reports of this campaign: 32 bytes. */
  readonly encryptionKey: Uint8Array<ArrayBuffer>;
  /** All of it, as it was published. */
  readonly document: Fields;
}

/** The relay that a campaign's description names, and the limits of what it asks for. */
export interface DescribedRelay {
  readonly address: string;
  readonly publicKey: string;
  /** The relay passes on no smaller batch. */
  readonly leastBatch: number;
  /** The largest ε0: what is left if relay and collector work together. A decimal text. */
  readonly epsilonCap: string;
  /** The share of a batch that may be dishonest. A decimal text. */
  readonly dishonest: string;
}

/** Reads the relay of a signed list. */
export function readListedRelay(value: Json | undefined): ListedRelay {
  must(
    isObject(value) && Object.keys(value).sort().join() === FIELDS,
    'relay must have its fields',
  );
  const { address, publicKey } = readPlace(value);
  const encryptionKey = fromBase64url(value.encryption_key, KEY_BYTES);
  must(encryptionKey !== undefined, 'encryption_key must be 32 bytes in base64url');
  return { address, publicKey, encryptionKey, document: value };
}

/** Reads the relay of a description. */
export function readDescribedRelay(value: Json): DescribedRelay {
  must(isObject(value), 'relay must be an object with fields');
  const leastBatch = value.least_batch;
  must(typeof leastBatch === 'number', 'least_batch must be a number');
  return {
    ...readPlace(value),
    leastBatch,
    epsilonCap: decimal(value, 'epsilon_cap', (x) => x > 0 && Number.isFinite(x)),
    dishonest: decimal(value, 'dishonest', (x) => x >= 0 && x < 1),
  };
}

/** Refuses a list whose relay is not that of the description, or that asks for more. */
export function requireDescribedRelay(
  relay: ListedRelay | undefined,
  mechanism: RelayedResponse | undefined,
  described: DescribedRelay | undefined,
): void {
  must(
    relay?.address === described?.address && relay?.publicKey === described?.publicKey,
    'the list and the campaign’s description must name the same relay, or none',
  );
  if (!mechanism || !described) return;
  must(
    mechanism.leastBatch === described.leastBatch && mechanism.dishonest === described.dishonest,
    'least_batch and dishonest must be what the campaign promises',
  );
  must(
    !isBelow(exact(described.epsilonCap), exact(mechanism.reportEpsilon)),
    'report_epsilon must be at most what the campaign promises',
  );
}

/** Refuses an address on the way to which others could see what is sent, and by whom. */
export function requireSafeAddress(whose: 'relay' | 'issuer', address: string): void {
  must(SAFE.test(address), `the ${whose}’s address must be https, or http on this machine`);
}

/** Reads an address to which devices send something. */
export function readAddress(address: Json | undefined): string {
  must(
    typeof address === 'string' && address.length <= MOST_LETTERS && ADDRESS.test(address),
    'address must be a web address that ends with a slash, without query or credentials',
  );
  return address;
}

function readPlace({ address, public_key: publicKey }: Fields) {
  must(
    typeof publicKey === 'string' && fromBase64url(publicKey, KEY_BYTES) !== undefined,
    'public_key must be 32 bytes in base64url',
  );
  return { address: readAddress(address), publicKey };
}
