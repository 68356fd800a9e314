"""EstimateOptinProbabilities: what is folded, what is trimmed, and what is released."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from core.users_never_asked import NeverAsked
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.curator.discovery import Discovery
from blender_dp.core.estimate_optin_probabilities.paper import (
    estimate_optin_probabilities,
    fold_other_urls,
    opt_in_estimates,
    sample_variance,
    trim,
)
from blender_dp.core.exact.discrete_laplace import variance
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import Cells, IntArray
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.parameters import Parameters

PARAMETERS = Parameters(preset="paper", epsilon=1e6, delta=1e-5)
"""So large an ε that the noise is zero: it is e^-500000 likely not to be."""
LIST = HeadList.of(
    [Record("a", "1"), Record("a", "2"), Record("b", "1"), Record("c", "1")],
    mechanism=LocalAlgMechanism.of(PARAMETERS),
    private=False,
)
CANDIDATES = Discovery(head_list=LIST)


class Users(NeverAsked):
    """Users whose records fall into cells like this."""

    def __init__(self, counts: list[int], records_per_user: int = 1) -> None:
        self.counts = np.array(counts)
        self.records_per_user = records_per_user

    @property
    def size(self) -> int:
        return int(self.counts.sum()) // self.records_per_user

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        assert len(self.counts) == head_list.cells.cell_count
        assert records_per_user == self.records_per_user
        return self.counts


@given(urls=st.lists(st.integers(1, 3), max_size=5), most=st.integers(0, 50))
def test_another_url_of_a_listed_query_counts_as_everything_else(
    urls: list[int], most: int
) -> None:
    """Fig. 4 line 6: what is not in HL_S is ⟨⋆,⋆⟩, and HL_S has no ⟨q,⋆⟩ (flaw F3, kept)."""
    cells = Cells.of(urls)
    counts = (np.arange(cells.cell_count) * 7) % (most + 1)
    folded = fold_other_urls(counts, cells)
    assert folded[:-1].tolist() == counts[cells.listed].tolist()
    assert folded[-1] == counts[cells.star_of_query].sum()
    assert folded.sum() == counts.sum()


def test_the_queries_of_the_largest_estimates_are_kept() -> None:
    """a has 3 + 4 = 7, b has 9, c has 6: two of them are b and a; c joins everything else."""
    kept, noisy = trim(LIST, np.array([3, 4, 9, 6, 100]), 2)
    assert kept.queries == ("a", "b")
    assert noisy.tolist() == [3, 4, 9, 106]


def test_trimming_counts_queries_and_not_records() -> None:
    """M = 1 keeps both URLs of a (reading R1)."""
    kept, noisy = trim(LIST, np.array([5, 5, 9, 6, 0]), 1)
    assert kept.records() == [Record("a", "1"), Record("a", "2")]
    assert noisy.tolist() == [5, 5, 15]


def test_ties_go_by_byte_order() -> None:
    kept, noisy = trim(LIST, np.array([4, 5, 9, 9, 1]), 2)
    assert kept.queries == ("a", "b")
    assert noisy.tolist() == [4, 5, 9, 10]


def test_negative_noisy_counts_are_ranked_and_accumulated_too() -> None:
    kept, noisy = trim(LIST, np.array([-3, 1, -1, -5, 10]), 1)
    assert kept.queries == ("b",)
    assert noisy.tolist() == [-1, 10 - 3 + 1 - 5]


@pytest.mark.parametrize("most_queries", [None, 3, 4, 1000])
def test_a_list_that_is_short_enough_stays_as_it_is(most_queries: int | None) -> None:
    kept, noisy = trim(LIST, np.array([1, 2, 3, 4, 5]), most_queries)
    assert kept == LIST
    assert noisy.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("most_queries", [None, 1, 7])
def test_without_candidates_everything_is_everything_else(most_queries: int | None) -> None:
    kept, noisy = trim(LIST.keeping([]), np.array([42]), most_queries)
    assert kept.queries == ()
    assert noisy.tolist() == [42]


@given(
    noisy=st.lists(st.integers(-20, 200), min_size=5, max_size=5),
    most_queries=st.integers(1, 4),
)
def test_trimming_loses_no_count(noisy: list[int], most_queries: int) -> None:
    kept, rest = trim(LIST, np.array(noisy), most_queries)
    assert rest.sum() == sum(noisy)
    assert len(rest) == len(kept.records()) + 1
    assert len(kept.queries) == min(most_queries, 3)


def test_the_estimates_are_counts_over_users() -> None:
    """40 users; a: 8 + 4, b: 10, c: 2, and 16 elsewhere, of which 5 under another URL of a."""
    head_list, estimates = estimate_optin_probabilities(
        Users([8, 4, 5, 10, 0, 2, 0, 11]), CANDIDATES, PARAMETERS, Randomness.seeded(0)
    )
    assert head_list == LIST
    assert estimates.counts.tolist() == [8, 4, 0, 10, 0, 2, 0, 16]
    assert estimates.total == 40
    p_hat = estimates.cells.probability
    assert np.isnan(p_hat[[2, 4, 6]]).all()
    assert p_hat[[0, 1, 3, 5, 7]].tolist() == [0.2, 0.1, 0.25, 0.05, 0.4]
    assert estimates.queries.probability.tolist() == pytest.approx([0.3, 0.25, 0.05, 0.4])


def test_several_records_a_user_are_all_divided_by() -> None:
    """20 users of two records each are 40 records."""
    parameters = replace(PARAMETERS, records_per_optin_user=2)
    users = Users([8, 4, 5, 10, 0, 2, 0, 11], records_per_user=2)
    _, estimates = estimate_optin_probabilities(users, CANDIDATES, parameters, Randomness.seeded(0))
    assert estimates.total == 40
    assert estimates.cells.probability[0] == 0.2


def test_trimming_is_part_of_the_step() -> None:
    parameters = replace(PARAMETERS, head_list_size=1)
    head_list, estimates = estimate_optin_probabilities(
        Users([8, 4, 5, 10, 0, 2, 0, 11]), CANDIDATES, parameters, Randomness.seeded(0)
    )
    assert head_list.queries == ("a",)
    assert estimates.counts.tolist() == [8, 4, 0, 28]


def test_each_listed_record_and_the_rest_get_noise_of_their_own(seed: int) -> None:
    """Five draws at scale 10¹²: any two alike with probability below 10 · 5·10⁻¹³."""
    parameters = replace(PARAMETERS, epsilon=2e-12, delta=1e-15)
    users, randomness = Users([0] * 7 + [100]), Randomness.seeded(seed)
    _, estimates = estimate_optin_probabilities(users, CANDIDATES, parameters, randomness)
    released = estimates.counts[[0, 1, 3, 5, 7]].tolist()
    assert len(set(released)) == 5
    assert estimates.counts[[2, 4, 6]].tolist() == [0, 0, 0]


def test_a_negative_variance_is_kept_where_the_count_is_negative() -> None:
    """Flaw F1: p̂(1-p̂)/(n-1) + 2a/(1-a)²/(n(n-1)) with p̂ = -3/50 and b = 1/2."""
    scale = Fraction(1, 2)
    estimates = opt_in_estimates(np.array([-3, 20, 33]), Cells.of([2]), total=50, scale=scale)
    var_hat = estimates.cells.variance
    by_hand = -0.06 * 1.06 / 49 + variance(scale) / (50 * 49)
    assert var_hat[0] == pytest.approx(by_hand)
    assert (var_hat < 0).tolist() == [True, False, False, False]
    assert np.isnan(var_hat[2])


def test_a_query_has_the_variance_of_one_draw_of_noise() -> None:
    """Flaw F4: the sum of two records is treated as one record of that size."""
    scale = Fraction(5)
    estimates = opt_in_estimates(np.array([10, 20, 70]), Cells.of([2]), total=100, scale=scale)
    by_hand = sample_variance(np.array([0.3, 0.7]), 100, scale)
    assert estimates.queries.variance.tolist() == pytest.approx(by_hand.tolist())
