"""Decoders of foreign bytes under a fuzzer: some thousand inputs here, minutes by ``make fuzz``.

``FUZZ_SECONDS=600 make fuzz`` goes on for ten minutes a target. What is found is written to
``.make/fuzz/TARGET``; once mended, keep it as ``tests/fuzz/cases/TARGET/NAME``.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from fuzz.changes import changed, turned
from fuzz.seeds import Seeds
from fuzz.targets import all_targets

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CASES = sorted(path for path in (HERE / "cases").glob("*/*") if path.is_file())
SECONDS = os.environ.get("FUZZ_SECONDS")
RUNS = -1 if SECONDS else 600
NAMES = (
    "relay-body",
    *("json-body", "gzip-body", "contribution", "campaign", "packed-items", "head-list"),
    *("relayed-report", "relay-statement", "relay-piece"),
    *("signed-head-list", "log", "release", "report-body", "report-lines"),
    *("opt-in", "clients", "certificate"),
)


def test_every_target_is_fuzzed(made: Seeds) -> None:
    assert sorted(all_targets(made)) == sorted(NAMES)


@pytest.mark.parametrize("names", [[name] for name in NAMES] if SECONDS else [NAMES], ids="-".join)
def test_no_input_breaks_a_decoder(made: Seeds, names: Sequence[str], tmp_path: Path) -> None:
    found = ROOT / ".make" / "fuzz" if SECONDS else tmp_path / "found"
    ended = subprocess.run(
        [
            *(sys.executable, str(HERE / "fuzz_one.py"), str(made.directory)),
            *(str(RUNS), SECONDS or "60", str(found), *names),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert ended.returncode == 0, f"input left in {found}\n{ended.stderr[-3000:]}"
    for name in names:
        assert not [path.name for path in (found / name).iterdir() if path.is_file()], name


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_was_found_once_is_refused_properly(made: Seeds, path: Path) -> None:
    all_targets(made)[path.parent.name].read(path.read_bytes())


def test_a_decoder_that_lets_an_error_through_is_caught(made: Seeds) -> None:
    """The changes reach deep: a reader that trips over one field is found with few of them."""
    coins = random.Random(1)
    seed = made.file("sharp", "opt_in_estimates.json")

    def trips(content: bytes) -> bool:
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            return False
        tally = document.get("tally") if isinstance(document, dict) else None
        return isinstance(tally, dict) and isinstance(tally.get("values"), str)

    inputs = (changed(seed, coins, lambda old: turned(old, coins)) for _ in range(20_000))
    assert any(trips(content) for content in inputs)
