"""All figures of a small log, from trials to files, and what the files say."""

import csv
import json
import math
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from core.small_result import small_result
from evaluation.reproduction.made_up_series import UNREACHED, series, spread
from playwright.sync_api import Browser

from blender_dp.core.errors import InputError
from blender_dp.engine.synthetic import Shape
from blender_dp.evaluation.reproduction.data_sets import synthetic_data
from blender_dp.evaluation.reproduction.document import Shown, contents, document_of
from blender_dp.evaluation.reproduction.figures import FIGURES
from blender_dp.evaluation.reproduction.figures.distributions import draw_distributions
from blender_dp.evaluation.reproduction.figures.drawing.drawing import draw_panels
from blender_dp.evaluation.reproduction.figures.drawing.figure import Cell, Plot, Table
from blender_dp.evaluation.reproduction.figures.drawing.page import _table, render_page
from blender_dp.evaluation.reproduction.figures.qin_comparison import LOCAL_PEER
from blender_dp.evaluation.reproduction.files import require_ours, write_outputs
from blender_dp.evaluation.reproduction.published import Mark
from blender_dp.evaluation.reproduction.reproduction import Plan, Reproduced, run_missing
from blender_dp.evaluation.reproduction.series import Axis, MeasuredPanel, Panel
from blender_dp.evaluation.reproduction.sweeps import SETUPS
from blender_dp.evaluation.trials.scores import score

COMMAND = "blender-dp reproduce --shape aol"


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Reproduced:
    """Every figure, two trials per point, on a log in which a few queries are found."""
    planned = Plan(
        data=synthetic_data(Shape.AOL, users=4_000),
        setup=replace(SETUPS["aol"], delta=0.01, list_sizes=(2, 3, 50), tiny_list_sizes=(1, 2)),
        figures=FIGURES,
        repetitions=2,
    )
    folder = tmp_path_factory.mktemp("reproduction")
    return run_missing(planned, folder, workers=1, step=lambda _: None, share=lambda _: None)


@pytest.fixture(scope="module")
def shown(reproduced: Reproduced) -> list[Shown]:
    return contents(reproduced, COMMAND)


def test_all_figures_are_written_and_a_second_time_nothing_is(
    reproduced: Reproduced, shown: list[Shown]
) -> None:
    folder = reproduced.folder
    assert write_outputs(reproduced, shown, COMMAND)
    for figure in FIGURES:
        picture = (folder / f"{figure.stem}.svg").read_text()
        assert picture.startswith("<?xml")
        assert (folder / f"{figure.stem}.png").read_bytes().startswith(b"\x89PNG")
        assert (folder / f"{figure.stem}.csv").stat().st_size > 50
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert not write_outputs(reproduced, shown, COMMAND)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_every_file_says_that_the_data_was_synthetic(
    reproduced: Reproduced, shown: list[Shown]
) -> None:
    write_outputs(reproduced, shown, COMMAND)
    folder = reproduced.folder
    document = json.loads((folder / "reproduction.json").read_text())
    assert document["synthetic"] is True
    assert set(document["figures"]) == {figure.stem for figure in FIGURES}
    assert {claim["verdict"] for claim in document["claims"]} <= {
        *("holds", "does not hold", "undecided", "other data")
    }
    page = (folder / "index.html").read_text()
    assert "SYNTHETIC DATA" in page
    for figure in FIGURES:
        assert f'id="{figure.stem}"' in page
    assert page.count('src="data:image/svg+xml;base64,') == 9
    assert "http://" not in page.replace('src="data:', "")
    assert "not run here: see --shape yandex" in page
    assert reproduced.time is not None
    trials, seconds = reproduced.time
    assert trials == reproduced.trials_run
    assert f"{trials:,} trials took 0 min {round(seconds)} s on this machine (measured)" in page
    for path in folder.glob("*.md"):
        assert "SYNTHETIC DATA" in path.read_text()
    for figure in FIGURES:
        if isinstance(figure, Plot):
            with (folder / f"{figure.stem}.csv").open() as file:
                assert {row["data"] for row in csv.DictReader(file)} == {"synthetic"}


def test_what_was_cited_and_what_was_run_are_named(
    reproduced: Reproduced, shown: list[Shown]
) -> None:
    page = render_page(reproduced, shown, COMMAND)
    assert "<th>The paper says (cited)</th><th>Found here (run)</th>" in page
    assert "cited: paper (AOL)" in page
    assert "The method of Qin et al. was not" in next(
        one.caption for one in shown if one.figure.number == 12
    )
    places = [page.index(f'<section class="card" id="{one.figure.stem}"') for one in shown]
    assert places == sorted(places)
    assert [one.figure.number for one in shown] == list(range(8, 20))


@pytest.mark.browser
def test_the_page_is_readable_on_a_phone(
    reproduced: Reproduced, shown: list[Shown], chromium: Browser, axe: str
) -> None:
    """Pictures keep their size and are scrolled; nothing else is wider than the window."""
    write_outputs(reproduced, shown, COMMAND)
    page = chromium.new_page(viewport={"width": 360, "height": 800})
    page.goto((reproduced.folder / "index.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    widths = page.locator(".picture img").evaluate_all("all => all.map((one) => one.width)")
    assert min(widths) >= 600
    page.evaluate(axe)
    found = page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))")
    page.close()
    assert found == []


def test_captions_say_the_data_the_trials_and_the_command(shown: list[Shown]) -> None:
    for one in shown:
        assert one.caption.startswith("SYNTHETIC DATA: synthetic log of the aol shape")
        assert one.caption.endswith(f"Made by: {COMMAND}")
        if isinstance(one.figure, Plot):
            assert "2 trials per point" in one.caption


def test_the_document_has_null_where_there_is_no_number(
    reproduced: Reproduced, shown: list[Shown]
) -> None:
    text = json.dumps(document_of(reproduced, shown), allow_nan=False)
    assert "NaN" not in text
    assert '"median": null' in text  # a list of 50 is never reached


def test_a_local_peer_that_ran_on_the_same_data_is_drawn_beside(reproduced: Reproduced) -> None:
    figure = next(figure for figure in FIGURES if figure.number == 12)
    path = reproduced.folder / LOCAL_PEER
    points = [{"epsilon": 5.0, "ndcg": [0.1, 0.3]}]
    peer = {"data": reproduced.data.identity, "label": "OLH", "points": points}
    try:
        path.write_text(json.dumps(peer))
        assert figure.find(reproduced)[0]["OLH"].at(5.0).median.value == pytest.approx(0.2)
        path.write_text(json.dumps({**peer, "data": {"synthetic": False}}))
        assert [line.label for line in figure.find(reproduced)[0].series] == ["BLENDER"]
    finally:
        path.unlink()


def panel(*lines: object, logarithmic: bool = False) -> MeasuredPanel:
    axes = Panel(title="t", x=Axis(label="x"), y=Axis(label="y", logarithmic=logarithmic), lines=())
    return MeasuredPanel(panel=axes, series=lines)  # type: ignore[arg-type]


def test_lines_that_stop_are_said_to_and_published_points_are_drawn(tmp_path: Path) -> None:
    lines = (
        series({1: spread(0.2), 2: spread(0.3)}, "whole"),
        series({1: UNREACHED, 2: spread(0.3)}, "late"),
        series({1: UNREACHED, 2: UNREACHED}, "never"),
        series({1: spread(0.3), 2: UNREACHED}, "early"),
    )
    marks = [
        Mark(panel=0, label="a point", x=1.0, y=0.25),
        Mark(panel=0, label="an upright line", x=2.0),
        Mark(panel=0, label="a level", above=0.2),
    ]
    with mpl.rc_context({"svg.fonttype": "none"}):  # so that words can be read in the file
        draw_panels([panel(*lines)], marks, title="T", caption="C", stem=tmp_path / "f")
    text = (tmp_path / "f.svg").read_text()
    for word in ("whole<", "late (from 2)", "never (not reached)", "early (in part)"):
        assert word in text
    for mark in marks:
        assert mark.label in text


def test_a_panel_without_any_point_says_so(tmp_path: Path) -> None:
    nothing = series({1: UNREACHED, 2: UNREACHED})
    draw_panels([panel(nothing, logarithmic=True)], [], title="T", caption="C", stem=tmp_path / "f")
    assert (tmp_path / "f.png").exists()


def test_the_same_numbers_give_the_same_pictures(tmp_path: Path) -> None:
    for name in ("a", "b"):
        line = series({1: spread(0.2), 2: spread(0.3)})
        draw_panels([panel(line)], [], title="T", caption="C", stem=tmp_path / name)
    for ending in (".svg", ".png"):
        one, other = ((tmp_path / f"{name}{ending}").read_bytes() for name in ("a", "b"))
        assert one == other


def test_what_somebody_typed_is_text_on_the_page() -> None:
    hostile = "<script>alert(1)</script>&\"'"
    table = Table(header=(hostile,), rows=((Cell(hostile, True),),), note=hostile)
    html = _table(table, "Fig. 9")
    assert "<script>" not in html
    assert html.count("&lt;script&gt;") == 3


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    require_ours(tmp_path / "new" / "folder")
    assert (tmp_path / "new" / "folder").is_dir()
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match=r"new, which is not part of a reproduction|thesis\.tex"):
        require_ours(tmp_path)


def test_trials_of_an_evaluation_are_drawn_even_without_values(tmp_path: Path) -> None:
    one = score(small_result(), np.full(6, 1 / 6))
    scores = [one, replace(one, ndcg=0.5, query_l1=math.nan)]
    draw_distributions(scores, caption="C", stem=tmp_path / "measures")
    assert (tmp_path / "measures.svg").stat().st_size > 1000


@pytest.mark.parametrize("relay", [math.nan, 0.02])
def test_relay_clients_have_a_column_if_there_are_any(tmp_path: Path, relay: float) -> None:
    one = score(small_result(), np.full(6, 1 / 6))
    scores = [replace(one, ndcg_relay=relay, query_l1_relay=relay), one]
    with mpl.rc_context({"svg.fonttype": "none"}):
        draw_distributions(scores, caption="C", stem=tmp_path / "measures")
    picture = (tmp_path / "measures.svg").read_text()
    assert picture.count(">relay<") == (0 if math.isnan(relay) else 2)
    assert picture.count(">opt-in<") == 2
