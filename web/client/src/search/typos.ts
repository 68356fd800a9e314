/** Typing errors: entries whose beginning is one slip away from what was typed (Damerau, 1964). */
import { at } from '../cells.js';
import type { PrefixIndex, Run } from './prefix-index.js';

const FEWEST_LETTERS = 3;

/** Returns the entries that start with `typed`, folded, up to one slip. */
export function runsOneSlipAway(index: PrefixIndex, typed: string): Run[] {
  const letters = [...typed];
  if (letters.length < FEWEST_LETTERS) return [];
  const runs: Run[] = [];
  for (let place = 0; place < letters.length; place++) {
    const before = letters.slice(0, place).join('');
    const run = index.run(before);
    // A slip can be taken to happen where the two texts first differ.
    if (run[0] === run[1]) break;
    runs.push(
      ...corrections(letters, place, nextLetters(index, before, run)).map((x) => index.run(x)),
    );
  }
  return runs;
}

/** Returns what may have been meant if the slip is at this place. */
function corrections(letters: readonly string[], place: number, next: Set<string>): string[] {
  const join = (...parts: readonly string[]) => parts.join('');
  const before = letters.slice(0, place);
  const [wrong = '', ...after] = letters.slice(place);
  const meant = [join(...before, ...after)];
  if (after.length) meant.push(join(...before, at(after, 0), wrong, ...after.slice(1)));
  for (const letter of next) {
    meant.push(join(...before, letter, ...after), join(...before, letter, wrong, ...after));
  }
  return meant;
}

/** Returns the different letters that follow a beginning. */
function nextLetters(index: PrefixIndex, before: string, [first, last]: Run): Set<string> {
  const letters = new Set<string>();
  for (let entry = first; entry < last; ) {
    const code = at(index.entries, entry).codePointAt(before.length);
    if (code === undefined) {
      entry++;
      continue;
    }
    const letter = String.fromCodePoint(code);
    letters.add(letter);
    entry = index.run(before + letter)[1];
  }
  return letters;
}
