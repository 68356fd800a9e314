"""``docs/paper-map.md`` and names in pages are true: the code and the tests they name exist."""

import importlib
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from repository.named_tests import faults_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "paper-map.md"

LINES = {2: 6, 3: 14, 4: 16, 5: 18, 6: 21, 7: 6}
"""How many numbered lines each figure of the paper has, counted in its source.

Every ``State``, ``For``, ``If``, ``Let`` and ``Continue`` is a line. The paper itself calls the
variance line 13 and the accumulation line 15 of Fig. 4, which settles that ``Let`` is one.
"""

STATEMENTS = {
    "Theorem 3.1",  # CreateHeadList
    "Theorem 3.2",  # EstimateOptinProbabilities
    "Theorem 3.3",  # theorem:localalg-priv
    "Observation 3.4",  # observation:client-denoising
    "Theorem 3.5",  # theorem:opt-in-variance
    "Theorem 3.6",  # theorem:client-variance
    "Theorem 3.7",  # theorem:weighting-scheme
}


class Row(NamedTuple):
    """One row of the map."""

    place: str
    symbol: str
    test: str


ROW = re.compile(r"^\| (?P<place>[^|]+) \| .+ \| `(?P<symbol>[\w.]+)` \| `(?P<test>[^`|]+)` \|$")
LINE_RANGE = re.compile(r"^Fig\. (?P<figure>\d+) lines? (?P<first>\d+)(?:-(?P<last>\d+))?$")


def rows_of(page: str) -> list[Row]:
    """Return the rows of every table below "Lines and theorems"."""
    _, _, tables = page.partition("## Lines and theorems")
    written = [
        line
        for line in tables.splitlines()
        if line.startswith("| ") and not line.startswith("| paper |")
    ]
    unread = [line for line in written if not ROW.match(line)]
    assert not unread, f"rows that are not paper, what, symbol, test: {unread}"
    return [Row(**row.groupdict()) for line in written if (row := ROW.match(line))]


def resolve(symbol: str) -> object:
    """Import the longest module of ``symbol`` and take the rest as attributes."""
    parts = symbol.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(symbol)


def lines_covered(rows: list[Row]) -> Counter[tuple[int, int]]:
    """Count how often each (figure, line) is claimed."""
    ranges = [match for row in rows if (match := LINE_RANGE.match(row.place))]
    return Counter(
        (int(match["figure"]), line)
        for match in ranges
        for line in range(int(match["first"]), int(match["last"] or match["first"]) + 1)
    )


ROWS = rows_of(PAGE.read_text(encoding="utf-8"))


def is_importable(symbol: str) -> bool:
    """Say whether there is such a name."""
    try:
        return resolve(symbol) is not None
    except (AttributeError, ModuleNotFoundError):
        return False


def test_every_symbol_can_be_imported() -> None:
    assert [row.symbol for row in ROWS if not is_importable(row.symbol)] == []


def test_names_in_pages_and_proofs_can_be_imported() -> None:
    layers = "audit|client|core|engine|evaluation|pages|planning|service|wire"
    dotted = re.compile(rf"`((?:{layers})\.(?!py`|sqlite`)[\w.]+)`")
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.md")]
    named = {name for page in pages for name in dotted.findall(page.read_text(encoding="utf-8"))}
    assert len(named) > 5
    assert sorted(name for name in named if not is_importable(f"blender_dp.{name}")) == []


def test_every_test_exists() -> None:
    assert [row.test for row in ROWS if "::" not in row.test] == []
    assert [fault for row in ROWS for fault in faults_of(row.test)] == []


def test_every_line_of_every_figure_is_mapped_once() -> None:
    lines = [(figure, line) for figure, last in LINES.items() for line in range(1, last + 1)]
    assert lines_covered(ROWS) == Counter(lines)


def test_every_theorem_is_mapped() -> None:
    places = {row.place.partition(" `")[0] for row in ROWS}
    assert places >= STATEMENTS, f"missing: {STATEMENTS - places}"


def test_every_figure_of_the_evaluation_leads_to_its_own_file() -> None:
    folder = "blender_dp.evaluation.reproduction.figures."
    places = [row.place for row in ROWS if row.symbol.startswith(folder)]
    lost = [n for n in range(8, 20) if not any(p.startswith(f"Fig. {n} `") for p in places)]
    assert lost == []


PLACE = re.compile(
    r"Fig\. \d+ lines? \d+(-\d+)?|Fig\. \d+ `[\w:-]+`|Section \d\.\d"
    r"|(Theorem|Observation) 3\.[1-7]( `[\w:-]+`)?|Equation `[\w:-]+`"
)


def test_every_place_is_one_of_the_papers() -> None:
    """A misspelt figure or line would otherwise count as something else."""
    assert not [row.place for row in ROWS if not PLACE.fullmatch(row.place)]


@pytest.mark.parametrize(
    "symbol", ["blendr_dp", "blender_dp.core.nothing", "blender_dp.core.head_list.cells.Cells.k"]
)
def test_a_symbol_that_is_gone_is_noticed(symbol: str) -> None:
    assert not is_importable(symbol)


def test_a_row_that_cannot_be_read_is_noticed() -> None:
    with pytest.raises(AssertionError, match="rows that are not"):
        rows_of("## Lines and theorems\n| Fig. 2 line 1 | split | blender | some test |\n")
