"""The ``sharp`` preset on every population: the same rows and seed give the oracle's result."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from contracts.logs import Opener, made_up_log
from contracts.populations import in_memory

from blender_dp.core.blender import BlenderResult, blender
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.parameters import Parameters
from blender_dp.engine.population.in_memory import LogRow

MANY = Parameters(epsilon=4.0, delta=1e-2)
QUERIES = Parameters(epsilon=4.0, delta=1e-2, list_of="queries")
AUTO = Parameters(epsilon=50.0, delta=1e-2, list_of="auto", one_record_each=True)
DECLARED = Parameters(epsilon=4.0, delta=1e-2, head_list_size=9, one_record_each=True)


def numbers(result: BlenderResult) -> dict[str, object]:
    """Return everything that was released."""
    tally = result.curated.opt_in.tally
    assert tally is not None
    return {
        "head list": result.head_list,
        "branch": tally.choice,
        "gap": tally.coverage_gap,
        "values": tally.values.tolist(),
        "sums": tally.sums.tolist(),
        "squares": (tally.record_squares, tally.query_squares),
        "reports": result.clients.counts.tolist(),
        "relayed": None if result.relayed is None else result.relayed.counts.tolist(),
        "blend": result.blended.cells.projected.tolist(),
    }


def first_rows(rows: Sequence[LogRow]) -> list[LogRow]:
    """Return one row of every user."""
    return list({row.user: row for row in reversed(rows)}.values())


@pytest.mark.parametrize(
    ("parameters", "relay", "has_one_row_each"),
    [
        (MANY, 0.0, False),
        (DECLARED, 0.0, True),
        (DECLARED, 0.4, False),
        (QUERIES, 0.0, False),
        (AUTO, 0.0, True),
    ],
    ids=["many records", "one record", "one record of many, relay", "queries", "auto"],
)
def test_same_rows_and_seed_give_the_oracles_result(
    opened: Opener,
    seed: int,
    tmp_path: Path,
    parameters: Parameters,
    relay: float,
    *,
    has_one_row_each: bool,
) -> None:
    """The result is also a distribution with intervals around it."""
    rows = made_up_log(seed)
    if has_one_row_each:
        rows = first_rows(rows)
    results = []
    for kind in (opened, lambda *a, **k: in_memory(a[0], Randomness.seeded(a[1]), tmp_path, **k)):
        with kind(rows, seed, opt_in=0.5, relay=relay, all_rows=True) as population:
            results.append(blender(population, parameters, Randomness.seeded(seed + 1)))
    assert results[0].head_list.queries
    assert (results[0].relayed is not None) == (relay > 0)
    assert numbers(results[0]) == numbers(results[1])
    assert results[0].head_list.is_of_queries == (parameters.list_of == "queries")
    assert (numbers(results[0])["gap"] is not None) == (parameters.list_of == "auto")
    assert len(results[0].head_list.queries) <= (parameters.head_list_size or 10**9)
    assert_is_a_distribution(results[0])


def assert_is_a_distribution(result: BlenderResult) -> None:
    """Fail unless the estimates add up to one and lie within their intervals."""
    for level in (result.blended.cells, result.blended.queries):
        assert level.projected.sum() == pytest.approx(1)
        assert level.projected.min() >= 0
        low, high = level.interval()
        assert (low <= level.projected + 1e-12).all()
        assert (level.projected <= high + 1e-12).all()
        assert ((level.opt_in_weight >= 0) & (level.opt_in_weight <= 1)).all()


def test_a_list_of_nothing_is_an_answer_too(opened: Opener, seed: int) -> None:
    """Nobody shares a record: everything is everything else."""
    rows = [LogRow(f"u{i}", f"q{i}", "x") for i in range(60)]
    with opened(rows, seed, opt_in=0.5, all_rows=True) as population:
        result = blender(population, Parameters(epsilon=1, delta=1e-9), Randomness.seeded(seed))
    assert result.head_list.queries == ()
    assert result.blended.cells.projected.tolist() == [1.0]
