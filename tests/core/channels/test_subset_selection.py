"""The channel of subset selection: exactly as private as promised, and no noisier than need be."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from core.fig_6_by_hand import WORD, exp
from core.subset_law_by_hand import candidates, law, pin, pout, rare_variance, rounded
from hypothesis import example, given
from hypothesis import strategies as st

from blender_dp.core.channels.local_alg import LocalAlgChannel, LocalAlgMechanism
from blender_dp.core.channels.subset_selection import (
    SubsetChannel,
    SubsetSelectionMechanism,
)
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.cells import Cells

SIZES = [2, 3, 4, 5, 7, 16, 33, 60, 120, 232, 1000, 2048, 2999, 3000]
EPSILONS = [Fraction(text) for text in ("1/1000", "1/100", "1/4", "1", "2", "4", "6.5", "10", "20")]
LOCAL_ALG = LocalAlgMechanism(
    epsilon=4.0, delta=1e-5, query_budget_fraction=0.85, records_per_client=1
)


promises = st.fractions(Fraction(1, 1000), Fraction(20), max_denominator=10**6)


def at_the_corners(test: Callable[..., None]) -> Callable[..., None]:
    """Run a property also for the shortest and longest lists and the least and largest ε."""
    for size in (2, 3, 2999, 3000):
        for epsilon in (Fraction(1, 1000), Fraction(1), Fraction(20)):
            test = example(size=size, epsilon=epsilon)(test)
    return test


@at_the_corners
@given(size=st.integers(2, 3000), epsilon=promises)
def test_the_threshold_is_the_stated_probability_rounded_down(size: int, epsilon: Fraction) -> None:
    channel = SubsetChannel.of(size, epsilon)
    d = channel.subset_size
    assert channel.exact_pin == rounded(pin(size, d, epsilon))
    assert channel.exact_pout == pout(size, d, channel.exact_pin)
    assert channel.pin == pytest.approx(float(pin(size, d, epsilon)), rel=1e-12)


@at_the_corners
@given(size=st.integers(2, 3000), epsilon=promises)
def test_the_likelihood_ratio_of_any_two_items_is_within_the_promise(
    size: int, epsilon: Fraction
) -> None:
    """In exact fractions; and nothing is given away but the 64th bit."""
    channel = SubsetChannel.of(size, epsilon)
    named, not_named = channel.likelihoods()
    assert named / not_named == channel.likelihood_ratio()
    assert 1 < channel.likelihood_ratio() <= exp(epsilon)
    assert channel.tight_epsilon() <= float(epsilon)
    assert channel.tight_epsilon() == pytest.approx(float(epsilon), rel=1e-9)
    assert 1 <= channel.subset_size <= max(1, math.ceil(size / 2))


@pytest.mark.parametrize("size", [2, 5, 232, 3000])
def test_one_word_more_would_break_the_promise(size: int) -> None:
    """The threshold is the largest that keeps it."""
    epsilon = Fraction(4)
    channel = SubsetChannel.of(size, epsilon)
    greedy = SubsetChannel(
        size=size, subset_size=channel.subset_size, threshold=channel.threshold + 1
    )
    assert greedy.likelihood_ratio() > exp(epsilon)


@at_the_corners
@given(size=st.integers(2, 3000), epsilon=promises)
def test_the_subset_size_has_the_least_variance_of_the_candidates(
    size: int, epsilon: Fraction
) -> None:
    variances = {d: rare_variance(size, d, epsilon) for d in candidates(size, epsilon)}
    chosen = SubsetChannel.of(size, epsilon).subset_size
    assert chosen in variances
    # Two sizes may tie but for the 64th bit of their thresholds.
    assert variances[chosen] <= min(variances.values()) * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize(("size", "epsilon"), [(7, 1), (12, 2), (30, Fraction(1, 2)), (60, 3)])
def test_no_other_subset_size_would_do_better(size: int, epsilon: Fraction) -> None:
    chosen = rare_variance(size, SubsetChannel.of(size, Fraction(epsilon)).subset_size, epsilon)
    assert chosen == min(rare_variance(size, d, Fraction(epsilon)) for d in range(1, size))


@pytest.mark.parametrize(
    ("size", "epsilon", "subset_size"),
    [(60, 1, 16), (60, 4, 1), (232, 2, 27), (232, 4, 4), (1000, 4, 18), (3000, 1, 807)],
)
def test_known_subset_sizes_never_change(size: int, epsilon: int, subset_size: int) -> None:
    """They are what devices in other languages must choose too."""
    assert SubsetChannel.of(size, Fraction(epsilon)).subset_size == subset_size


def test_likelihoods_are_those_of_the_enumerated_law() -> None:
    for size, epsilon in ((2, Fraction(1)), (5, Fraction(1, 2)), (7, Fraction(3))):
        channel = SubsetChannel.of(size, epsilon)
        stated = law(size, channel.subset_size, channel.exact_pin, item=1)
        named, not_named = channel.likelihoods()
        assert sum(stated.values()) == 1
        for subset in combinations(range(size), channel.subset_size):
            assert stated[subset] == (named if 1 in subset else not_named)


@pytest.mark.parametrize("size", SIZES)
def test_using_the_item_or_not_is_the_same_law(size: int) -> None:
    """The truth with the truthful share, else any d-subset: both likelihoods come out."""
    channel = SubsetChannel.of(size, Fraction(2))
    share, d = channel.truthful_share(), channel.subset_size
    any_subset = (1 - share) / math.comb(size, d)
    named = share / math.comb(size - 1, d - 1) + any_subset
    assert (named, any_subset) == channel.likelihoods()
    assert 0 < share < 1


@pytest.mark.parametrize("epsilon", [Fraction(text) for text in ("1e-6", "1e-3", "1", "50", "1e6")])
@pytest.mark.parametrize("size", [1, 2, 3, 3000])
def test_extreme_promises_neither_overflow_nor_round_to_nothing(
    size: int, epsilon: Fraction
) -> None:
    channel = SubsetChannel.of(size, epsilon)
    assert 0 < channel.pin <= 1
    assert 0 <= channel.pout < channel.pin
    assert 0 < channel.gain <= 1
    assert 0 <= channel.tight_epsilon() <= float(epsilon)
    assert size == 1 or channel.threshold < WORD
    p = np.array([0.0, 0.5, 1.0])
    assert np.all(channel.variance(p, 10) >= 0)
    assert np.all(np.isfinite(channel.variance(p, 10)))


def test_an_item_alone_is_always_named() -> None:
    channel = SubsetChannel.of(1, Fraction(4))
    certain, never = Fraction(1), Fraction(0)
    assert (channel.subset_size, channel.exact_pin, channel.exact_pout) == (1, certain, never)
    assert channel.estimate(np.array([7]), 7).tolist() == [1.0]
    assert channel.variance(np.array([1.0]), 7).tolist() == [0.0]
    assert channel.likelihoods() == (certain, never)
    assert (channel.tight_epsilon(), channel.truthful_share()) == (0.0, certain)


def test_two_items_are_randomised_response() -> None:
    channel = SubsetChannel.of(2, Fraction(1))
    assert channel.subset_size == 1
    assert channel.pin == pytest.approx(math.e / (math.e + 1))
    assert channel.pin + channel.pout == pytest.approx(1)


@pytest.mark.parametrize("size", [2, 3, 4, 7, 2999, 3000, 10**6])
def test_every_list_can_be_reported_on_at_a_tiny_epsilon(size: int) -> None:
    """PRIVACY.md says that 1e-15 is enough."""
    assert 0 < SubsetChannel.of(size, Fraction(1, 10**15)).tight_epsilon() <= 1e-15


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**20), Fraction(1, 10**80)])
def test_an_epsilon_that_64_bits_cannot_tell_from_none_is_refused(epsilon: Fraction) -> None:
    with pytest.raises(ParameterError, match="large enough for thresholds of 64 bits"):
        SubsetChannel.of(3000, epsilon)


@given(size=st.integers(2, 12), epsilon=st.sampled_from(EPSILONS), draw=st.integers(0, 10**6))
def test_estimates_add_up_to_one_exactly(size: int, epsilon: Fraction, draw: int) -> None:
    channel = SubsetChannel.of(size, epsilon)
    rng, reports = np.random.default_rng(draw), 40
    rows = [rng.permutation(size)[: channel.subset_size] for _ in range(reports)]
    counts = np.bincount(np.concatenate(rows), minlength=size)
    gain = channel.exact_pin - channel.exact_pout
    exact = [(Fraction(c, reports) - channel.exact_pout) / gain for c in counts.tolist()]
    assert sum(exact) == 1
    assert channel.estimate(counts, reports) == pytest.approx(list(map(float, exact)), rel=1e-6)


@pytest.mark.parametrize(
    ("size", "epsilon"), [(3, Fraction(1)), (6, Fraction(1)), (6, Fraction(4))]
)
def test_estimates_are_unbiased_and_have_the_stated_variance(size: int, epsilon: Fraction) -> None:
    """Over all reports of one client, enumerated: an item held (p = 1) and one not (p = 0)."""
    channel = SubsetChannel.of(size, epsilon)
    reports = law(size, channel.subset_size, channel.exact_pin, item=2)
    for item, p in ((2, 1), (0, 0)):
        said = {
            subset: channel.estimate(np.bincount(subset, minlength=size), 1)[item]
            for subset in reports
        }
        mean = sum(float(reports[z]) * x for z, x in said.items())
        variance = sum(float(reports[z]) * (x - mean) ** 2 for z, x in said.items())
        assert mean == pytest.approx(p, abs=1e-9)
        assert channel.variance(np.array([float(p)]), 1)[0] == pytest.approx(variance)


@pytest.mark.parametrize(("size", "most"), [(232, 2.3), (1000, 2.2), (3000, 2.15)])
def test_one_report_moves_an_item_by_about_two_honest_ones(size: int, most: float) -> None:
    """What a fake client gains for a target at ε = 4: 1/(pin - pout) reports' weight."""
    assert 1 / SubsetChannel.of(size, Fraction(4)).gain < most


def test_both_questions_have_their_own_channel() -> None:
    mechanism = SubsetSelectionMechanism(epsilon=1.5, query_share=0.25)
    channels = mechanism.channels(Cells.of([2, 1, 1]))
    assert channels["record"] == SubsetChannel.of(8, Fraction(3, 2))
    assert channels["query"] == SubsetChannel.of(4, Fraction(3, 2))
    assert mechanism.estimators(Cells.of([2, 1, 1])) == channels


def test_the_epsilon_written_is_meant_exactly() -> None:
    """0.1 is one tenth, not the nearest double."""
    mechanism = SubsetSelectionMechanism(epsilon=0.1, query_share=0.0)
    channels = mechanism.channels(Cells.of([1] * 40))
    assert channels["record"] == SubsetChannel.of(81, Fraction(1, 10))


def test_a_step_refuses_the_mechanism_of_another_preset() -> None:
    mechanism = SubsetSelectionMechanism(epsilon=1.0, query_share=0.0)
    with pytest.raises(ParameterError, match="mechanism must be local-alg; got 'subset-selection'"):
        LocalAlgChannel.of(Cells.of([1]), mechanism)
    with pytest.raises(ParameterError, match="mechanism must be read by the steps of paper"):
        LOCAL_ALG.estimators(Cells.of([1]))


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
def test_an_epsilon_outside_its_range_is_refused(epsilon: float) -> None:
    with pytest.raises(ParameterError, match="epsilon must be a finite number above 0"):
        SubsetSelectionMechanism(epsilon=epsilon, query_share=0.0)


@pytest.mark.parametrize("query_share", [1.0, -0.1, 2.0, math.nan, math.inf])
def test_somebody_is_always_asked_for_the_record(query_share: float) -> None:
    with pytest.raises(ParameterError, match="query_share must be at least 0 and below 1"):
        SubsetSelectionMechanism(epsilon=1.0, query_share=query_share)


def test_a_client_reports_on_one_record() -> None:
    assert SubsetSelectionMechanism(epsilon=1.0, query_share=0.5).records_per_client == 1
