/** Uniform random numbers, drawn from secure bytes: integers only. */

/** Returns this many uniform bytes. */
export type UniformBytes = (count: number) => Uint8Array;

/** The system's generator: the only source for anything that is sent. */
export const secureBytes: UniformBytes = (count) => crypto.getRandomValues(new Uint8Array(count));

/** One past the largest word. */
export const WORD = 1n << 64n;

/** Returns the first eight bytes as one integer, the highest first. */
export function firstWord(bytes: Uint8Array): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0);
}

/** Draws a uniform integer of 64 bits. */
export function drawWord(uniform: UniformBytes): bigint {
  return firstWord(uniform(8));
}

/**
 * Draws a uniform integer from 0 to `bound` - 1, by rejection: as many whole bytes as the bits
 * of `bound` - 1 need, without the lowest superfluous bits. `bound` is at most 2^31.
 */
export function drawBelow(bound: number, uniform: UniformBytes): number {
  const width = 32 - Math.clz32(bound - 1);
  const count = Math.ceil(width / 8);
  for (;;) {
    const drawn = uniform(count).reduce((number, byte) => number * 256 + byte, 0);
    const number = Math.floor(drawn / 2 ** (8 * count - width));
    if (number < bound) return number;
  }
}
