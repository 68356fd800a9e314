/**
 * δ of a report that reaches the collector in a shuffled batch: an upper bound, in integers.
 *
 * `core/certificate/shuffle.py` has the claim, its proof, and the same sums in the same order.
 */
import { BITS, oddsOfALie } from '../exponential.js';
import { type Fraction, isBelow, plus, times } from '../fraction.js';
import { must } from '../refusal.js';
import { logarithm } from '../report-cost.js';
import type { SubsetChannel } from '../subset-selection.js';
import { WORD } from '../uniform.js';
import { binomialLaw, ceil, sum } from './binomial-law.js';

const UNIT = 128n;
const ONE = 1n << UNIT;
/** For probabilities that are far smaller at the first N than at later ones. */
const COIN = 1024n;
const LOG_UNITS = 1e12;
/** The share of δ for the event that fewer reports are uniform than counted on. */
const SPARE: Fraction = [1n, 1000n];
/** The most reports that two cells may hold: a hostile list must not keep a device busy. */
const MOST_IN_TWO_CELLS = 1n << 24n;

/** Tells whether so many honest reports keep (ε, δ) for each of them. */
export function isKept(
  channel: SubsetChannel,
  honest: number,
  epsilon: Fraction,
  delta: Fraction,
): boolean {
  return !isBelow(delta, shuffledDelta(channel, honest, epsilon, times(delta, SPARE)));
}

/** Returns δ at ε of one report among so many honest ones, rounded up. */
export function shuffledDelta(
  { size, threshold }: SubsetChannel,
  honest: number,
  epsilon: Fraction,
  spare: Fraction,
): Fraction {
  const [lies, n] = [WORD - threshold, BigInt(honest)];
  const r = threshold * BigInt(size - 1) - lies; // e^ε0 - 1 is r/lies
  const [one, odds] = [1n << BITS, oddsOfALie(epsilon)]; // e^ε is one/odds, rounded down
  if (size === 1 || r * odds <= (one - odds) * lies) return [0n, 1n];
  const out = WORD * BigInt(size - 1); // any other cell is named with probability lies/out
  must(
    2n * n * lies <= MOST_IN_TWO_CELLS * out,
    'least_batch must be small enough for a device to check the promise',
  );
  const gamma: Fraction = [BigInt(size) * lies, out];
  const m = leastUniform(times([n - 1n, 1n], gamma), spare);
  // r(a - e^ε·b) - (e^ε - 1)·max(N, m) = r(1 + e^ε)·(a - t), t = u·N + v·max(N, m), rounded down
  const u = (ONE * one) / (one + odds);
  const v = (ONE * (one - odds) * lies) / (r * (one + odds));
  const law = binomialLaw(honest, [2n * lies, out], UNIT);
  const first = Math.max(law.first, Number((v * m) / (ONE - u)) + 1); // t ≥ N ≥ a below
  const inside = sumOfExcesses(law.high.slice(first - law.first), u, v, m, BigInt(first));
  const unit = odds * n * ONE;
  const outside = (law.below + law.above) * unit; // r·a at most, whose mean is r·N/2 ≤ r·n/2
  const delta: Fraction = [
    r * (2n * (one + odds) * inside + outside),
    2n * lies * unit * sum(law.low),
  ];
  const missed = times([out - gamma[0], out], spare);
  return m ? plus(delta, missed) : delta;
}

/** Returns m with Pr[1 + Bin < m] ≤ `spare`, given the mean of the Bin; 0 if there is none. */
function leastUniform([mean, whole]: Fraction, [share, all]: Fraction): bigint {
  const most = BigInt(logarithm([all, share], LOG_UNITS));
  const distance = root(ceil(2n * mean * most, whole * BigInt(LOG_UNITS))) + 1n;
  const least = mean / whole - distance + 2n;
  return least > 0n ? least : 0n;
}

/** Returns the square root of a whole number, rounded down. */
function root(square: bigint): bigint {
  let guess = BigInt(Math.ceil(Math.sqrt(Number(square)))) + 1n;
  while (guess * guess > square) guess = (guess + square / guess) / 2n;
  return guess;
}

/**
 * Returns the sum of weights times E[(a - t)₊ | N] for N from `first` on, each rounded up;
 * t = u·N + v·max(N, m) ≥ N/2, everything in units of 2^-128.
 */
function sumOfExcesses(
  weights: readonly bigint[],
  u: bigint,
  v: bigint,
  m: bigint,
  first: bigint,
): bigint {
  if (!weights.length) return 0n; // coins for an N that never happens could be very many
  const edge = (n: bigint) => u * n + v * (n > m ? n : m);
  // Hoeffding's bound N·exp(-2(t - N/2)²/N) limits what was rounded where probabilities grow.
  const exponent = 4n * (2n * u - ONE) * v * m;
  const most = exponent ? (oddsOfALie([exponent, ONE * ONE]) >> (BITS - UNIT)) + 1n : ONE;
  let [n, trials, t, total] = [first, first - 1n, edge(first), 0n];
  let j = t >> UNIT;
  let [atLow, atHigh, tail] = fairCoins(Number(trials), Number(j)); // Pr[X = j] and Pr[X ≥ j]
  for (const weight of weights) {
    const mean = ((t * atHigh - (2n * t - n * ONE) * tail) >> (COIN + 1n)) + 1n;
    const bound = n * most;
    if (mean > 0n) total += weight * (mean < bound ? mean : bound);
    n++;
    t = edge(n);
    const beforeLow = (atLow * j) / (trials - j + 1n); // Pr[X = j - 1]
    const beforeHigh = ceil(atHigh * j, trials - j + 1n);
    trials++;
    [atLow, atHigh] = [(atLow + beforeLow) >> 1n, ceil(atHigh + beforeHigh, 2n)];
    tail += beforeLow >> 1n;
    if (t >> UNIT > j) {
      tail = tail > atHigh ? tail - atHigh : 0n;
      atLow = (atLow * (trials - j)) / (j + 1n);
      atHigh = ceil(atHigh * (trials - j), j + 1n);
      j++;
    }
  }
  return total;
}

/** Returns Pr[X = j], rounded down and up, and Pr[X ≥ j], down, for X of Bin(trials, 1/2). */
function fairCoins(trials: number, j: number): readonly [bigint, bigint, bigint] {
  const { first, low, high, below, above } = binomialLaw(trials, [1n, 2n], COIN);
  const [place, most] = [j - first, sum(high) + below + above];
  return [
    ((low[place] ?? 0n) << COIN) / most,
    ceil((high[place] ?? above) << COIN, sum(low)),
    (sum(low.slice(place)) << COIN) / most,
  ];
}
