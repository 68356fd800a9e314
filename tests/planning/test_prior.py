"""What records are assumed to look like."""

import numpy as np
import pytest

from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.engine.synthetic import Shape, ShapeOptions, query_probabilities, synthesize
from blender_dp.engine.synthetic.laws import log_law
from blender_dp.planning.prior import Prior, prior_like
from blender_dp.planning.release_prior import prior_of_release
from releases import query_row, record_row, release_of

POWER = {f"q{rank:03d}": 0.02 * rank**-0.8 for rank in range(1, 41)}


@pytest.mark.parametrize("like", ["zipf", "zipf:1.3"])
def test_a_shape_has_the_probabilities_of_its_logs(like: str) -> None:
    prior = prior_like(like)
    exponent = 1.3 if ":" in like else 1.0
    stated = query_probabilities(Shape.ZIPF, ShapeOptions(exponent=exponent))
    every = np.arange(prior.queries)
    assert prior.query_probability(every) == pytest.approx(stated, abs=1e-12)


def test_the_urls_of_a_query_add_up_to_it() -> None:
    prior = prior_like("zipf")
    query = np.repeat([0, 5, 999], 9)
    by_url = prior.record_probability(query, np.tile(np.arange(9), 3))
    assert by_url.reshape(3, 9).sum(axis=1) == pytest.approx(
        prior.query_probability(np.array([0, 5, 999]))
    )


def test_a_workload_draws_what_its_law_says(seed: int) -> None:
    """Mean records per user: 5,000 users, a bound of ten standard errors (false alarm < 1e-20)."""
    law = log_law(Shape.AOL_MULTI)
    counts = np.bincount(synthesize(Shape.AOL_MULTI, users=5_000, seed=seed).user)
    rng = np.random.default_rng(seed)
    drawn = law.activity.counts(5_000, rng)
    error = np.hypot(counts.std(), drawn.std()) / np.sqrt(5_000)
    assert abs(counts.mean() - drawn.mean()) < 10 * error


def test_a_release_keeps_what_it_lists() -> None:
    prior = prior_of_release(release_of(POWER))
    top = prior.query_probability(np.arange(40))
    assert top == pytest.approx(sorted(POWER.values(), reverse=True))
    assert prior.query_probability(np.arange(prior.queries)).sum() == pytest.approx(1)


def test_the_tail_of_a_release_goes_on_as_the_list_falls() -> None:
    prior = prior_of_release(release_of(POWER, opt_in_users=500))
    p = prior.query_probability(np.array([99, 399]))
    assert p[1] / p[0] == pytest.approx(4**-0.8, rel=0.1)


def test_a_release_of_few_users_whose_list_is_longer_than_likely_is_no_error() -> None:
    """Its rarest records, taken for the threshold at least, have more than all probability."""
    prior = prior_of_release(release_of(POWER, opt_in_users=1))
    assert prior.query_probability(np.arange(prior.queries)).sum() == pytest.approx(1)


def test_nothing_unlisted_is_so_popular_that_it_would_be_listed() -> None:
    """With ten times the users, records between the list and the threshold do not exist."""
    release = release_of(POWER, opt_in_users=5_000)
    prior = prior_of_release(release)
    unlisted = prior.query_probability(np.arange(len(POWER), prior.queries))
    assert unlisted.max() * 19 * 5_000 < 8
    assert min(POWER.values()) * 19 * 5_000 > 80


def test_a_list_too_steep_for_its_rest_gets_a_thin_even_tail() -> None:
    steep = {f"q{rank}": 0.3 * rank**-2.2 for rank in range(1, 21)}
    records = [record_row(query, "a.example", p, error=1e-6) for query, p in steep.items()]
    prior = prior_of_release(release_of(steep, records))
    tail = prior.query_probability(np.arange(20, prior.queries))
    assert tail.sum() == pytest.approx(1 - sum(steep.values()), rel=1e-3)
    assert tail[1000:].max() < 1e-6


def test_records_of_a_release_are_drawn_by_their_own_urls(seed: int) -> None:
    """Of 20,000 draws, two records of 0.4 and 0.1: ten standard errors (false alarm < 1e-20)."""
    queries = [query_row("a", 0.5), query_row("b", 0.2), query_row("c", 0.1)]
    records = [
        *(record_row("a", "x", 0.4), record_row("a", "y", 0.1)),
        *(record_row("b", "x", 0.2), record_row("c", "x", 0.1)),
    ]
    prior = prior_of_release(release_of(queries, records))
    drawn = prior.draw(20_000, seed)
    for url, p in ((0, 0.4), (1, 0.1)):
        share = np.mean((drawn.query == 0) & (drawn.url == url))
        assert abs(share - p) < 10 * np.sqrt(p * (1 - p) / 20_000)
        stated = prior.record_probability(np.array([0]), np.array([url]))
        assert stated == pytest.approx([p])


def test_a_release_of_next_to_nothing_is_refused() -> None:
    with pytest.raises(BlenderError, match="at least 3 records"):
        prior_of_release(release_of({"a": 0.1, "b": 0.05}))


@pytest.mark.parametrize(
    ("like", "records", "name"),
    [
        ("bing", None, "like"),
        ("zipf:steep", None, "like"),
        ("zipf:-1", None, "like"),
        ("aol:2", None, "like"),
        ("aol-single", 3.0, "records_per_user"),
        ("aol", 0.5, "records_per_user"),
    ],
)
def test_what_is_no_shape_is_refused(like: str, records: float | None, name: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        prior_like(like, records)
    assert refusal.value.name == name


def test_more_records_a_user_may_be_assumed() -> None:
    def mean_records(prior: Prior) -> float:
        drawn = prior.draw(2_000, 0)
        return len(drawn.user) / 2_000

    assert mean_records(prior_like("zipf")) == 1
    assert 3 < mean_records(prior_like("zipf", 4.0)) < 5
    assert 3 < mean_records(prior_of_release(release_of(POWER), 4.0)) < 5
