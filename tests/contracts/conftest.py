"""Every kind of population, behind two fixtures: opened for one test, or once for several."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
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


Kind = Callable[..., AbstractContextManager[Population]]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Return the constructor of one kind of population."""
    found: Kind = request.param or on_spark(request.getfixturevalue("spark"))
    return found


@pytest.fixture
def opened(kind: Kind, tmp_path: Path) -> Opener:
    """Return a function that opens a population of one kind, for this test alone."""

    def open_(rows: Sequence[LogRow], seed: int, **how: Any) -> AbstractContextManager[Population]:
        return kind(rows, Randomness.seeded(seed), tmp_path, **_with_defaults(how))

    return open_


@pytest.fixture(scope="module")
def _already_open() -> Iterator[tuple[ExitStack, dict[object, Population]]]:
    with ExitStack() as stack:
        yield stack, {}


@pytest.fixture
def shared(
    kind: Kind,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    _already_open: tuple[ExitStack, dict[object, Population]],
) -> Opener:
    """Return a function that opens a population unless a test of this module did so before.

    Opening takes a second of CPU on Spark. The population's own randomness goes on from where the
    test before left it: of the clients' reports nothing may be expected that depends on the seed.
    """
    stack, populations = _already_open
    name = request.node.callspec.params["kind"]

    def open_(rows: Sequence[LogRow], seed: int, **how: Any) -> AbstractContextManager[Population]:
        how = _with_defaults(how)
        key = name, tuple(rows), seed, tuple(sorted(how.items()))
        if key not in populations:
            folder = tmp_path_factory.mktemp("shared")
            opening = kind(rows, Randomness.seeded(seed), folder, **how)
            populations[key] = stack.enter_context(opening)
        return nullcontext(populations[key])

    return open_


def _with_defaults(how: dict[str, Any]) -> dict[str, Any]:
    return {"opt_in": 0.3, "records_per_user": 1, "all_rows": False, **how}
