"""The page as a reader uses it, in a real browser without a network."""

import csv
import io
import math
from pathlib import Path
from typing import Any

import pytest
from pages.conftest import OpenReport
from pages.report_inputs import empty_release, make_release, make_run, with_query
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

MINUS = "\u2212"
UNSHOWN = {"format", "version"}
NOT_FOR_READERS = ("NaN", "None", "null", "undefined", "[object", "Infinity")


def column(page: Page, number: int) -> list[str]:
    return page.locator(f"#estimates tbody tr > :nth-child({number})").all_inner_texts()


def percentages(texts: list[str]) -> list[float]:
    return [float(text.replace("%", "").replace(MINUS, "-")) for text in texts]


def choose(page: Page, name: str, value: str) -> None:
    page.locator(f"label:has(input[name='{name}'][value='{value}'])").click()


def overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def test_the_summary_says_what_was_found_for_whom_at_which_privacy(
    open_report: OpenReport,
) -> None:
    page = open_report(make_release(), make_run())
    lead = page.locator("#lead").inner_text().replace("\u00a0", " ")
    assert lead.startswith("Among 519,371 users, 50 queries and 72 records")
    assert lead.endswith("of all searches, with every user promised ε = 4 and δ = 10⁻⁵.")
    expect(page.locator(".banner")).to_have_count(0)
    expect(page.locator("#ranking-title")).to_contain_text("google comes first, with 2.")


def test_sorting_by_a_number_changes_the_order_and_says_so(open_report: OpenReport) -> None:
    page = open_report(make_release(), make_run())
    page.locator("#table-stars").uncheck()
    head = page.get_by_role("columnheader", name="Clients")
    expect(head).to_have_attribute("aria-sort", "none")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    shown = percentages(column(page, 6))
    assert shown == sorted(shown, reverse=True)
    page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    shown = percentages(column(page, 6))
    assert shown == sorted(shown)
    expect(page.locator("[aria-sort=ascending], [aria-sort=descending]")).to_have_count(1)


def test_every_column_sorts_and_absent_values_come_last_both_ways(open_report: OpenReport) -> None:
    page = open_report(make_release(), make_run())
    choose(page, "table-what", "records")
    buttons = page.locator("#estimates thead button")
    assert buttons.count() == 8
    for number in range(buttons.count()):
        for _ in range(2):
            buttons.nth(number).click()
            page.locator("#table-filter").fill("google")
            texts = column(page, number + 1)
            absent = [text.startswith(("–", "★")) for text in texts]
            assert absent == sorted(absent)
            page.locator("#table-filter").fill("")


def test_the_filter_narrows_to_rows_with_the_text_in_query_or_url(open_report: OpenReport) -> None:
    page = open_report(make_release(), make_run())
    page.locator("#table-filter").fill("YAHOO")
    assert sorted(column(page, 1)) == ["yahoo", "yahoo mail"]
    expect(page.locator("#table-count")).to_have_text("Rows 1 to 2 of 2")
    choose(page, "table-what", "records")
    page.locator("#table-filter").fill("yahoomail.com")
    assert column(page, 1) == ["yahoo mail"]
    page.locator("#table-filter").fill("no such text")
    expect(page.locator("#table-count")).to_have_text("No rows match.")
    expect(page.locator("#table-save")).to_be_disabled()


def test_the_checkbox_hides_and_shows_the_rows_of_what_is_not_listed(
    open_report: OpenReport,
) -> None:
    page = open_report(make_release(), make_run())
    choose(page, "table-what", "records")
    expect(page.locator("#table-count")).to_have_text("Rows 1 to 50 of 123")
    page.locator("#table-stars").uncheck()
    expect(page.locator("#table-count")).to_have_text("Rows 1 to 50 of 72")
    expect(page.locator("#estimates .wildcard")).to_have_count(0)
    page.locator("#page-on").click()
    expect(page.locator("#table-count")).to_have_text("Rows 51 to 72 of 72")
    expect(page.locator("#page-on")).to_be_disabled()


@pytest.mark.parametrize("text", ["★", "everything else", "any other page", "★ everything else"])
def test_a_query_that_reads_like_a_wildcard_does_not_look_like_one(
    open_report: OpenReport, text: str
) -> None:
    page = open_report(with_query(make_release(), text), make_run())
    rows = page.locator("#estimates tbody tr")
    expect(rows.nth(0).locator(".wildcard")).to_have_count(1)
    expect(rows.nth(1).locator(".wildcard")).to_have_count(0)
    expect(rows.nth(1).locator("bdi.typed")).to_have_text(text)


def test_the_theme_toggles_and_is_remembered(open_report: OpenReport) -> None:
    page = open_report(make_release(), make_run())
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Switch to the dark theme").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Switch to the light theme").click()
    assert page.evaluate(ground) == light


def test_the_page_works_where_storage_is_refused(open_report: OpenReport) -> None:
    page = open_report(make_release(), make_run())
    page.add_init_script(  # the page is not used again: it cannot forget what it keeps
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('refused'); } });"
    )
    page.reload()
    page.get_by_role("button", name="Switch to the dark theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_legend_hides_and_shows_each_series(open_report: OpenReport) -> None:
    page = open_report(make_release(), make_run())
    for series in ("opt-in", "blend", "clients"):
        marks = page.locator(f".ranking-row .estimate.series-{series}")
        button = page.locator(f"#ranking-legend [data-series='{series}']")
        expect(marks).to_have_count(25)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "false")
        expect(marks).to_have_count(0)
        button.click()
        expect(marks).to_have_count(25)


def test_all_series_can_be_hidden_at_once(open_report: OpenReport) -> None:
    page = open_report(make_release(), make_run())
    for button in page.locator(".legend-button").all():
        button.click()
    expect(page.locator(".ranking-row .estimate")).to_have_count(0)
    expect(page.locator("#shape-plane .curve-points")).to_have_count(0)


def test_the_ranking_shows_as_many_rows_as_asked_for(open_report: OpenReport) -> None:
    page = open_report(make_release(), make_run())
    rows = page.locator(".ranking-row")
    expect(rows).to_have_count(25)
    choose(page, "ranking-rows", "10")
    expect(rows).to_have_count(10)
    choose(page, "ranking-what", "records")
    choose(page, "ranking-rows", "100")
    expect(rows).to_have_count(72)
    choose(page, "ranking-what", "queries")
    expect(rows).to_have_count(50)


def test_a_mark_stands_where_its_tick_says_on_both_axes(open_report: OpenReport) -> None:
    release = make_release()
    release["queries"][1].update(probability=0.02, low=0.0199, high=0.0201)
    page = open_report(release, make_run())
    for axis in ("linear", "log"):
        choose(page, "ranking-axis", axis)
        tick = page.locator(".tick", has_text="2\u00a0%").last.bounding_box()
        mark = page.locator(".ranking-row .series-blend path").first.bounding_box()
        assert tick is not None
        assert mark is not None
        middle = tick["x"] + tick["width"] / 2
        assert mark["x"] + mark["width"] / 2 == pytest.approx(middle, abs=1.5)


@pytest.mark.parametrize("width", [360, 1024])
def test_the_grid_stands_under_the_numbers_of_the_axis(open_report: OpenReport, width: int) -> None:
    page = open_report(make_release(), make_run())
    page.set_viewport_size({"width": width, "height": 900})
    centres = "nodes => nodes.map(n => { const r = n.getBoundingClientRect();"
    centres += " return r.width || r.height ? r.left + r.width / 2 : null; })"
    ticks = page.locator("#ranking-axis .tick").evaluate_all(centres)
    grid = page.locator(".ranking-row").first.locator(".grid").evaluate_all(centres)
    assert len(ticks) == len(grid) >= 3
    shown = [(tick, line) for tick, line in zip(ticks, grid, strict=True) if tick is not None]
    assert shown == [(pytest.approx(line, abs=1), line) for _, line in shown]


def test_equal_steps_are_equally_long_on_the_linear_axis_and_equal_ratios_on_the_log_axis(
    open_report: OpenReport,
) -> None:
    release = make_release()
    release["queries"][1].update(probability=0.05, low=0.0499, high=0.05)
    release["queries"][1].update(opt_in_probability=0.05, opt_in_std_error=None)
    page = open_report(release, make_run())
    for axis, scaled in (("linear", float), ("log", math.log10)):
        choose(page, "ranking-axis", axis)
        ticks = page.locator(".tick")
        values = [scaled(value) for value in percentages(ticks.all_inner_texts())]
        places = [
            float(left.rstrip("%"))
            for left in ticks.evaluate_all("ticks => ticks.map(tick => tick.style.left)")
        ]
        lengths = [
            (places[i + 1] - places[i]) / (values[i + 1] - values[i])
            for i in range(len(values) - 1)
        ]
        assert lengths == pytest.approx([lengths[0]] * len(lengths), rel=1e-3)
        assert min(places) >= 0
        assert max(places) == pytest.approx(100, abs=12)
        assert max(places) <= 100.001


def test_a_row_tells_its_numbers_on_hover_and_on_focus(open_report: OpenReport) -> None:
    page = open_report(make_release(), make_run())
    tooltip = page.locator("#tooltip")
    page.locator(".ranking-row").nth(2).hover()
    expect(tooltip).to_contain_text("3. ebay")
    expect(tooltip).to_contain_text("Opt-in weight")
    page.mouse.move(5, 300)
    expect(tooltip).to_be_hidden()
    page.locator("#ranking-legend button").last.focus()
    page.keyboard.press("Tab")
    expect(tooltip).to_contain_text("1. google")
    page.keyboard.press("ArrowDown")
    expect(tooltip).to_contain_text("2. yahoo")
    page.keyboard.press("Escape")
    expect(tooltip).to_be_hidden()


@pytest.mark.parametrize(("plane", "words"), [("shape", "Rank 1"), ("weights", "Opt-in weight")])
def test_the_points_of_a_chart_are_read_by_arrow_keys(
    open_report: OpenReport, plane: str, words: str
) -> None:
    page = open_report(make_release(), make_run())
    page.locator(f"#{plane}-plane svg").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tooltip")).to_contain_text(words)
    expect(page.locator("#spoken")).to_contain_text("of rank 1:")


def test_weights_outside_0_to_1_are_counted_and_marked(open_report: OpenReport) -> None:
    release = make_release()
    listed = [row for row in release["records"] if row["cell"] == "record"]
    for row in listed:
        row["opt_in_weight"] = 0.25
    listed[3]["opt_in_weight"] = -0.5
    listed[4]["opt_in_weight"] = 1e6
    listed[5]["opt_in_weight"] = None
    page = open_report(release, make_run())
    choose(page, "weights-what", "records")
    note = page.locator("#weights-footnote")
    expect(note).to_contain_text(f"2 weights lie outside 0 to 1 (from {MINUS}0.5 to 1,000,000)")
    expect(note).to_contain_text("1 record has no weight")
    for kind, shapes in (("points", 69), ("outside", 1), ("beyond", 1)):
        path = page.locator(f".weight-{kind}").get_attribute("d") or ""
        assert path.count("M") == shapes


@pytest.mark.parametrize("what", ["queries", "records"])
def test_chart_and_table_count_the_same_weights_outside_0_to_1(
    open_report: OpenReport, what: str
) -> None:
    release = make_release()
    for row in release[what]:
        row["opt_in_weight"] = None if row["opt_in_weight"] is None else 0.25
    listed = [row for row in release[what] if row["cell"] in ("query", "record")]
    for row in (release[what][0], *listed[7:13]):  # the first is everything else
        row["opt_in_weight"] = 1.5
    page = open_report(release, make_run())
    for name in ("weights-what", "table-what"):
        choose(page, name, what)
    expect(page.locator(".weight-flag")).to_have_count(7)
    note = page.locator("#weights-footnote")
    expect(note).to_contain_text("7 weights lie outside 0 to 1 (1.5)")
    expect(note).to_contain_text("1 of them stand in the table only")
    expect(page.locator("#weights-title")).to_contain_text(f"opt-in weight of {what} is 0.25")


def test_a_blend_outside_both_groups_is_explained(open_report: OpenReport) -> None:
    release = make_release() | {"preset": "sharp"}
    for row in release["queries"]:
        row.update(opt_in_probability=row["probability"], client_probability=row["probability"])
    note = open_report(release, make_run()).locator("#ranking-footnote")
    expect(note).not_to_contain_text("outside the estimates of both")
    release["queries"][2].update(opt_in_probability=0.0, client_probability=0.001)
    note = open_report(release, make_run()).locator("#ranking-footnote")
    expect(note).to_contain_text(
        "In 1 row the blend lies outside the estimates of both groups: all"
    )


def test_relay_clients_have_columns_of_their_own(open_report: OpenReport) -> None:
    release = make_release() | {"preset": "sharp"}
    page = open_report(release, make_run())
    expect(page.get_by_role("columnheader", name="Relay")).to_have_count(0)
    for row in release["queries"]:
        row.update(
            opt_in_probability=0.0,
            client_probability=None,
            relay_probability=2 * row["probability"],
            relay_weight=0.875,
        )
    release["users"]["relay_clients"] = 1_234
    page = open_report(release, make_run())
    expect(page.get_by_role("columnheader", name="Relay")).to_have_count(2)
    expect(page.locator("#estimates tbody tr").first).to_contain_text("0.875")
    expect(page.locator("body")).to_contain_text("Relay clients")
    expect(page.locator("#ranking-footnote")).not_to_contain_text("outside the estimates")
    release["queries"][2].update(relay_probability=0.0)
    note = open_report(release, make_run()).locator("#ranking-footnote")
    expect(note).to_contain_text("In 1 row the blend lies outside the estimates of all groups")


def relay_release(*, share: float = 0.5) -> dict[str, Any]:
    """Return a release with relay clients; all clients are if the share is 1."""
    release = make_release() | {"preset": "sharp", "relay_drift": None}
    for row in (*release["queries"], *release["records"]):
        row.update(
            opt_in_weight=0.25,
            relay_probability=row["probability"],
            relay_std_error=0.001,
            relay_weight=0.625,
        )
        if share == 1:
            row.update(client_probability=None, client_std_error=None, relay_weight=0.75)
    release["users"]["relay_clients"] = 1_234
    return release


@pytest.mark.parametrize("share", [0.5, 1])
def test_relay_clients_have_marks_and_weights_of_their_own(
    open_report: OpenReport, share: float
) -> None:
    page = open_report(relay_release(share=share), make_run())
    row = page.locator(".ranking-row").first
    groups = ["opt-in", "blend", "relay", *(["clients"] if share < 1 else [])]
    legend = page.locator("#ranking-legend [data-series]")
    assert legend.evaluate_all("all => all.map(one => one.dataset.series)") == groups
    places = [row.locator(f"svg.series-{group} g").get_attribute("transform") for group in groups]
    assert len(set(places)) == len(groups)
    number = "four" if share < 1 else "three"
    expect(page.locator("#ranking-caption")).to_contain_text(f"Each row has {number} estimates")
    expect(page.locator("#ranking-caption")).to_contain_text("from relay clients alone")
    expect(page.locator("#weights-title")).to_contain_text("Relay clients decide most")
    weights = page.locator("#weights-plane .series-relay .curve-points")
    expect(weights).to_have_count(1)
    local = page.locator("#weights-plane .series-clients .curve-points")
    expect(local).to_have_count(1 if share < 1 else 0)
    page.locator("#weights-legend [data-series=relay]").click()
    expect(weights).to_have_count(0)


def test_both_promises_to_relay_clients_and_the_comparison_are_shown(
    open_report: OpenReport,
) -> None:
    drift = {
        "p_value": 0.4,
        "is_significant": False,
        "sentence": "No difference between relay clients and local clients was found.",
        "widest": [{"query": "weather", "z": 1.5}, {"query": "news", "z": -0.5}],
    }
    promise = {"model": "relay", "delta": 0.0, "sentence": "A sentence."}
    run = make_run()
    run["promises"] = [
        promise | {"to": "1,234 relay clients, unless relay and collector collude", "epsilon": 1.0},
        promise | {"to": "1,234 relay clients, if relay and collector collude", "epsilon": 7.5},
    ]
    page = open_report(relay_release() | {"drift": drift, "relay_drift": drift}, run)
    expect(page.locator("#drift-title")).to_have_text(
        "Opt-in users and clients agree, as far as can be seen"
    )
    expect(page.locator("#relay-drift")).to_be_visible()
    expect(page.locator("#relay-drift-rows .drift-relay")).to_have_count(1)
    expect(page.locator("#drift-rows .drift-opt-in")).to_have_count(1)
    expect(page.locator("#relay-meaning")).to_be_visible()
    promised = page.locator(".promise", has_text="relay clients")
    expect(promised).to_contain_text(["ε = 1", "ε = 7.5"])
    page = open_report(make_release(), make_run())
    expect(page.locator("#relay-drift")).to_be_hidden()
    expect(page.locator("#relay-meaning")).to_be_hidden()
    expect(page.locator("#weights-legend")).to_be_empty()


def test_a_batch_that_is_not_in_the_result_is_told_and_nothing_is_promised(
    open_report: OpenReport,
) -> None:
    sentence = "No whole batch of the relay arrived in time, so no relay client is in the result."
    run = make_run()
    account = run["certificate"]["accounts"][0]
    run["certificate"]["accounts"].append(
        account | {"to": "relay clients, unless relay and collector collude", "model": "relay"}
    )
    batch = {"outcome": "absent", "sentence": sentence}
    page = open_report(make_release() | {"relay_batch": batch}, run)
    expect(page.locator("#notes")).to_contain_text(sentence)
    expect(page.locator(".promise", has_text="Relay clients")).to_contain_text(sentence)
    expect(page.locator(".promise", has_text="Relay clients")).not_to_contain_text("ε")
    certificate = page.locator(".fact-card", has_text="Certificate")
    expect(certificate).to_contain_text(sentence)
    expect(certificate).not_to_contain_text("work together")
    page = open_report(make_release() | {"relay_batch": batch | {"outcome": "counted"}}, run)
    expect(page.locator("#notes")).not_to_contain_text(sentence)
    expect(page.locator(".fact-card", has_text="Certificate")).to_contain_text(
        "as long as relay and organisation do not work together"
    )


def test_the_shown_table_is_saved_as_csv_without_formulas(
    open_report: OpenReport, tmp_path: Path
) -> None:
    formula = '=HYPERLINK("x","y"),\n1'
    release = with_query(make_release(), formula)
    page = open_report(release, make_run())
    choose(page, "table-what", "records")
    page.locator("#table-filter").fill("hyperlink")
    with page.expect_download() as download:
        page.locator("#table-save").click()
    assert download.value.suggested_filename == "records-shown.csv"
    download.value.save_as(tmp_path / "saved.csv")
    text = (tmp_path / "saved.csv").read_bytes().decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    listed = next(row for row in release["records"] if row["cell"] == "record")
    assert row["query"] == row["url"] == f"'{formula}"
    assert row["cell"] == "record"
    assert float(row["probability"]) == listed["probability"]


def test_the_saved_table_has_all_pages_in_the_shown_order(
    open_report: OpenReport, tmp_path: Path
) -> None:
    page = open_report(make_release(), make_run())
    page.locator("#estimates [data-column=query]").click()
    with page.expect_download() as download:
        page.locator("#table-save").click()
    download.value.save_as(tmp_path / "saved.csv")
    with (tmp_path / "saved.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 51
    names = [row["query"] for row in rows]
    assert names[:-1] == sorted(names[:-1])
    assert rows[-1] | {"cell": "other", "query": ""} == rows[-1]


@pytest.mark.parametrize("width", [360, 1024, 1920])
def test_nothing_overflows_the_width_of_the_window(open_report: OpenReport, width: int) -> None:
    long = "a-very-long-search-without-any-space-" * 12
    page = open_report(with_query(make_release(), long), make_run(), width=width)
    assert overflow(page) <= 0
    choose(page, "ranking-what", "records")
    choose(page, "table-what", "records")
    assert overflow(page) <= 0


def test_a_clipped_query_is_shown_whole_on_focus(open_report: OpenReport) -> None:
    long = "a very long search " * 12
    page = open_report(with_query(make_release(), long), make_run(), width=360)
    clipped = page.locator("#estimates .clip.is-clipped").first
    clipped.focus()
    expect(page.locator("#tooltip")).to_contain_text(long.strip())


def test_markup_in_a_query_stays_text(open_report: OpenReport) -> None:
    text = "</script><img src=x onerror=\"document.title='broken'\"><b>bold</b>"
    page = open_report(with_query(make_release(), text), make_run())
    expect(page.locator("#estimates tbody tr").nth(1)).to_contain_text(text)
    assert page.locator("img").count() == 0
    assert page.title() == "blender-dp report"


def test_a_list_of_queries_offers_no_records(open_report: OpenReport) -> None:
    release = make_release()
    release["records"] = [row for row in release["records"] if row.get("cell") != "record"]
    for row in release["queries"]:
        row["opt_in_weight"] = 0.9977
    page = open_report(release, make_run())
    expect(page.locator("#weights-title")).to_contain_text("weight of queries is 0.998")
    for part in ("ranking", "weights", "table"):
        expect(page.locator(f"input[name={part}-what][value=records]")).to_be_hidden()


def test_an_empty_head_list_is_explained(open_report: OpenReport) -> None:
    page = open_report(empty_release(), make_run())
    expect(page.locator("#lead")).to_contain_text("no query was popular enough to be found")
    expect(page.locator(".callout").first).to_contain_text("The head list is empty")
    for section in ("#ranking", "#shape", "#weights"):
        expect(page.locator(section)).to_be_hidden()
    expect(page.locator("#estimates tbody tr")).to_have_count(1)
    expect(page.locator("#estimates .wildcard")).to_contain_text("everything else")


def test_an_experiment_and_synthetic_data_are_said_to_be_so(open_report: OpenReport) -> None:
    release, run = make_release(), make_run()
    page = open_report(release | {"private": False}, run | {"private": False, "synthetic": True})
    expect(page.locator(".banner-danger")).to_have_text(
        "Experiment: made with a seed, not private, do not publish."
    )
    expect(page.locator(".banner-info")).to_contain_text("Synthetic data")
    assert page.title().startswith("Not private")


def test_silence_about_privacy_is_not_taken_for_privacy(open_report: OpenReport) -> None:
    release = make_release()
    del release["private"]
    page = open_report(release, {})
    expect(page.locator(".banner-danger")).to_contain_text("treat it as not private")


@pytest.mark.parametrize("missing", sorted(set(make_run()) - UNSHOWN))
def test_a_missing_part_of_the_run_is_left_out(open_report: OpenReport, missing: str) -> None:
    run = make_run()
    del run[missing]
    text = open_report(make_release(5, 7), run).locator("body").inner_text()
    assert not [word for word in NOT_FOR_READERS if word in text]


@pytest.mark.parametrize("missing", sorted(set(make_release()) - UNSHOWN))
def test_a_missing_part_of_the_release_is_left_out(open_report: OpenReport, missing: str) -> None:
    release = make_release(5, 7)
    del release[missing]
    text = open_report(release, make_run()).locator("body").inner_text()
    assert not [word for word in NOT_FOR_READERS if word in text]


def test_a_row_with_only_its_probability_is_shown(open_report: OpenReport) -> None:
    release = make_release()
    keep = {"cell", "query", "url", "probability"}
    for row in [*release["records"], *release["queries"]]:
        row.update({name: None for name in row if name not in keep})
    page = open_report(release, make_run())
    expect(page.locator(".ranking-row .is-bare")).to_have_count(25)
    assert set(column(page, 3)) == {"–"}
    text = page.locator("body").inner_text()
    assert not [word for word in NOT_FOR_READERS if word in text]


def test_a_long_list_is_drawn_only_where_it_is_in_sight(open_report: OpenReport) -> None:
    page = open_report(make_release(3_000, 10_000), make_run())
    choose(page, "ranking-what", "records")
    choose(page, "ranking-rows", "all")
    rows = page.locator(".ranking-row")
    assert rows.count() < 200
    page.locator("#ranking-rows").evaluate("list => { list.scrollTop = list.scrollHeight; }")
    expect(rows.last.locator(".rank")).to_have_text("10,000")
    assert rows.count() < 200
    assert page.evaluate("document.querySelectorAll('*').length") < 6_000
