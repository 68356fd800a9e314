/** Who is asked for the query only: a coin that everybody can check and no data decides. */
import { sha256, utf8 } from './canonical.js';
import { exact } from './fraction.js';
import { firstWord, WORD } from './uniform.js';

const DOMAIN = utf8('blender-dp public coin 1\0');

/** Tells whether the client with this id is asked for its query only. */
export async function askedForQuery(id: Uint8Array, queryShare: string): Promise<boolean> {
  const [numerator, denominator] = exact(queryShare);
  const hash = await sha256(Uint8Array.from([...DOMAIN, ...id]));
  return firstWord(hash) < (numerator * WORD) / denominator;
}
