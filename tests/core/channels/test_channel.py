"""How often a client tells the truth: the threshold, and the exact probabilities of a list."""

import math
from fractions import Fraction

import pytest
from core.fig_6_by_hand import Promise, exp, matrix, truth
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.channels.local_alg import (
    WORD,
    LocalAlgChannel,
    LocalAlgMechanism,
    truth_threshold,
)
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.cells import Cells

epsilons = st.fractions(Fraction(1, 10**6), 60, max_denominator=10**6)
deltas = st.fractions(0, Fraction(1, 2), max_denominator=10**9)
items = st.one_of(st.integers(2, 30), st.integers(2, 10**6))
lists = st.lists(st.integers(1, 4), min_size=1, max_size=4)


def mechanism(promise: Promise) -> LocalAlgMechanism:
    return LocalAlgMechanism(
        epsilon=float(promise.epsilon),
        delta=float(promise.delta),
        query_budget_fraction=float(promise.f_c),
        records_per_client=promise.m_c,
    )


def channel_of(listed_urls: list[int], promise: Promise) -> LocalAlgChannel:
    return LocalAlgChannel.of(Cells.of(listed_urls), mechanism(promise))


@given(epsilon=epsilons, delta=deltas, k=items)
def test_one_draw_spends_epsilon_and_half_of_delta(
    epsilon: Fraction, delta: Fraction, k: int
) -> None:
    """``eq:dp-singleton`` holds with equality, but for less than one word of 2^64, downwards."""
    t = Fraction(truth_threshold(epsilon, delta, k), WORD)
    odds = exp(epsilon)
    spent = t - odds * (1 - t) / (k - 1)
    one_word = Fraction(1, WORD) * (1 + odds / (k - 1))
    assert delta / 2 - one_word <= spent <= delta / 2


@given(epsilon=epsilons, delta=deltas, k=items)
def test_the_threshold_is_the_printed_formula_rounded_down(
    epsilon: Fraction, delta: Fraction, k: int
) -> None:
    assert Fraction(truth_threshold(epsilon, delta, k), WORD) == truth(epsilon, delta, k)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), 700, 10**6, 10**300])
@pytest.mark.parametrize("k", [2, 51, 3000])
def test_an_extreme_epsilon_has_a_threshold(epsilon: Fraction | int, k: int) -> None:
    """A tiny ε tells each of k items alike; a huge one tells the truth in all but one word."""
    threshold = truth_threshold(Fraction(epsilon), Fraction(0), k)
    if epsilon < 1:
        assert 1 / Fraction(k) < Fraction(threshold, WORD) < (1 + Fraction(2, 10**6)) / k
    else:
        assert threshold == WORD - 1


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**300), Fraction(1), Fraction(10**300)])
def test_a_list_of_one_is_always_told_truly(epsilon: Fraction) -> None:
    """Fig. 5 divides by k_q - 1; the query ⋆ has only the URL ⋆ (reading R2)."""
    assert truth_threshold(epsilon, Fraction(1, 100), 1) == WORD


@given(epsilon=epsilons, more=epsilons, delta=deltas, k=items)
def test_more_budget_is_more_truth(
    epsilon: Fraction, more: Fraction, delta: Fraction, k: int
) -> None:
    threshold = truth_threshold(epsilon, delta, k)
    assert threshold <= truth_threshold(epsilon + more, delta, k) < WORD
    assert threshold <= truth_threshold(epsilon, delta + (1 - delta) / 2, k)
    assert threshold >= truth_threshold(epsilon, delta, k + 1) > 0


@pytest.mark.parametrize(
    "promise",
    [
        Promise(Fraction(4)),
        Promise(Fraction(1, 2), delta=Fraction(1, 10)),
        Promise(Fraction(3), f_c=Fraction(1, 2), m_c=3),
        Promise(Fraction(700)),
    ],
)
@pytest.mark.parametrize("listed_urls", [[1], [2, 1], [1, 3, 2]])
def test_the_channel_is_fig_6(listed_urls: list[int], promise: Promise) -> None:
    """Every entry of the K × K matrix, exactly; no row says more or less than one thing."""
    rows, channel = matrix(listed_urls, promise), channel_of(listed_urls, promise)
    queries = channel.cells.query_of_cell.tolist()
    assert all(sum(row) == 1 for row in rows)
    for y, q in enumerate(queries):
        itself, sibling, stranger = channel.column(q)
        for x, x_q in enumerate(queries):
            assert rows[x][y] == (itself if x == y else sibling if x_q == q else stranger)


@given(listed_urls=lists, epsilon=st.floats(0.01, 8), f_c=st.floats(0.05, 0.95))
def test_the_columns_add_up_to_rows_of_one(
    listed_urls: list[int], epsilon: float, f_c: float
) -> None:
    channel = LocalAlgChannel.of(
        Cells.of(listed_urls),
        LocalAlgMechanism(
            epsilon=epsilon, delta=1e-5, query_budget_fraction=f_c, records_per_client=1
        ),
    )
    sizes = channel.cells.urls_per_query.tolist()
    for q, k_q in enumerate(sizes):
        itself, sibling, _ = channel.column(q)
        elsewhere = sum(
            k_other * channel.column(other)[2] for other, k_other in enumerate(sizes) if other != q
        )
        assert itself + (k_q - 1) * sibling + elsewhere == 1


@pytest.mark.parametrize("listed_urls", [[1], [2, 1], [1, 3, 2], [5] * 3])
def test_the_tight_epsilon_is_the_largest_ratio_of_the_matrix(listed_urls: list[int]) -> None:
    promise = Promise(Fraction(4))
    columns = zip(*matrix(listed_urls, promise), strict=True)
    worst = max(max(column) / min(column) for column in columns)
    tight = channel_of(listed_urls, promise).tight_epsilon()
    assert tight == pytest.approx(math.log(worst), rel=1e-12)


def test_a_list_with_only_the_star_tells_nothing() -> None:
    channel = channel_of([], Promise(Fraction(4)))
    assert channel.tight_epsilon() == 0
    assert channel.column(0) == (Fraction(1), Fraction(0), Fraction(0))
    assert (channel.t, channel.t_q.tolist()) == (1.0, [1.0])


@pytest.mark.parametrize("listed_urls", [[1, 1], [1] * 999, [30, 1]])
def test_a_truth_told_less_often_than_a_guess_is_refused(listed_urls: list[int]) -> None:
    """Thresholds round down: below 1/k the proof of LocalAlg has no ground to stand on."""
    with pytest.raises(ParameterError, match="epsilon must be large enough for thresholds of 64"):
        channel_of(listed_urls, Promise(Fraction(1, 10**22), delta=Fraction(1, 10**30)))


@given(listed_urls=lists, f_c=st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20))
def test_everything_above_the_stated_condition_is_accepted(
    listed_urls: list[int], f_c: Fraction
) -> None:
    """min(f_C, 1-f_C)·ε ≥ 2^-61 · (largest of k and all k_q), as PRIVACY.md says."""
    largest = max(len(listed_urls) + 1, *(n + 1 for n in listed_urls))
    epsilon = largest / Fraction(2**61) / min(f_c, 1 - f_c)
    made = channel_of(listed_urls, Promise(epsilon * Fraction(1001, 1000), f_c=f_c))
    for threshold, size in [
        (made.query_threshold, made.cells.query_count),
        *zip(made.url_thresholds, made.cells.urls_per_query.tolist(), strict=True),
    ]:
        assert threshold * size >= WORD


def test_server_and_device_read_the_same_threshold() -> None:
    channel = channel_of([2, 1], Promise(Fraction(3)))
    assert channel.t == channel.query_threshold / WORD
    assert channel.t_q.tolist() == [threshold / WORD for threshold in channel.url_thresholds]
    last = [int(word) for word in channel.last_true_url_word]
    assert last == [threshold - 1 for threshold in channel.url_thresholds]
    assert last[-1] == WORD - 1
