"""The same seed gives the same result, in whichever format the same records come."""

import gzip
import shutil
from pathlib import Path

import pytest
from end_to_end.conftest import PROMISE, SIDES, BlenderDp

REPEATED = ("records.csv", "queries.csv", "head_list.json")


def contents(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in REPEATED}


def test_the_same_seed_repeats_every_byte(
    blender_dp: BlenderDp, log: Path, result: Path, tmp_path: Path
) -> None:
    blender_dp("run", log, *PROMISE, *SIDES, "--seed=7", "-o", tmp_path / "again")
    assert contents(tmp_path / "again") == contents(result)


def test_another_seed_or_none_gives_another_result(
    blender_dp: BlenderDp, log: Path, result: Path, private_result: Path, tmp_path: Path
) -> None:
    blender_dp("run", log, *PROMISE, *SIDES, "--seed=8", "-o", tmp_path / "other")
    blender_dp("run", log, *PROMISE, *SIDES, "-o", tmp_path / "private")
    made = [contents(path) for path in (result, private_result, *sorted(tmp_path.iterdir()))]
    assert len({files["records.csv"] for files in made}) == 4


@pytest.mark.parametrize("suffix", ["tsv", "tsv.gz", "parquet"])
def test_the_format_of_the_log_makes_no_difference(
    blender_dp: BlenderDp,
    logs_of_one_kind: dict[str, Path],
    result: Path,
    tmp_path: Path,
    suffix: str,
) -> None:
    log = logs_of_one_kind[suffix]
    blender_dp("run", log, *PROMISE, *SIDES, "--seed=7", "-o", tmp_path / "out")
    assert contents(tmp_path / "out") == contents(result)


def test_a_log_in_pieces_is_the_same_log(
    blender_dp: BlenderDp, log: Path, result: Path, tmp_path: Path
) -> None:
    pieces = tmp_path / "pieces"
    pieces.mkdir()
    header, *lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    for name, part in (("1.csv", lines[:999]), ("2.csv", lines[999:])):
        (pieces / name).write_text(header + "".join(part), encoding="utf-8")
    (pieces / "README.txt").write_text("not a log")
    blender_dp("run", pieces, *PROMISE, *SIDES, "--seed=7", "-o", tmp_path / "out")
    assert contents(tmp_path / "out") == contents(result)


def test_columns_may_have_other_names_and_another_order(
    blender_dp: BlenderDp, log: Path, result: Path, tmp_path: Path
) -> None:
    lines = [line.split(",") for line in log.read_text(encoding="utf-8").splitlines()]
    lines[0] = ["who", "what", "where"]
    renamed = tmp_path / "renamed.csv"
    renamed.write_text("".join(f"{c},x,{a},{b}\n" for a, b, c in lines), encoding="utf-8")
    names = ("--user=who", "--query=what", "--url=where")
    blender_dp("run", renamed, *names, *PROMISE, *SIDES, "--seed=7", "-o", tmp_path / "out")
    assert contents(tmp_path / "out") == contents(result)


def test_aols_own_layout_is_recognised(
    blender_dp: BlenderDp, logs_of_one_kind: dict[str, Path], tmp_path: Path
) -> None:
    packed = tmp_path / "user-ct-test-collection-01.txt.gz"
    with logs_of_one_kind["aol"].open("rb") as plain, gzip.open(packed, "wb", 1) as file:
        shutil.copyfileobj(plain, file)
    blender_dp("run", packed, *PROMISE, *SIDES, "-o", tmp_path / "out")
    assert '"format": "aol"' in (tmp_path / "out" / "run.json").read_text(encoding="utf-8")
    assert '"google"' in (tmp_path / "out" / "queries.csv").read_text(encoding="utf-8")
