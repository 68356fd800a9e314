/** The files that every implementation must agree on, read as pytest reads them. */
import { readFileSync } from 'node:fs';
import type { UniformBytes } from '../src/uniform.js';

/** Reads a file of `test_vectors/`. */
export function readVectors<Vectors>(name: string): Vectors {
  const file = new URL(`../../../test_vectors/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Returns the bytes that a hexadecimal text names. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** Returns the hexadecimal text of bytes. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

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
