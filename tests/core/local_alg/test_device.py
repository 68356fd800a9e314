"""What a device does with a record before LocalAlg sees it, and what it refuses."""

import dataclasses

import pytest

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.report import Report
from blender_dp.core.errors import NotPrivateError, ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.local_alg.device import LocalRandomizer

TRUTHFUL = LocalAlgMechanism(
    epsilon=1e6, delta=1e-5, query_budget_fraction=0.5, records_per_client=1
)
"""So large an ε that a report is the truth but once in 2^63: folding can be read off it."""
HEAD_LIST = HeadList.of(
    [Record("news", "n.example"), Record("weather", "a.example"), Record("weather", "b.example")],
    mechanism=TRUTHFUL,
    private=True,
)


@pytest.mark.parametrize(
    ("query", "url", "cell"),
    [
        ("news", "n.example", 0),
        ("news", "a.example", 1),
        ("weather", "a.example", 2),
        ("weather", "b.example", 3),
        ("weather", "elsewhere.example", 4),
        ("weather", "*", 4),
        ("*", "a.example", 5),
        ("⋆", "⋆", 5),
        ("never heard of", "a.example", 5),
        (None, None, 5),
    ],
)
def test_what_is_not_listed_is_folded_onto_the_star(
    query: str | None, url: str | None, cell: int
) -> None:
    report = LocalRandomizer(HEAD_LIST).report(query, url)
    assert report == Report(question="record", items=(cell,))


def reports(head_list: HeadList, randomness: Randomness | None) -> list[Report]:
    device = LocalRandomizer(head_list, randomness=randomness)
    return [device.report("news", "n.example") for _ in range(100)]


NOISY = dataclasses.replace(HEAD_LIST, mechanism=dataclasses.replace(TRUTHFUL, epsilon=0.01))
SEEDED = dataclasses.replace(NOISY, private=False)


def test_an_experiment_repeats_itself(seed: int) -> None:
    first, second = (reports(SEEDED, Randomness.seeded(seed)) for _ in range(2))
    assert first == second


def test_the_systems_randomness_does_not_repeat_itself() -> None:
    """Each of 100 reports agrees with probability below one half: a false alarm in 2^100."""
    assert reports(NOISY, None) != reports(NOISY, None)


def test_a_device_refuses_a_list_made_with_a_seed() -> None:
    with pytest.raises(NotPrivateError, match="made with a seed, for an experiment") as refusal:
        LocalRandomizer(SEEDED)
    assert "weather" not in str(refusal.value)


def test_reports_made_with_a_seed_are_not_mixed_with_those_of_people(seed: int) -> None:
    with pytest.raises(NotPrivateError, match="this head list is for people"):
        LocalRandomizer(HEAD_LIST, randomness=Randomness.seeded(seed))


def test_an_empty_list_is_refused() -> None:
    empty = HeadList.of([], mechanism=TRUTHFUL, private=True)
    with pytest.raises(ParameterError, match="head_list must be a list with at least one query"):
        LocalRandomizer(empty)
