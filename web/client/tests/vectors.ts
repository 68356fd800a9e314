/** The files that every implementation must agree on, read as pytest reads them. */
import { readFileSync } from 'node:fs';
import { fromHex, toHex } from '../src/hexadecimal.js';
import type { UniformBytes } from '../src/uniform.js';

/** Reads a file of `test_vectors/`. */
export function readVectors<Vectors>(name: string): Vectors {
  const file = new URL(`../../../test_vectors/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
}

export { fromHex, toHex };

/** Uniform bytes that were drawn before; taking more than there are is an error. */
export class GivenBytes {
  #left: Uint8Array;

  constructor(hex: string) {
    this.#left = fromHex(hex);
  }

  /** How many bytes were not taken. */
  get left(): number {
    return this.#left.length;
  }

  readonly take: UniformBytes = (count) => {
    if (count > this.#left.length) throw new Error('more was drawn than the vector has');
    const taken = this.#left.slice(0, count);
    this.#left = this.#left.slice(count);
    return taken;
  };
}
