"""OpenDP's noise reaches the list with the law that was asked for, and no other."""

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pytest
from peers.small_tasks import small_task

from benchmarks.peers.opendp import randomized_response, threshold_histogram
from benchmarks.peers.task import Task
from exact_tests import assert_frequencies, assert_sample_catches

EPSILON, OFF = 2.0, 2.6
RECORDS, EACH = 12_000, 60
CLIENTS = 5_000


def noise(epsilon: float) -> Counter[int]:
    """Return what was added to the counts of records that as many users have each."""
    task = Task(
        opt_in=np.repeat(np.arange(RECORDS), EACH),
        clients=np.zeros(0, dtype=np.int64),
        query=np.arange(RECORDS),
        url=np.arange(RECORDS),
        known=np.zeros(0, dtype=np.int64),
        epsilon=epsilon,
        delta=1e-5,
        list_size=10,
        seed=0,
    )
    found = threshold_histogram(task, "opt-in users")
    assert len(found.record) == RECORDS
    added = np.rint(found.probability * RECORDS * EACH).astype(int) - EACH
    return Counter(np.clip(added, -3, 3).tolist())


def discrete_laplace(epsilon: float) -> dict[int, float]:
    """Return the law of scale 2/ε, all beyond ±3 in the outermost."""
    a = math.exp(-epsilon / 2)
    law = {x: (1 - a) / (1 + a) * a ** abs(x) for x in range(-2, 3)}
    return {**law, -3: a**3 / (1 + a), 3: a**3 / (1 + a)}


def test_counts_have_the_noise_of_a_user_who_is_somebody_else() -> None:
    """False alarm 1e-9; a record falls below the threshold, about 13, with 12,000 e^-47."""
    assert_frequencies(noise(EPSILON), discrete_laplace(EPSILON))


def test_noise_for_an_epsilon_three_tenths_off_is_caught() -> None:
    assert_sample_catches(RECORDS, discrete_laplace(EPSILON), discrete_laplace(OFF))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(noise(OFF), discrete_laplace(EPSILON))


def test_a_record_of_one_user_is_not_listed() -> None:
    """But for the δ of 1e-12."""
    found = threshold_histogram(small_task([0] * 60 + [3], [], delta=1e-12), "opt-in users")
    assert found.record.tolist() == [0]


def test_a_central_method_uses_only_the_users_it_is_given() -> None:
    task = small_task([0] * 60, [2] * 60)
    assert threshold_histogram(task, "opt-in users").record.tolist() == [0]
    assert sorted(threshold_histogram(task, "everybody").record.tolist()) == [0, 2]


def answers(epsilon: float) -> Counter[int]:
    """Return what clients who all have record 1 answered: 0 to 2, or 3 for everything else."""
    found = randomized_response(small_task([], [1] * CLIENTS, epsilon=epsilon))
    t, lie = probabilities(epsilon)
    told = np.rint((found.probability * (t - lie) + lie) * CLIENTS).astype(int).tolist()
    return Counter({item: n for item, n in enumerate([*told, CLIENTS - sum(told)])})


def probabilities(epsilon: float) -> tuple[float, float]:
    """Return those of the truth and of each of three lies, by the odds of ε."""
    lie = 1 / (3 + math.exp(epsilon))
    return 1 - 3 * lie, lie


def randomised(epsilon: float) -> Mapping[int, float]:
    t, lie = probabilities(epsilon)
    return {0: lie, 1: t, 2: lie, 3: lie}


def test_answers_are_true_with_the_odds_of_epsilon() -> None:
    """False alarm 1e-9."""
    assert_frequencies(answers(EPSILON), randomised(EPSILON))


def test_answers_for_an_epsilon_three_tenths_off_are_caught() -> None:
    assert_sample_catches(CLIENTS, randomised(EPSILON), randomised(OFF))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(answers(OFF), randomised(EPSILON))


def test_users_whose_record_is_not_known_or_missing_count_as_everything_else() -> None:
    """At ε = 30 nobody lies: ten users do with 10 * 3 * e^-30, about 3e-12."""
    found = randomized_response(small_task([0, 0, 5], [1, 2, 3, 4, 2, 2, 2], epsilon=30))
    assert found.record.tolist() == [0, 1, 2]
    assert found.probability == pytest.approx([0.2, 0.1, 0.4])
