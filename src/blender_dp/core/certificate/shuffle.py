"""Privacy cost of a report that reaches the collector in a shuffled batch.

A relay client names one of K cells by k-ary randomised response: its own cell is e^ε0 times as
likely as any other cell. A relay passes on many such reports in random order and without senders.

**Claim.** n of the reports are honest. Let γ = K/(e^ε0 + K - 1), let M be Bin(n, γ), and of M balls
that fall uniformly into K cells let a and b be those in two given ones. Whoever sees the batch, and
even knows the true cell of every other client, has (ε, δ) of each honest client with

    δ = 1/n · E[ ((e^ε0 - 1)(a - e^ε·b) - (e^ε - 1)·M)₊ ]

**Proof** (the privacy blanket: Balle, Bell, Gascón, Nissim, "The privacy blanket of the shuffle
model", CRYPTO 2019). A report is uniform over all cells with probability γ, and the truth
otherwise. Suppose that the adversary is also told which of the other clients' reports are true,
and which cells these name. Hidden is then only which report is the victim's among B uniform ones;
B is drawn from Bin(n - 1, γ). For m = B + 1 reports w_1 … w_m the likelihood of the batch is the
mean over i of R_x(w_i)/ω(w_i), if x is the victim's cell, R_x the law of its report and ω the
uniform one. So the divergence of x and x' is the mean, over m uniform reports, of (Σ L_i)₊/m with

    L_i = (R_x(w_i) - e^ε·R_x'(w_i))/ω(w_i)
        = γ·((e^ε0 - 1)(1[w_i = x] - e^ε·1[w_i = x']) - (e^ε - 1)).

Pr[Bin(n-1, γ) = m-1]/m = Pr[Bin(n, γ) = m]/(γn), so the sum over m is the claim. An
adversary who is not told this knows less: that is post-processing. More honest reports only lower
δ: the mean of m independent draws is a reverse martingale, so the expectation of its positive part
falls as m grows. ∎

**What is computed** is an upper bound, with max(a + b, m) in place of M. M is below m with a
probability of at most ``spare`` (Chernoff: Pr[X ≤ μ - √(2μ·ln(1/s))] ≤ s). Where it is below, the
positive part is at most (e^ε0 - 1)·a, which adds at most (1 - γ)·spare to δ. If ``spare`` is 0, so
is m.
N = a + b is Bin(n, 2γ/K), and given N, a is Bin(N, 1/2). For every t and j = ⌊t⌋

    E[(a - t)₊ | N] = (N/2 - t)·Pr[Bin(N-1, 1/2) ≥ j] + t/2·Pr[Bin(N-1, 1/2) = j].

Pascal's rule takes both probabilities from one N to the next. All numbers are integers in units of
2^-128 or less, rounded so that δ grows. An N far from its mean is bounded, and added.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor, isqrt

from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.errors import ParameterError
from blender_dp.core.exact.binomial_law import binomial_law
from blender_dp.core.exact.enclosure import exp_enclosure, ln_enclosure

_BITS = 128
_ONE = 1 << _BITS
_COIN_BITS = 1024
"""For probabilities that are far smaller at the first N than at later ones."""
SPARE = Fraction(1, 1000)
"""The share of δ for the event that fewer reports are uniform than counted on."""
EPSILON_STEP = Fraction(1, 1000)
"""The ε0 of relay clients is a multiple of this."""


def largest_report_epsilon(
    cells: int, honest: int, *, epsilon: Fraction, delta: Fraction, cap: Fraction
) -> Fraction:
    """Return the largest ε0 whose shuffled reports keep (ε, δ), and at most the cap.

    Args:
        cells: K, the cells of the head list.
        honest: n, how many reports of a batch are honest, at least.
        epsilon: ε, towards everybody who sees the batch.
        delta: δ, likewise.
        cap: What a client spends at most if relay and collector work together.
    """

    def is_kept(steps: int) -> bool:
        channel = SubsetChannel.naming_one(cells, steps * EPSILON_STEP)
        return shuffled_delta(channel, honest, epsilon, delta * SPARE) <= delta

    low, high = floor(min(epsilon, cap) / EPSILON_STEP), floor(cap / EPSILON_STEP)
    if low < 1:
        raise ParameterError("epsilon", f"at least {EPSILON_STEP} with a relay", str(epsilon))
    if is_kept(high):
        return high * EPSILON_STEP
    while high - low > 1:  # low is kept: a report with ε0 ≤ ε needs no relay
        middle = (low + high) // 2
        if is_kept(middle):
            low = middle
        else:
            high = middle
    return low * EPSILON_STEP


def shuffled_delta(
    channel: SubsetChannel, honest: int, epsilon: Fraction, spare: Fraction = Fraction(0)
) -> Fraction:
    """Return δ at ε of one report in a batch with ``honest`` honest ones, rounded up.

    Args:
        channel: The law of the reports, each of which names one cell.
        honest: n, the victim's own report among them.
        epsilon: Where to measure.
        spare: How likely fewer reports may be uniform than are counted on.
    """
    if channel.subset_size != 1:
        raise ParameterError("subset_size", "1 in a shuffled batch", channel.subset_size)
    if honest < 1:
        raise ParameterError("honest", "at least 1", honest)
    r = channel.likelihood_ratio() - 1
    growth = 1 / exp_enclosure(-epsilon, _BITS).ends()[1]  # e^ε, rounded down
    if r <= growth - 1:
        return Fraction(0)
    gamma = channel.size * channel.exact_pout
    m = _least_uniform(honest - 1, gamma, spare)
    # r(a - e^ε·b) - (e^ε - 1)·max(N, m) = r(1 + e^ε)·(a - t), t = u·N + v·max(N, m), rounded down
    factor = r * (1 + growth)
    u, v = floor(r * growth / factor * _ONE), floor((growth - 1) / factor * _ONE)
    law = binomial_law(honest, 2 * gamma / channel.size, _BITS)
    first = max(law.first, v * m // (_ONE - u) + 1)  # t ≥ N ≥ a below
    means = zip(law.high[first - law.first :], _mean_excesses(u, v, m, first), strict=False)
    inside = factor * Fraction(sum(weight * mean for weight, mean in means), honest * _ONE)
    outside = r / 2 * (law.below + law.above)  # r·a at most, whose mean is r·N/2 ≤ r·n/2
    missed = (1 - gamma) * spare if m else 0
    return min((inside + outside) / law.least_total + missed, Fraction(1))


def _least_uniform(others: int, gamma: Fraction, spare: Fraction) -> int:
    """Return m with Pr[1 + Bin(others, γ) < m] ≤ ``spare``; 0 if there is none."""
    if not spare:
        return 0
    mean = others * gamma
    distance = isqrt(ceil(-2 * mean * ln_enclosure(spare, _BITS).ends()[0])) + 1
    return max(floor(mean) - distance + 2, 0)


def _mean_excesses(u: int, v: int, m: int, first: int) -> Iterator[int]:
    """Yield E[(a - t)₊ | N] for N from ``first`` on, rounded up, t = u·N + v·max(N, m) ≥ N/2.

    u, v and what is yielded are in units of 2^-128. Where the probabilities grow with N, so does
    what was rounded; Hoeffding's bound N·exp(-2(t - N/2)²/N) ≤ N·exp(-8(u - 1/2)·v·m) limits it.
    """
    n, trials = first, first - 1
    t = u * n + v * max(n, m)
    j = t >> _BITS
    at_low, at_high, tail = _fair_coins(trials, j)  # Pr[X = j] and Pr[X ≥ j], X of Bin(trials, 1/2)
    most = exp_enclosure(Fraction(-4 * (2 * u - _ONE) * v * m, _ONE**2), _BITS).high
    while True:
        mean = (t * at_high - (2 * t - n * _ONE) * tail >> _COIN_BITS + 1) + 1
        yield min(max(mean, 0), n * most)
        n += 1
        t = u * n + v * max(n, m)
        before_low = at_low * j // (trials - j + 1)  # Pr[X = j - 1]
        before_high = -(-at_high * j // (trials - j + 1))
        trials += 1
        at_low, at_high = at_low + before_low >> 1, -(-(at_high + before_high) // 2)
        tail += before_low >> 1
        if t >> _BITS > j:
            tail = max(tail - at_high, 0)
            at_low = at_low * (trials - j) // (j + 1)
            at_high = -(-at_high * (trials - j) // (j + 1))
            j += 1


def _fair_coins(trials: int, j: int) -> tuple[int, int, int]:
    """Return Pr[X = j], rounded down and up, and Pr[X ≥ j], down, for X of Bin(trials, 1/2)."""
    law = binomial_law(trials, Fraction(1, 2), _COIN_BITS)
    place, least, most = j - law.first, law.least_total, law.most_total
    at_low, tail = sum(law.low[place : place + 1]), sum(law.low[place:])
    at_high = law.high[place] if place < len(law.high) else law.above
    return (
        (at_low << _COIN_BITS) // most,
        -(-(at_high << _COIN_BITS) // least),
        (tail << _COIN_BITS) // most,
    )
