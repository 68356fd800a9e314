"""The documentation site: built without a warning, complete offline, links that lead somewhere."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from build_site import write_versions
from check_site import faults_of
from playwright.sync_api import Browser
from source_code import SourceCode
from staging import PageLinks, notebook_page, pages_of

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-site" / "bin" / "python"


def build(folder: Path) -> Path:
    """Build the site; the build ends with status 1 if a page has a warning."""
    if not PYTHON.exists():
        pytest.fail("the site's packages are missing: make .make/site-packages", pytrace=False)
    command = [str(PYTHON), str(ROOT / "docs" / "site" / "build_site.py"), str(folder)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (version,) = folder.glob("*/index.html")
    return version.parent


@pytest.mark.slow
def test_the_site_is_complete_and_opens_from_a_folder(tmp_path: Path, chromium: Browser) -> None:
    """One test, so that the site is built once: that takes most of the time."""
    site = build(tmp_path)
    for page in (one for section in pages_of(ROOT).values() for one in section):
        assert (site / page).with_suffix(".html").is_file(), page
    check_links_to_lines(site)
    open_pages(site, chromium, 360, "dark")
    open_pages(site, chromium, 1440, "light")


def check_links_to_lines(site: Path) -> None:
    paper_map = (site / "docs" / "paper-map.html").read_text(encoding="utf-8")
    found = re.search(r'href="\.\./(source/\S+blender\.py\.html)#line-(\d+)"', paper_map)
    assert found is not None
    source = (ROOT / "src/blender_dp/core/blender.py").read_text(encoding="utf-8").splitlines()
    assert source[int(found[2]) - 1].startswith(("def ", "class "))
    python = (site / "docs" / "reference" / "python.html").read_text(encoding="utf-8")
    assert re.search(r"source/src/blender_dp/core/parameters\.py\.html#line-\d+", python)


def open_pages(site: Path, chromium: Browser, width: int, scheme: str) -> None:
    requests: list[str] = []
    complaints: list[str] = []
    context = chromium.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]  # light or dark
    )
    context.on("request", lambda request: requests.append(request.url))
    page = context.new_page()
    page.on("console", lambda said: complaints.append(said.text))
    for name in ("index", "docs/paper-map", "docs/reference/http", "docs/pictures"):
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert (_brightness(page.evaluate(_BACKGROUND)) < 128) == (scheme == "dark")
    page.goto((site / "search.html").as_uri() + "?q=relay")
    page.locator("#search-results a", has_text="Run a relay").first.wait_for()
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert complaints == []
    context.close()


_BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def _brightness(colour: str) -> float:
    red, green, blue = map(int, re.findall(r"\d+", colour)[:3])
    return (red + green + blue) / 3


def test_every_page_is_in_a_section() -> None:
    listed = [page for section in pages_of(ROOT).values() for page in section]
    written = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")}
    assert written <= {*listed}, "docs/site/staging.py lists the sections"
    assert len(listed) == len({*listed})


def test_names_of_code_become_links_and_blocks_stay(tmp_path: Path) -> None:
    tracked = ["src/blender_dp/core/blender.py", "tests/core/test_blender.py", "deploy/unit"]
    code = SourceCode(ROOT, tracked)
    links = PageLinks("docs/how-to/page.md", {*tracked}, code, tmp_path)
    line = code.place_of("core.blender.curate")
    assert line is not None
    href = f"../../source/src/blender_dp/core/blender.py.html#line-{line[1]}"
    link = f'<a class="source" href="{href}">`core.blender.curate`</a>'
    assert links.rewritten("See `core.blender.curate`, `core.nothing`.") == (
        f"See {link}, `core.nothing`.\n"
    )
    unit = '<a class="source" href="../../source/deploy/unit.html">unit</a>'
    assert links.rewritten("[unit](../../deploy/unit)") == f"{unit}\n"
    assert links.rewritten("[start](../../README.md)") == "[start](../../index.md)\n"
    notebook = "[notebook](../notebooks/analyse-a-log.ipynb)"
    assert links.rewritten(notebook) == "[notebook](../notebooks/analyse-a-log.md)\n"
    block = "```\n`core.blender.curate`\n```\n\n    `core.blender.curate`\n"
    assert links.rewritten(block) == block


def test_a_notebook_becomes_a_page() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "Text."]},
        {"cell_type": "code", "source": ["a = 1\n", "a"]},
    ]
    page = notebook_page(json.dumps({"cells": cells}))
    assert page == "# Title\nText.\n\n```python\na = 1\na\n```\n"


def test_faults_of_a_site_are_found(tmp_path: Path) -> None:
    good = '<h1 id="here">x</h1><a href="#here">a</a><a href="https://host.example/">b</a>'
    (tmp_path / "good.html").write_text(good)
    assert list(faults_of(tmp_path)) == []
    bad = (
        '<script src="https://host.example/x.js"></script><img src="//host.example/x.png">'
        '<a href="good.html#gone">a</a><a href="gone.html">b</a><img src="gone.png">'
    )
    (tmp_path / "bad.html").write_text(bad)
    (tmp_path / "bad.css").write_text("a { background: url('https://host.example/x.png') }")
    assert list(faults_of(tmp_path)) == [
        "bad.html fetches https://host.example/x.js",
        "bad.html fetches //host.example/x.png",
        "bad.html fetches gone.png, which is missing",
        "bad.html links to good.html#gone, which is missing",
        "bad.html links to gone.html, which is missing",
        "bad.css fetches https://host.example/x.png",
    ]


def test_the_newest_version_is_the_start_page(tmp_path: Path) -> None:
    for version in ("0.9.0", "0.10.0", "0.10.0rc1"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "index.html").touch()
    write_versions(tmp_path)
    listed = (tmp_path / "versions.js").read_text()
    assert listed == 'const VERSIONS = ["0.10.0", "0.10.0rc1", "0.9.0"];\n'
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text()
