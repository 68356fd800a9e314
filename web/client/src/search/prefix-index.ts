/** Index of queries by the beginnings of their words. */
import { at } from '../cells.js';
import { fold, wordStarts } from './folding.js';

/** Neighbouring entries: from, and up to but without. */
export type Run = readonly [number, number];

/** An index over texts that come in order of popularity; they are named by their position. */
export class PrefixIndex {
  /** Every text once for each of its words, as the rest of it from there on; sorted. */
  readonly entries: readonly string[];
  readonly #positions: readonly number[];

  constructor(texts: readonly string[]) {
    const entries = texts.flatMap((text, position) =>
      // The space at the end lets "new " find "new york" and "new", but not "news".
      wordStarts(fold(text)).map((rest) => [`${rest} `, position] as const),
    );
    entries.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
    this.entries = entries.map(([rest]) => rest);
    this.#positions = entries.map(([, position]) => position);
  }

  /** Returns the entries that start with these folded characters. */
  run(beginning: string): Run {
    const first = this.#firstWhere((entry) => entry >= beginning);
    return [first, this.#firstWhere((entry) => entry > beginning && !entry.startsWith(beginning))];
  }

  /** Returns the positions of the most popular texts in any of these runs, in order. */
  best(runs: readonly Run[], most: number): number[] {
    const found = new Set(runs.flatMap(([first, last]) => this.#positions.slice(first, last)));
    return [...found].sort((a, b) => a - b).slice(0, most);
  }

  #firstWhere(isBeyond: (entry: string) => boolean): number {
    let [low, high] = [0, this.entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBeyond(at(this.entries, middle))) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
