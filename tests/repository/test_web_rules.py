"""What holds for web/: no registry in the lock file, short files, one source of noise."""

import json
import re
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
SOURCES = sorted(
    path for part in ("client", "extension") for path in (WEB / part / "src").rglob("*.ts")
)
LOCK = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))


def test_the_lock_file_names_no_registry() -> None:
    """What is installed is pinned by its hash, wherever it comes from."""
    assert "omit-lockfile-registry-resolved=true" in (WEB / ".npmrc").read_text(encoding="utf-8")
    installed = {name: one for name, one in LOCK["packages"].items() if "node_modules/" in name}
    assert len(installed) > 20
    for name, package in installed.items():
        is_ours = package.get("link", False)
        assert "://" not in package.get("resolved", ""), name
        assert is_ours or package["integrity"].startswith("sha512-"), name


def test_addresses_in_the_lock_file_are_only_those_of_sponsors() -> None:
    for package in LOCK["packages"].values():
        package.pop("funding", None)
    assert "://" not in json.dumps(LOCK["packages"])


def test_the_client_has_no_dependency() -> None:
    package = json.loads((WEB / "client" / "package.json").read_text(encoding="utf-8"))
    assert not package.keys() & {"dependencies", "peerDependencies", "optionalDependencies"}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_sources_are_short_and_on_the_map(source: Path) -> None:
    assert source.read_text(encoding="utf-8").count("\n") <= 300
    page = (WEB.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert f"`{source.name}`" in page


PAGES = sorted((WEB / "dashboard" / "src").rglob("*.ts")) + sorted(
    (WEB / "dashboard" / "src").rglob("*.tsx")
)


@pytest.mark.parametrize("source", PAGES, ids=lambda path: path.name)
def test_the_dashboards_sources_are_short_and_their_folders_on_the_map(source: Path) -> None:
    text = source.read_text(encoding="utf-8")
    assert text.count("\n") <= 300
    folder = source.parent.relative_to(WEB / "dashboard")
    page = (WEB.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert f"`{folder}`" in page or f"`{source.name}`" in page


def test_the_dashboard_makes_no_markup_from_texts() -> None:
    """What people typed is shown as text, never read as HTML."""
    asking = re.compile(
        r"innerHTML|dangerouslySetInnerHTML|insertAdjacentHTML|document\.write|eval\("
    )
    assert [path.name for path in PAGES if asking.search(path.read_text(encoding="utf-8"))] == []


def test_noise_comes_from_one_place_only() -> None:
    asking = re.compile(r"Math\.random|getRandomValues|randomUUID")
    found = [path.name for path in SOURCES if asking.search(path.read_text(encoding="utf-8"))]
    assert found == ["uniform.ts"]
