/** Tests of randomness whose false-alarm probability is stated, and exact (`tests/exact_tests.py`). */
import { expect } from 'vitest';

/** Per assertion; several events share it (Bonferroni). */
export const FALSE_ALARM = 1e-9;

/** How probable every event is. */
export type Law = ReadonlyMap<string, number>;

const logFactorials: number[] = [0];

/** Counts how often each event happens in so many draws; a draw may be several events. */
export function countEvents(draws: number, draw: () => readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i < draws; i++) {
    for (const event of draw()) counts.set(event, (counts.get(event) ?? 0) + 1);
  }
  return counts;
}

/** Fails if counts of so many draws are too unlikely to come from a law. */
export function expectLaw(counts: ReadonlyMap<string, number>, draws: number, law: Law): void {
  expect([...counts.keys()].filter((event) => !law.get(event))).toEqual([]);
  expect(worstPValue(counts, draws, law)).toBeGreaterThan(FALSE_ALARM / law.size);
}

/** Returns the least p-value of all events. */
export function worstPValue(counts: ReadonlyMap<string, number>, draws: number, law: Law): number {
  return Math.min(
    ...Array.from(law, ([event, p]) => binomialPValue(counts.get(event) ?? 0, draws, p)),
  );
}

/** Returns twice the smaller exact tail: at most α with probability at most α. */
export function binomialPValue(count: number, n: number, p: number): number {
  const upper = tail(count, n, p, 1);
  const lower = tail(count, n, p, -1);
  return Math.min(1, 2 * Math.min(lower, upper));
}

/** Bounds how often the test of one event overlooks that its probability is `off`. */
export function missProbability(n: number, p: number, off: number, falseAlarm: number): number {
  const step = off > p ? 1 : -1;
  const isAlarm = (distance: number) =>
    binomialPValue(Math.round(n * p) + step * distance, n, p) < falseAlarm;
  let [quiet, alarming] = [0, Math.round(n * Math.abs(off - p))];
  if (!isAlarm(alarming)) return 1;
  while (alarming - quiet > 1) {
    const middle = (quiet + alarming) >> 1;
    if (isAlarm(middle)) alarming = middle;
    else quiet = middle;
  }
  return tail(Math.round(n * p) + step * quiet, n, off, step > 0 ? -1 : 1);
}

/** Adds up the law of a binomial count from `count` on, upwards or downwards. */
function tail(count: number, n: number, p: number, step: 1 | -1): number {
  const odds = p / (1 - p);
  let term = Math.exp(
    logFactorial(n) -
      logFactorial(count) -
      logFactorial(n - count) +
      count * Math.log(p) +
      (n - count) * Math.log1p(-p),
  );
  let sum = 0;
  for (let k = count; k >= 0 && k <= n; k += step) {
    sum += term;
    if (term < sum * 1e-18) break;
    term *= step > 0 ? ((n - k) / (k + 1)) * odds : k / (n - k + 1) / odds;
  }
  return sum;
}

function logFactorial(n: number): number {
  for (let k = logFactorials.length; k <= n; k++) {
    logFactorials.push((logFactorials[k - 1] ?? 0) + Math.log(k));
  }
  return logFactorials[n] ?? 0;
}
