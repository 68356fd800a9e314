"""Adding a mechanism: the page lists every place, and no other file knows a mechanism by type."""

import re
from pathlib import Path

from blender_dp.core.channels.mechanism import MECHANISMS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "blender_dp"
PAGE = ROOT / "docs" / "how-to" / "add-a-mechanism.md"
OPTIONAL = {"evaluation/trials/counted_reports.py", "audit/targets.py"}
ASKING = re.compile(
    r"""isinstance\([^)]*(SubsetSelection|SubsetChannel|LocalAlg)|preset\s*==|==\s*["'](sharp|paper)["']"""
)
KEYED = re.compile(r"^\s*(LocalAlg|Subset)(Selection)?(Mechanism\.name|Channel):", re.MULTILINE)


def places() -> list[str]:
    return re.findall(r"^\| `([\w/]+\.py)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def matching(pattern: re.Pattern[str]) -> set[str]:
    return {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if pattern.search(path.read_text(encoding="utf-8"))
    }


def test_only_a_mechanisms_own_file_asks_for_its_type() -> None:
    own = {"core/channels/local_alg.py", "core/channels/subset_selection.py"}
    assert matching(ASKING) == own


def test_the_page_lists_every_place_that_a_mechanism_needs() -> None:
    assert len(places()) <= 6
    edited = {place for place in places() if "NEW" not in place}
    assert matching(KEYED) | {"core/channels/mechanism.py"} == edited | OPTIONAL
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{place}`" in text for place in OPTIONAL)


def test_every_mechanism_is_in_every_registry() -> None:
    for place in [*places(), *OPTIONAL]:
        if "NEW" in place:
            assert (SOURCE / place).parent.is_dir()
            continue
        text = (SOURCE / place).read_text(encoding="utf-8")
        for kind in MECHANISMS.values():
            assert kind.__name__.removesuffix("Mechanism") in text or "SubsetChannel" in text


def test_mechanisms_have_the_same_attributes() -> None:
    text = PAGE.read_text(encoding="utf-8")
    start = text.index("attributes of its siblings")
    wanted = re.findall(r"`(\w+)`", text[start : text.index(". Fields", start)])
    assert "names_one_cell" in wanted
    for kind in MECHANISMS.values():
        assert set(wanted) <= set(dir(kind))
