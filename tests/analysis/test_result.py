"""What may be done with the result of a run."""

import json
import re
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from analysis.conftest import HOSTILE

import blender_dp as bdp
from blender_dp.core.estimation.release import Release


def test_a_result_has_its_list_its_release_and_its_files(
    result: bdp.RunResult, tmp_path: Path
) -> None:
    place = result.write(tmp_path / "made" / "result", words=bdp.Words(query_name="word"))
    assert bdp.read_head_list(place / "head_list.json") == result.head_list
    written = bdp.read_release(place / "release.json")
    assert written.created == result.created
    release = result.release()
    assert (written.queries, written.records) == (release.queries, release.records)
    assert written.query_name == "word"
    assert pq.read_table(place / "records.parquet").equals(result.records)
    assert json.loads((place / "run.json").read_text())["input"] == {
        "format": "pyarrow",
        "files": [],
    }
    with pytest.raises(bdp.BlenderError, match="exists already"):
        result.write(place)
    assert result.write(place, overwrite=True) == place


def test_a_result_stands_for_its_release(
    result: bdp.RunResult, later_result: bdp.RunResult
) -> None:
    search = bdp.LocalSearch(result, rule=bdp.ServingRule(fewest_users=1))
    assert [found.query for found in search.suggest("wea")] == ["weather"]
    changes = {one.query: one.verdict for one in bdp.trends(later_result, result).changes or ()}
    assert (changes["weather"], changes["news"]) == ("fell", "rose")
    assert bdp.certify(result).accounts == result.certificate.accounts
    plan = bdp.plan(like=result, draws=3)
    assert plan.prediction.setting.users == 2000
    assert plan.prediction.setting.opted_in == 600


def test_rows_of_everything_else_come_last(result: bdp.RunResult) -> None:
    cells = result.records["cell"].to_pylist()
    assert cells == sorted(cells, key=["record", "other_url", "other"].index)
    for table in (result.records, result.queries):
        rows = [row for row in table.to_pylist() if row["cell"] in ("record", "query")]
        listed = [row["probability"] for row in rows]
        assert listed == sorted(listed, reverse=True)
        assert table["query"][table.num_rows - 1].as_py() is None


def test_tables_become_frames_of_other_libraries(result: bdp.RunResult) -> None:
    records, queries = result.to_pandas(), result.to_polars("queries")
    assert isinstance(records, pd.DataFrame)
    assert isinstance(queries, pl.DataFrame)
    assert records["query"][0] == "weather"
    assert queries["cell"].to_list() == ["query"] * 3 + ["other"]
    with pytest.raises(bdp.BlenderError, match="level must be one of records, queries; got 'all'"):
        result.to_pandas("all")  # type: ignore[arg-type]  # the mistake


def test_a_result_prints_itself_in_one_line(result: bdp.RunResult) -> None:
    assert repr(result) == (
        "<RunResult: 3 queries, 3 records; ε = 4, δ = 0.0001; 600 opt-in users, 1,400 clients; "
        "made with a seed, not private>"
    )
    for part in (result.head_list, result.release(), result.certificate, bdp.LocalSearch(result)):
        assert re.fullmatch(r"<.{10,120}>", repr(part))


def test_names_in_a_notebook_are_texts_that_turn_nothing(result: bdp.RunResult) -> None:
    shown = result._repr_html_()
    assert "&lt;img src=x&gt;\N{REPLACEMENT CHARACTER}gnp.exe" in shown
    assert "<img" not in shown
    assert HOSTILE not in shown
    assert shown.index("weather") < shown.index("&lt;img") < shown.index("news")
    assert "everything else: " in shown


@pytest.mark.parametrize("kind", ["ranking", "curve", "weights"])
def test_a_result_draws_itself(result: bdp.RunResult, kind: str) -> None:
    from matplotlib import pyplot  # noqa: PLC0415 - after the choice of its backend

    axes = result.plot(kind)  # type: ignore[arg-type]  # one of the three
    axes.figure.canvas.draw()
    assert axes.get_title()
    if kind == "ranking":
        names = [text.get_text() for text in axes.get_yticklabels()]
        assert names[0] == "weather"
        assert "\u202e" not in "".join(names)
    given = pyplot.figure().subplots()
    assert result.plot(kind, axes=given) is given  # type: ignore[arg-type]  # one of the three
    pyplot.close("all")


def test_what_is_not_installed_is_named(
    result: bdp.RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blender_dp.analysis.tables.is_installed", lambda _: False)
    for asked in (result.plot, result.to_pandas, result.to_polars):
        with pytest.raises(bdp.BlenderError, match=r"needs an optional part: pip install 'blend"):
            asked()


def test_the_wrong_picture_is_refused(result: bdp.RunResult) -> None:
    with pytest.raises(bdp.BlenderError, match="kind must be one of ranking, curve, weights"):
        result.plot("pie")  # type: ignore[arg-type]  # the mistake
    with pytest.raises(bdp.BlenderError, match="most must be a whole number from 1 on; got 0"):
        result.plot(most=0)


def test_a_release_is_a_release(result: bdp.RunResult) -> None:
    assert isinstance(result.release(), Release)
