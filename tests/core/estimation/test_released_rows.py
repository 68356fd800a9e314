"""The result as rows: every cell once, ⋆ as None, most probable first, and no NaN."""

import math

import pytest
from core.small_result import HEAD_LIST, empty_result, small_result

from blender_dp.core.estimation.released_rows import query_rows, record_rows

NUMBERS = [
    "probability",
    "std_error",
    "low",
    "high",
    "opt_in_probability",
    "client_probability",
    "opt_in_weight",
    "raw_probability",
    "opt_in_std_error",
    "client_std_error",
]


def rows(columns: dict[str, object]) -> list[dict[str, object]]:
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def by_cell() -> dict[tuple[object, object], dict[str, object]]:
    found = rows(dict(record_rows(small_result())))
    return {(row["query"], row["url"]): row for row in found}


def test_every_cell_is_a_row_and_the_star_is_no_string() -> None:
    cells = {key: row["cell"] for key, row in by_cell().items()}
    assert cells == {
        ("a", "1"): "record",
        ("a", "2"): "record",
        ("a", None): "other_url",
        ("b", "1"): "record",
        ("b", None): "other_url",
        (None, None): "other",
    }


def test_every_query_is_a_row() -> None:
    found = {row["query"]: row["cell"] for row in rows(dict(query_rows(small_result())))}
    assert found == {"a": "query", "b": "query", None: "other"}


def test_the_columns_are_these_in_this_order() -> None:
    assert list(query_rows(small_result())) == ["cell", "query", *NUMBERS]
    assert list(record_rows(small_result())) == [
        *("cell", "query", "url"),
        *NUMBERS,
        *("opt_in_noisy_count", "client_report_count"),
    ]


@pytest.mark.parametrize("table", [record_rows, query_rows])
def test_the_most_probable_come_first(table: object) -> None:
    assert callable(table)
    shown = table(small_result())["probability"]
    assert shown == sorted(shown, reverse=True)
    assert sum(shown) == pytest.approx(1)


def test_where_the_opt_in_users_say_nothing_there_is_none() -> None:
    for key in (("a", None), ("b", None)):
        row = by_cell()[key]
        assert row["opt_in_probability"] is None
        assert row["opt_in_std_error"] is None
        assert row["opt_in_noisy_count"] is None
        assert row["opt_in_weight"] == 0
        assert row["client_probability"] == row["raw_probability"]


def test_a_negative_variance_has_no_standard_error() -> None:
    """Flaw F1 at ⟨a,2⟩: its own error is None; the blend's too if its variance is negative."""
    row = by_cell()["a", "2"]
    assert row["opt_in_std_error"] is None
    assert row["opt_in_probability"] == -0.03


def test_a_blend_with_a_negative_opt_in_variance_has_no_interval() -> None:
    """Its own variance may come out positive and would claim a precision it has not."""
    rows_by_cell = by_cell()
    unsound = [
        row for row in rows_by_cell.values() if not 0 <= float(str(row["opt_in_weight"])) <= 1
    ]
    assert unsound
    for row in unsound:
        assert (row["std_error"], row["low"], row["high"]) == (None, None, None)


def test_the_released_integers_stand_beside_their_quotients() -> None:
    table = by_cell()
    assert [table[key]["opt_in_noisy_count"] for key in (("a", "1"), ("b", "1"))] == [20, 30]
    assert table[None, None]["opt_in_noisy_count"] == 53
    assert table["a", "1"]["opt_in_probability"] == 0.2
    assert [table[key]["client_report_count"] for key in (("a", "1"), ("a", None))] == [210, 60]
    for row in table.values():
        for name in ("opt_in_noisy_count", "client_report_count"):
            assert row[name] is None or type(row[name]) is int


@pytest.mark.parametrize("result", [small_result(), empty_result()])
def test_no_number_is_not_a_number(result: object) -> None:
    for table in (record_rows, query_rows):
        for column in table(result).values():  # type: ignore[arg-type]  # two results
            for value in column:
                assert not isinstance(value, float) or math.isfinite(value)
                assert value is None or type(value) in (float, int, str)


def test_without_projection_the_weighted_mean_is_shown() -> None:
    """Reading R7: switchable, and both are there."""
    raw = rows(dict(record_rows(small_result(project=False))))
    assert all(row["probability"] == row["raw_probability"] for row in raw)
    projected = rows(dict(record_rows(small_result())))
    assert any(row["probability"] != row["raw_probability"] for row in projected)
    assert all(float(str(row["probability"])) >= 0 for row in projected)


def test_ties_stay_in_the_order_of_the_cells() -> None:
    """Two cells projected to zero keep their order."""
    result = small_result()
    shown = result.blended.cells.projected
    zeros = [cell for cell in range(6) if shown[cell] == 0]
    names = [
        (q, u)
        for q, u in zip(record_rows(result)["query"], record_rows(result)["url"], strict=True)
    ]
    in_order = [("a", "1"), ("a", "2"), ("a", None), ("b", "1"), ("b", None), (None, None)]
    assert names[len(names) - len(zeros) :] == [in_order[cell] for cell in zeros]


def test_an_empty_head_list_is_one_row() -> None:
    assert rows(dict(query_rows(empty_result())))[0]["cell"] == "other"
    (row,) = rows(dict(record_rows(empty_result())))
    assert (row["cell"], row["query"], row["url"]) == ("other", None, None)
    assert row["probability"] == 1


def test_the_names_are_those_of_the_head_list() -> None:
    table = record_rows(small_result())
    named = {(q, u) for q, u in zip(table["query"], table["url"], strict=True) if u is not None}
    assert named == set(HEAD_LIST.records())
