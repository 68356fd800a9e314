"""Adding a mechanism: the page lists every place; no other file knows a mechanism or a preset."""

import re
from pathlib import Path

from blender_dp.core.blender import PRESETS
from blender_dp.core.channels.mechanism import MECHANISMS, RELAY_MECHANISMS
from blender_dp.core.parameters import KNOBS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "blender_dp"
PAGE = ROOT / "docs" / "how-to" / "add-a-mechanism.md"
OPTIONAL = {"evaluation/trials/counted_reports.py", "audit/targets.py"}
ABOVE_THE_CORE = ("engine", "wire", "client", "service", "pages", "planning", "cli")
ASKING = re.compile(
    r"""isinstance\([^)]*(SubsetSelection|SubsetChannel|LocalAlg|RelayMechanism)"""
    r"""|(preset|layout|mechanism\.name)\s*==|==\s*["'](sharp|paper|cell|items)["']"""
)
KEYED = re.compile(
    r"^\s*(LocalAlg|Subset|Relay)(Selection)?(Mechanism\.name|Channel):", re.MULTILINE
)
KNOWING = re.compile(
    r"LocalAlg(Mechanism|Channel)|SubsetSelectionMechanism|SubsetChannel|RelayMechanism"
)
OF_A_PRESET = re.compile(r"""^\s*["'](sharp|paper)["']: (?!statement)""", re.MULTILINE)


def places() -> list[str]:
    return re.findall(r"^\| `([\w/]+\.py)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def matching(pattern: re.Pattern[str]) -> set[str]:
    return {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if pattern.search(path.read_text(encoding="utf-8"))
    }


def test_only_a_mechanisms_own_file_asks_for_its_type() -> None:
    assert matching(ASKING) == {"core/channels/local_alg.py"}


def test_above_the_core_only_an_audit_names_mechanisms() -> None:
    knowing = {path for path in matching(KNOWING) if path.startswith(ABOVE_THE_CORE)}
    assert knowing == {"cli/audit.py"}


def test_one_table_has_the_steps_of_a_preset_and_one_its_own_parameters() -> None:
    assert matching(OF_A_PRESET) == {"core/blender.py", "core/parameters.py"}
    assert list(PRESETS) == list(KNOBS)


def test_only_core_and_audit_name_the_mechanism_of_relay_clients() -> None:
    own = {"core/channels/relayed.py", "core/channels/mechanism.py", "core/blender.py"}
    assert matching(re.compile("RelayMechanism")) == own | {"audit/relay_targets.py"}


def test_browsers_know_a_mechanism_by_its_registry_only() -> None:
    sources = [
        path for place in ("client", "extension") for path in ROOT.glob(f"web/{place}/src/**/*.ts")
    ]
    assert len(sources) > 20
    asking = re.compile(r"mechanism\.name|'(local-alg|subset-selection)")
    found = {path.name for path in sources if asking.search(path.read_text(encoding="utf-8"))}
    assert found == {"mechanism.ts", "local-alg.ts", "subset-selection.ts"}


def test_the_page_lists_every_place_that_a_mechanism_needs() -> None:
    assert len(places()) == 4
    edited = {place for place in places() if "NEW" not in place}
    assert matching(KEYED) == edited | OPTIONAL
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{place}`" in text for place in OPTIONAL)


def test_every_mechanism_is_registered_by_its_name() -> None:
    for table in (MECHANISMS, RELAY_MECHANISMS):
        assert [kind.name for kind in table.values()] == list(table)
    for place in places():
        if "NEW" in place:
            assert (SOURCE / place).parent.is_dir()
