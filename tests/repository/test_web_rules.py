"""What holds for web/: no registry in the lock file, short files, one source of noise."""

import json
import re
from pathlib import Path

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


def test_the_lock_file_holds_no_address() -> None:
    advice = "after npm install, remove every funding entry from web/package-lock.json"
    assert "://" not in json.dumps(LOCK["packages"]), advice


def test_the_client_has_no_dependency() -> None:
    package = json.loads((WEB / "client" / "package.json").read_text(encoding="utf-8"))
    assert not package.keys() & {"dependencies", "peerDependencies", "optionalDependencies"}


PAGES = sorted((WEB / "dashboard" / "src").rglob("*.ts")) + sorted(
    (WEB / "dashboard" / "src").rglob("*.tsx")
)


def test_sources_are_short() -> None:
    lengths = {path: path.read_text(encoding="utf-8").count("\n") for path in SOURCES + PAGES}
    assert [path.name for path, lines in lengths.items() if lines > 300] == []


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
