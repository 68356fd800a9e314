"""BLENDER, Fig. 2: five lines in order, each user's data in one step only."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

import numpy as np
import pytest
from core.users_never_asked import NeverAsked

from blender_dp.core.blender import PRESETS, blender, create_head_list, curate
from blender_dp.core.curator.discovery import Discovery
from blender_dp.core.errors import ParameterError
from blender_dp.core.estimation.estimates import BlendedEstimates, GroupEstimates
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.parameters import Parameters, Preset
from blender_dp.core.population import ReportCounts, SumsByName
from blender_dp.engine.population.in_memory import LogRow, MemoryPopulation

PARAMETERS = Parameters(preset="paper", epsilon=6.0, delta=1e-3)


def log(users: int = 3000) -> list[LogRow]:
    """Four users in ten search for news, three for weather, the others for something unique."""
    popular = ["news"] * 4 + ["weather"] * 3
    return [
        LogRow(str(i), popular[i % 10] if i % 10 < 7 else f"rare {i}", f"{i % 2}.example")
        for i in range(users)
    ]


def population(seed: int) -> MemoryPopulation:
    return MemoryPopulation.of(log(), Randomness.seeded(seed), opt_in=0.3)


@dataclass
class Watched:
    """A population that writes down who was asked what."""

    population: MemoryPopulation
    asked: list[tuple[str, str]] = field(default_factory=list)

    @property
    def opt_in(self) -> "WatchedUsers":
        return WatchedUsers(self.population.opt_in, "O", self.asked)

    @property
    def clients(self) -> "WatchedClients":
        return WatchedClients(self)

    @property
    def relayed(self) -> None:
        return None


@dataclass
class WatchedUsers(NeverAsked):
    users: object
    name: str
    asked: list[tuple[str, str]]

    @property
    def size(self) -> int:
        return int(self.users.size)  # type: ignore[attr-defined]  # MemoryUsers

    def split(self, fraction: float) -> "tuple[WatchedUsers, WatchedUsers]":
        self.asked.append((self.name, f"split {fraction}"))
        s, t = self.users.split(fraction)  # type: ignore[attr-defined]  # MemoryUsers
        return WatchedUsers(s, "S", self.asked), WatchedUsers(t, "T", self.asked)

    def record_counts(self, records_per_user: int) -> SumsByName:
        self.asked.append((self.name, "record_counts"))
        counts: SumsByName = self.users.record_counts(records_per_user)  # type: ignore[attr-defined]
        return counts

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        self.asked.append((self.name, "cell_counts"))
        counts: IntArray = self.users.cell_counts(head_list, records_per_user)  # type: ignore[attr-defined]
        return counts


@dataclass
class WatchedClients:
    watched: Watched

    @property
    def size(self) -> int:
        return self.watched.population.clients.size

    def report_counts(self, head_list: HeadList) -> ReportCounts:
        self.watched.asked.append(("C", "report_counts"))
        return self.watched.population.clients.report_counts(head_list)


def test_each_users_data_enters_one_step_only(seed: int) -> None:
    """S names records, T estimates, C reports: one question to each, in the order of Fig. 2."""
    watched = Watched(population(seed))
    blender(watched, PARAMETERS, Randomness.seeded(seed))
    assert watched.asked == [
        ("O", "split 0.95"),
        ("S", "record_counts"),
        ("T", "cell_counts"),
        ("C", "report_counts"),
    ]


def test_the_steps_run_in_the_order_of_the_figure(seed: int) -> None:
    """Each is handed what the one before returned."""
    calls: list[str] = []
    steps = PRESETS["paper"]
    handed: dict[str, object] = {}

    def second(users: object, parameters: object, randomness: object, known: object) -> Discovery:
        calls.append("CreateHeadList")
        handed["hl_s"] = steps.create_head_list(users, parameters, randomness, known)  # type: ignore[arg-type]
        return handed["hl_s"]  # type: ignore[return-value]  # candidates

    def third(
        users: object, hl_s: object, parameters: object, randomness: object
    ) -> tuple[HeadList, GroupEstimates]:
        calls.append("EstimateOptinProbabilities")
        assert hl_s is handed["hl_s"]
        hl, p_o = steps.estimate_optin_probabilities(users, hl_s, parameters, randomness)  # type: ignore[arg-type]
        handed.update(hl=hl, p_o=p_o)
        return hl, p_o

    def fourth(clients: object, hl: object) -> GroupEstimates:
        calls.append("EstimateClientProbabilities")
        assert hl == handed["hl"]
        handed["p_c"] = steps.estimate_client_probabilities(clients, hl)  # type: ignore[arg-type]
        return handed["p_c"]  # type: ignore[return-value]  # estimates

    def fifth(p_o: object, p_c: object) -> BlendedEstimates:
        calls.append("BlendProbabilities")
        assert p_o is handed["p_o"]
        assert p_c is handed["p_c"]
        return steps.blend_probabilities(p_o, p_c)  # type: ignore[arg-type]

    own = replace(
        steps,
        create_head_list=second,
        estimate_optin_probabilities=third,
        estimate_client_probabilities=fourth,
        blend_probabilities=fifth,
    )
    told: list[str] = []
    result = blender(
        population(seed), PARAMETERS, Randomness.seeded(seed), steps=own, progress=told.append
    )
    assert calls == told
    assert told == [
        "CreateHeadList",
        "EstimateOptinProbabilities",
        "EstimateClientProbabilities",
        "BlendProbabilities",
    ]
    assert result.head_list == handed["hl"]
    assert result.curated.opt_in is handed["p_o"]
    assert result.clients is handed["p_c"]


def test_the_result_says_who_took_part(seed: int) -> None:
    result = blender(population(seed), PARAMETERS, Randomness.seeded(seed))
    assert (result.curated.discovery_users, result.curated.estimation_users) == (855, 45)
    assert result.client_users == result.clients.total == 2100
    assert result.curated.opt_in.total == 45
    assert result.parameters is PARAMETERS


def test_what_is_popular_is_found(seed: int) -> None:
    """At ε = 10⁶ nothing is noisy; the clients' shares are those of 2,100 of 3,000 users.

    A tenth away would be 17 deviations of a hypergeometric draw.
    """
    loud = replace(PARAMETERS, epsilon=1e6)
    result = blender(population(seed), loud, Randomness.seeded(seed))
    records = {Record(q, f"{i}.example") for q in ("news", "weather") for i in (0, 1)}
    assert set(result.head_list.records()) == records
    assert result.clients.queries.probability == pytest.approx([0.4, 0.3, 0.3], abs=0.1)


def test_candidates_are_counted_before_trimming(seed: int) -> None:
    parameters = replace(PARAMETERS, head_list_size=1)
    curated = curate(population(seed).opt_in, parameters, Randomness.seeded(seed), clients=9)
    assert len(curated.head_list.queries) == 1
    assert curated.candidate_queries >= 2
    assert curated.candidate_records >= 4


def test_a_seed_repeats_a_run(seed: int) -> None:
    def numbers() -> Sequence[object]:
        result = blender(population(seed), PARAMETERS, Randomness.seeded(seed))
        opt_in, clients = result.curated.opt_in.counts, result.clients.counts
        return [result.head_list, opt_in.tolist(), clients.tolist()]

    assert numbers() == numbers()


def test_without_a_head_list_everything_is_everything_else(seed: int) -> None:
    """k = 1 (reading R3): no record is shared by enough users to be named."""
    rows = [LogRow(str(i), f"rare {i}", "x.example") for i in range(300)]
    parameters = Parameters(preset="paper", epsilon=6.0, delta=1e-15)
    nobody = MemoryPopulation.of(rows, Randomness.seeded(seed), opt_in=0.3)
    result = blender(nobody, parameters, Randomness.seeded(seed))
    assert result.head_list.queries == ()
    for blend in (result.blended.cells, result.blended.queries):
        assert blend.projected.tolist() == [1.0]
        assert blend.raw.probability.tolist() == [1.0]
    assert np.isfinite(result.curated.opt_in.cells.probability).all()


def test_an_unknown_preset_is_refused_by_name() -> None:
    with pytest.raises(ParameterError) as refusal:
        replace(PARAMETERS, preset="best")  # type: ignore[arg-type]  # wrong on purpose
    assert str(refusal.value) == f"preset must be one of {', '.join(PRESETS)}; got 'best'"


def test_every_preset_that_can_be_named_has_its_steps() -> None:
    assert set(PRESETS) == set(get_args(Preset))


def test_what_is_not_provable_is_refused_before_anybodys_records_are_counted(seed: int) -> None:
    watched = Watched(population(seed))
    with pytest.raises(ParameterError, match="epsilon must be at least about"):
        blender(
            watched, Parameters(preset="paper", epsilon=0.1, delta=0.5), Randomness.seeded(seed)
        )
    assert [question for _, question in watched.asked] == ["split 0.95"]


def test_the_curators_side_in_one_call(seed: int) -> None:
    seeded = create_head_list(population(seed), PARAMETERS, randomness=Randomness.seeded(seed))
    assert not seeded.private
    assert {"news", "weather"} <= set(seeded.queries)
    assert create_head_list(population(seed), PARAMETERS).private


def test_relay_clients_count_for_the_curators_side_in_one_call(seed: int) -> None:
    """Discovery then gets more of the budget: the same draws make another list of 200 records."""
    rows = [LogRow(str(i), f"{i // 40}", "u") for i in range(8000)]
    parameters = Parameters(epsilon=1.0, delta=1e-5, one_record_each=True)

    def population() -> MemoryPopulation:
        return MemoryPopulation.of(rows, Randomness.seeded(seed), opt_in=0.4, relay=0.9)

    result = blender(population(), parameters, Randomness.seeded(seed))
    found = create_head_list(population(), parameters, randomness=Randomness.seeded(seed))
    assert found.records() == result.head_list.records()
    users = population().opt_in
    uncounted = curate(users, parameters, Randomness.seeded(seed), clients=480).head_list
    assert uncounted.records() != found.records()
