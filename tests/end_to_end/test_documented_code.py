"""README and tutorials run from top to bottom, in a fresh shell and a fresh clone."""

from pathlib import Path

import pytest
from documented_pages import ROOT, Block, blocks_of, fresh_clone, run_page, script_of

USERS = "30000"
"""Users of the demo here: enough for a list, in seconds. Readers get 519,371."""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fresh_clone(tmp_path_factory.mktemp("documented"))


@pytest.mark.slow
@pytest.mark.built
def test_the_readme_runs_from_top_to_bottom(clone: Path) -> None:
    printed = run_page(ROOT / "README.md", clone, DEMO_USERS=USERS)
    for file in ("demo/report.html", "result/report.html", "trends.html", "collection/keys"):
        assert (clone / file).exists(), file
    assert "Every promise is kept." in printed


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "tutorials").glob("*.md")), ids=lambda page: page.stem
)
def test_every_tutorial_runs_from_top_to_bottom(page: Path, clone: Path) -> None:
    run_page(page, clone, DEMO_USERS=USERS)


PAGE = """Text

    make demo

More, and output:

```
not run
```

```python
a = 1
```

- a list
    with a second line

```console
$ blender-dp serve --data here   # in a terminal of its own
listening
$ curl http://127.0.0.1:8080/
```

```python
print(a)
```
"""


def test_blocks_are_found_with_their_lines() -> None:
    assert list(blocks_of(PAGE)) == [
        Block(language="sh", line=3, text="make demo"),
        Block(language="python", line=12, text="a = 1"),
        Block(
            language="sh",
            line=19,
            text="blender-dp serve --data here   # in a terminal of its own\n"
            "curl http://127.0.0.1:8080/",
        ),
        Block(language="python", line=25, text="print(a)"),
    ]


def test_a_page_becomes_one_program() -> None:
    script = script_of(PAGE, port=4321)
    assert "blender-dp serve --data here   --port 4321 &" in script
    assert "curl http://127.0.0.1:4321/" in script
    assert script.count("<<'END OF PYTHON'\na = 1\nprint(a)\n") == 1
    assert "not run" not in script


def test_a_command_that_fails_is_noticed_with_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("    true\n\nText\n\n    blender-dp --version\n\nText\n\n    true\n")
    (tmp_path / "empty").mkdir()
    with pytest.raises(AssertionError, match=r"(?s)line 5\n.*blender-dp: command not found"):
        run_page(page, tmp_path / "empty")
