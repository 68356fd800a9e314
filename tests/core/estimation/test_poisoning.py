"""The alarm for a pushed record: as rare as it says, and raised when something was pushed."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, laplace, norm

from blender_dp.core.estimation.poisoning import (
    ALARM,
    Comparisons,
    Disagreement,
    Pushes,
    find_disagreement,
)
from blender_dp.core.estimation.pushed_law import PushedLaw
from blender_dp.core.head_list.cells import FloatArray
from exact_tests import FALSE_ALARM, binomial_p_value

SCALE = 3.37
"""b of the noise on opt-in sums at ε = 4, in users."""
MU: FloatArray = np.repeat([2.0, 8.0, 40.0, 400.0], 75)
CLIENT_SD = 10.0


def comparisons(difference: FloatArray, draws: float = 1.0, mu: FloatArray = MU) -> Comparisons:
    ones = np.ones_like(difference)
    return Comparisons(
        items=np.arange(len(difference)) + 5,
        difference=difference,
        sample_variance=mu[: len(difference)],
        client_variance=CLIENT_SD**2 * ones,
        noise_variance=2 * SCALE**2 * max(draws, 1) * ones,
        noise_draws=draws * ones,
    )


def pushes(compared: Comparisons) -> Pushes:
    """Return the same differences as the clients' excess, with the opt-in sums alone."""
    laplace_scale = np.sqrt(compared.noise_variance / 2)
    return Pushes(
        excess=-compared.difference,
        law=PushedLaw(
            normal_variance=compared.client_variance,
            sample_variance=compared.sample_variance,
            share=np.ones_like(compared.difference),
            item=np.arange(len(compared.items)),
            value_weight=np.zeros_like(compared.difference),
            sum_scale=laplace_scale,
            slopes=None,
        ),
        bias=np.zeros_like(compared.difference),
        is_record=np.ones(len(compared.items), dtype=np.bool_),
        opt_in_users=1000,
        fake_weight=2.0,
    )


def verdict(difference: FloatArray) -> Disagreement:
    compared = comparisons(difference)
    return find_disagreement(compared, pushes(compared))


def test_without_laplace_noise_and_sample_it_is_chernoffs_bound_of_the_normal_law() -> None:
    z = np.array([0.5, 2.0, 4.0, 6.0])
    plain = Comparisons(
        items=np.arange(4),
        difference=3 * z,
        sample_variance=np.zeros(4),
        client_variance=np.full(4, 5.0),
        noise_variance=np.full(4, 4.0),
        noise_draws=np.zeros(4),
    )
    assert plain.tail_bounds() == pytest.approx(np.minimum(2 * np.exp(-(z**2) / 2), 1))
    assert plain.z == pytest.approx(z)


def convolved_tail(t: float, sample: float) -> float:
    """Return Pr[|Laplace + normal| ≥ t] by summing over the Laplace law."""
    y = np.linspace(-60 * SCALE, 60 * SCALE, 200_001)
    deviation = np.sqrt(CLIENT_SD**2 + sample)
    weight = laplace.pdf(y, scale=SCALE) * (y[1] - y[0])
    return float(2 * (weight * norm.sf((t - y) / deviation)).sum())


@pytest.mark.parametrize("t", [30.0, 50.0, 70.0, 90.0])
def test_the_bound_is_above_the_tail_and_not_far(t: float) -> None:
    (bound,) = comparisons(np.array([t])).tail_bounds()
    true = convolved_tail(t, MU[0])
    assert true <= bound <= 100 * true


def test_several_draws_of_noise_have_a_lighter_tail_than_one_as_wide() -> None:
    t = np.full(1, 90.0)
    four = comparisons(t, draws=4.0)
    one = Comparisons(
        **{name: getattr(four, name) for name in Comparisons.__slots__ if name != "noise_draws"},
        noise_draws=np.ones(1),
    )
    normal = Comparisons(
        **{name: getattr(four, name) for name in Comparisons.__slots__ if name != "noise_draws"},
        noise_draws=np.zeros(1),
    )
    assert normal.tail_bounds()[0] < four.tail_bounds()[0] < one.tail_bounds()[0]


RUNS = 20_000


def test_chance_raises_the_alarm_less_than_once_in_a_thousand(seed: int) -> None:
    rng, runs = np.random.default_rng(seed), 1500
    mu = np.tile(MU, runs)
    sample = rng.poisson(mu) - mu
    noise = rng.laplace(0, SCALE, len(mu)) + rng.normal(0, CLIENT_SD, len(mu))
    bounds = comparisons(sample + noise, mu=mu).tail_bounds().reshape(runs, -1)
    alarms = int((bounds.min(axis=1) * len(MU) < ALARM).sum())
    assert binom.sf(alarms - 1, runs, ALARM) > FALSE_ALARM


def test_a_normal_law_in_its_place_would_cry_wolf(seed: int) -> None:
    """The twin of the test above: with little client noise, and the Laplace tail forgotten."""
    rng = np.random.default_rng(seed)
    noise = rng.laplace(0, SCALE, (RUNS, len(MU)))
    z = np.abs(noise).max(axis=1) / (np.sqrt(2) * SCALE)
    threshold = norm.isf(ALARM / 2 / len(MU))
    alarms = int((z > threshold).sum())
    assert binomial_p_value(alarms, RUNS, ALARM) < FALSE_ALARM
    rate = 1 - (1 - 2 * laplace.sf(threshold * np.sqrt(2))) ** len(MU)
    assert binom.cdf(binom.isf(FALSE_ALARM, RUNS, ALARM), RUNS, rate) < FALSE_ALARM


def test_one_pushed_record_among_hundreds_is_named() -> None:
    difference = np.zeros(len(MU))
    difference[[7, 9]] = -120.0, 30.0
    found = verdict(difference)
    assert found.is_alarming
    ((item, z),) = found.widest
    assert item == 12
    assert z == pytest.approx(-120 / np.sqrt(2 + 100 + 2 * SCALE**2))
    assert found.sentence.startswith("1 record or query differs between opt-in users")


def test_the_p_value_counts_every_comparison() -> None:
    difference = np.zeros(len(MU))
    difference[0] = 90.0
    assert verdict(difference).p_value == pytest.approx(len(MU) * verdict(difference[:1]).p_value)


def test_an_excess_of_the_clients_is_judged_by_its_own_tail() -> None:
    """Which Chernoff's bound of both sides overlooks: an excess that raises the alarm just so."""
    compared = comparisons(np.zeros(len(MU)))
    excess = pushes(compared).law.critical(0.8 * ALARM / len(MU))[0]
    difference = np.zeros(len(MU))
    difference[0] = -1.001 * excess
    assert verdict(difference).is_alarming
    assert comparisons(difference).tail_bounds().min() * len(MU) > ALARM
    assert not verdict(0.999 * difference / 1.001).is_alarming


def test_without_an_alarm_nothing_is_named() -> None:
    found = verdict(np.full(len(MU), 20.0))
    assert (found.comparisons, found.p_value, found.widest) == (300, 1.0, ())
    silence = (
        "No record or query differs suspiciously between opt-in users and clients (300 compared)."
    )
    assert found.sentence.startswith(silence)
    assert "This test detects fake reports on any single record from " in found.sentence
    assert found.visible() is found.visible(), "it is computed once for all pages"


def test_a_push_that_nobody_could_see_is_not_called_visible() -> None:
    """With so few opt-in users not even all clients together would raise the alarm."""
    compared = comparisons(np.zeros(len(MU)))
    few = replace(pushes(compared), opt_in_users=2)
    visible = few.visible()
    assert visible is not None
    assert (visible.easiest, visible.hardest, visible.spread) == (None, None, None)
    assert visible.sentence == "There are too few users to detect fake reports."


def test_a_push_is_parted_over_no_more_records_than_there_are() -> None:
    compared = comparisons(np.zeros(3))
    visible = pushes(compared).visible()
    assert visible is not None
    assert visible.spread_over == 3
    assert "if they are spread over 3 records" in visible.sentence


def test_many_small_excesses_raise_the_alarm_together() -> None:
    difference = np.zeros(len(MU))
    difference[:40] = -2.2 * comparisons(difference)._variance[:40] ** 0.5
    found = verdict(difference)
    assert found.is_alarming
    assert found.widest == ()
    assert found.sentence.startswith("Many records together differ between")


def test_chance_raises_the_whole_alarm_less_than_once_in_a_thousand(seed: int) -> None:
    """False alarm 1e-9 of this test; its twin below gives the noise a tenth more width."""
    assert binom.sf(alarms(seed, 1.0) - 1, WHOLE_RUNS, ALARM) > FALSE_ALARM


def test_noise_wider_than_stated_is_caught(seed: int) -> None:
    assert binom.sf(alarms(seed, 1.3) - 1, WHOLE_RUNS, ALARM) < FALSE_ALARM


WHOLE_RUNS = 400


def alarms(seed: int, wider: float) -> int:
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(WHOLE_RUNS):
        noise = rng.laplace(0, SCALE, len(MU)) + rng.normal(0, CLIENT_SD, len(MU))
        found += verdict(rng.poisson(MU) - MU + wider * noise).is_alarming
    return found


@pytest.mark.parametrize("place", [0, 299])
def test_the_stated_push_is_seen_in_four_of_five_cases(seed: int, place: int) -> None:
    """The rarest and the most popular, pushed by what is computed for it; false alarm 1e-9."""
    rng, runs = np.random.default_rng(seed), 400
    compared = comparisons(np.zeros(len(MU)))
    push = pushes(compared)._least_users(0.8 * ALARM / len(MU))[place]
    seen = 0
    for _ in range(runs):
        noise = rng.laplace(0, SCALE, len(MU)) + rng.normal(0, CLIENT_SD, len(MU))
        difference = rng.poisson(MU) - MU + noise
        difference[place] -= push
        mu = MU.copy()
        mu[place] += push  # the common p follows the push
        pushed = comparisons(difference, mu=mu)
        seen += find_disagreement(pushed, pushes(pushed)).is_alarming
    assert binom.cdf(seen, runs, 0.7) > FALSE_ALARM
    assert binom.sf(seen - 1, runs, 0.9) > FALSE_ALARM
    assert seen > 0.65 * runs
