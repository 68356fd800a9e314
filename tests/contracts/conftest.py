"""Every kind of population, behind one fixture."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from contracts.logs import Opener
from contracts.populations import POPULATIONS

from blender_dp.core.population import Population
from blender_dp.core.randomness import Randomness
from blender_dp.engine.in_memory import LogRow


@pytest.fixture(params=list(POPULATIONS.values()), ids=list(POPULATIONS))
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Return a constructor of one kind of population."""

    def open_(rows: Sequence[LogRow], seed: int, **how: Any) -> AbstractContextManager[Population]:
        how.setdefault("opt_in", 0.3)
        population: AbstractContextManager[Population] = request.param(
            rows, Randomness.seeded(seed), tmp_path, **how
        )
        return population

    return open_
