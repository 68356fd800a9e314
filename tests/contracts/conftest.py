"""Every kind of population, behind one fixture."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from contracts.logs import Opener
from contracts.populations import POPULATIONS, on_spark

from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.population import Population
from blender_dp.engine.population.in_memory import LogRow

KINDS = [
    *(pytest.param(kind, id=name) for name, kind in POPULATIONS.items()),
    pytest.param(None, id="Spark", marks=pytest.mark.spark),
]


@pytest.fixture(params=KINDS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Return a constructor of one kind of population."""

    kind = request.param or on_spark(request.getfixturevalue("spark"))

    def open_(rows: Sequence[LogRow], seed: int, **how: Any) -> AbstractContextManager[Population]:
        how.setdefault("opt_in", 0.3)
        population: AbstractContextManager[Population] = kind(
            rows, Randomness.seeded(seed), tmp_path, **how
        )
        return population

    return open_
