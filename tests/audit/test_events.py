"""Which event is chosen, and what it shows."""

from math import inf, log

import numpy as np
import pytest

from blender_dp.audit.events import Event, best_event, shown_epsilon

N = 100_000


def counts(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def test_the_outcomes_of_the_largest_ratio_are_chosen() -> None:
    event = best_event(
        counts(40_000, 30_000, 30_000), counts(10_000, 30_000, 60_000), delta=0.0, draws=N
    )
    assert event.outcomes.tolist() == [True, False, False]
    assert not event.is_reversed


def test_the_other_direction_is_tried_too() -> None:
    event = best_event(
        counts(10_000, 30_000, 60_000), counts(40_000, 30_000, 30_000), delta=0.0, draws=N
    )
    assert event.is_reversed
    assert event.outcomes.tolist() == [True, False, False]


def test_rare_outcomes_are_added_up_where_each_alone_would_prove_nothing() -> None:
    near = counts(*[30] * 100, N - 3000)
    far = counts(*[10] * 100, N - 1000)
    event = best_event(near, far, delta=0.0, draws=N)
    assert event.outcomes.sum() == 100


def test_delta_decides_which_event_is_best() -> None:
    """At δ = 0 an event that only one neighbour has; beyond its probability another."""
    near, far = counts(500, 40_000, 59_500), counts(0, 10_000, 90_000)
    assert best_event(near, far, delta=0.0, draws=N).outcomes.tolist() == [True, False, False]
    assert best_event(near, far, delta=0.01, draws=N).outcomes.tolist() == [True, True, False]


def test_what_is_shown_is_below_the_true_ratio_and_comes_close_to_it() -> None:
    event = best_event(counts(40_000, 60_000), counts(10_000, 90_000), delta=0.0, draws=N)
    shown = shown_epsilon(
        event, counts(40_000, 60_000), counts(10_000, 90_000), delta=0, alpha=1e-9
    )
    assert log(4) - 0.1 < shown < log(4)
    with_delta = shown_epsilon(
        event, counts(40_000, 60_000), counts(10_000, 90_000), delta=0.1, alpha=1e-9
    )
    assert log(3) - 0.1 < with_delta < log(3)


@pytest.mark.parametrize(("near", "far"), [(0, 0), (0, 5), (3, N), (50, 60)])
def test_nothing_is_shown_by_nothing(near: int, far: int) -> None:
    event = Event(outcomes=np.array([True, False]), is_reversed=False, promise=inf)
    first, second = counts(near, N - near), counts(far, N - far)
    assert shown_epsilon(event, first, second, delta=1e-3, alpha=1e-6) == 0


def test_a_reversed_event_is_bounded_the_other_way_round() -> None:
    event = Event(outcomes=np.array([True, False]), is_reversed=True, promise=1.0)
    first, second = counts(10_000, 90_000), counts(40_000, 60_000)
    assert shown_epsilon(event, first, second, delta=0, alpha=1e-9) > 1.2
