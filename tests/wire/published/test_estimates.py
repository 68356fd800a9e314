"""What each side hands to the blend: read as written, and only with its own head list."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire.lists import LIST, OTHER_LIST, SHARP_LIST, write_json, write_with_digest

from blender_dp.core.blender import PRESETS, Curated
from blender_dp.core.channels.local_alg import LocalAlgChannel
from blender_dp.core.errors import HeadListMismatchError, InputError
from blender_dp.core.estimate_client_probabilities.paper import client_estimates
from blender_dp.core.estimate_optin_probabilities.paper import opt_in_estimates
from blender_dp.core.estimation.client_views import ClientViews
from blender_dp.core.estimation.estimates import GroupEstimates
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters, Preset
from blender_dp.core.population import ReportCounts, ReportingClients
from blender_dp.wire.documents.document import write_document
from blender_dp.wire.published.estimates import (
    client_document,
    opt_in_document,
    read_clients,
    read_opt_in,
)
from logs import PLANTED

PARAMETERS = Parameters(preset="paper", epsilon=4.0, delta=1e-5, head_list_size=3)
LISTED = len(LIST.records())
CELLS = LIST.cells.cell_count

noisy_counts = st.lists(st.integers(-(10**6), 10**9), min_size=LISTED + 1, max_size=LISTED + 1)
report_counts = st.lists(st.integers(0, 10**9), min_size=CELLS, max_size=CELLS).filter(
    lambda counts: sum(counts) >= 2
)
parameter_sets = st.builds(
    Parameters,
    epsilon=st.floats(1e-6, 1e3),
    delta=st.floats(1e-300, 0.5),
    head_list_size=st.none() | st.integers(1, 10**9),
    head_list_user_fraction=st.floats(0.01, 0.99),
    query_budget_fraction=st.floats(0.01, 0.99),
    records_per_optin_user=st.integers(1, 9),
    records_per_client=st.integers(1, 9),
    project=st.booleans(),
    preset=st.just("paper"),
)


def curated(noisy: list[int], parameters: Parameters = PARAMETERS) -> Curated:
    estimates = opt_in_estimates(
        np.array(noisy, dtype=np.int64),
        LIST.cells,
        total=parameters.records_per_optin_user * 50,
        scale=parameters.laplace_scale,
    )
    return Curated(
        parameters=parameters,
        opt_in_users=1000,
        discovery_users=950,
        estimation_users=50,
        candidate_queries=4,
        candidate_records=7,
        choice=None,
        head_list=LIST,
        opt_in=estimates,
    )


def counted(cells: IntArray) -> ReportCounts:
    return ReportCounts(
        cells=cells,
        cell_reports=int(cells.sum()),
        queries=np.zeros(LIST.cells.query_count, dtype=np.int64),
        query_reports=0,
    )


def client_side(path: Path, head_list: HeadList, preset: Preset) -> GroupEstimates:
    reporting = ReportingClients(counts=read_clients(path, head_list), records_per_client=1)
    return PRESETS[preset].estimate_client_probabilities(reporting, head_list)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("estimates")


@settings(deadline=None)
@given(noisy=noisy_counts, parameters=parameter_sets)
def test_the_curators_side_is_read_as_it_was_written(
    folder: Path, noisy: list[int], parameters: Parameters
) -> None:
    written = curated(noisy, parameters)
    path = folder / "opt_in_estimates.json"
    write_document(path, opt_in_document(written))
    found = read_opt_in(path, LIST).estimate()
    assert found.parameters == parameters
    assert found.head_list == LIST
    assert (found.discovery_users, found.estimation_users) == (950, 50)
    assert (found.candidate_queries, found.candidate_records) == (4, 7)
    assert found.opt_in.total == written.opt_in.total
    np.testing.assert_array_equal(found.opt_in.counts, written.opt_in.counts)
    for level in ("cells", "queries"):
        ours, theirs = getattr(found.opt_in, level), getattr(written.opt_in, level)
        np.testing.assert_array_equal(ours.probability, theirs.probability)
        np.testing.assert_array_equal(ours.variance, theirs.variance)


@settings(deadline=None)
@given(counts=report_counts)
def test_the_clients_side_is_read_as_it_was_written(folder: Path, counts: list[int]) -> None:
    array = np.array(counts, dtype=np.int64)
    path = folder / "client_estimates.json"
    write_document(path, client_document(LIST, counted(array)))
    found = client_side(path, LIST, "paper")
    written = client_estimates(array, LocalAlgChannel.of(LIST.cells, LIST.mechanism))
    assert found.total == written.total == sum(counts)
    np.testing.assert_array_equal(found.counts, array)
    np.testing.assert_array_equal(found.cells.probability, written.cells.probability)
    np.testing.assert_array_equal(found.queries.variance, written.queries.variance)


OPT_IN = opt_in_document(curated(list(range(LISTED + 1))))
CLIENTS = client_document(LIST, counted(np.arange(CELLS)))


@pytest.mark.parametrize(("document", "read"), [(OPT_IN, read_opt_in), (CLIENTS, read_clients)])
def test_estimates_of_another_list_are_refused(tmp_path: Path, document: Any, read: Any) -> None:
    path = write_json(tmp_path / "estimates.json", document)
    with pytest.raises(HeadListMismatchError) as refusal:
        read(path, OTHER_LIST)
    assert str(refusal.value) == f"{path}: belongs to another head list"


@pytest.mark.parametrize(("document", "read"), [(OPT_IN, read_clients), (CLIENTS, read_opt_in)])
def test_one_side_does_not_pass_for_the_other(tmp_path: Path, document: Any, read: Any) -> None:
    path = write_json(tmp_path / "estimates.json", document)
    with pytest.raises(InputError, match="field format"):
        read(path, LIST)


@pytest.mark.parametrize(("document", "read"), [(OPT_IN, read_opt_in), (CLIENTS, read_clients)])
def test_an_edit_of_any_field_is_noticed(tmp_path: Path, document: Any, read: Any) -> None:
    for field in set(document) - {"format", "version"}:
        path = write_json(tmp_path / "estimates.json", {**document, field: PLANTED})
        with pytest.raises(InputError) as refusal:
            read(path, LIST)
        assert str(refusal.value).startswith(f"{path}, field digest: ")
        assert PLANTED not in str(refusal.value)


BAD_COUNTS: dict[str, Any] = {
    "null": None,
    "a number": 3,
    "a word": PLANTED,
    "an object": {PLANTED: 1},
    "none": [],
    "a float": 1.5,
    "a whole float": 1.0,
    "a string": "1",
    "a secret": PLANTED,
    "nothing": None,
    "true": True,
    "a list": [1],
    "beyond 64 bits": 2**63,
}
WHOLE = ("null", "a number", "a word", "an object", "none")


def bad_counts(case: str, length: int) -> Any:
    bad = BAD_COUNTS[case]
    return bad if case in WHOLE else [*range(length - 1), bad]


def refused(path: Path, read: Any, field: str) -> None:
    with pytest.raises(InputError) as refusal:
        read(path, LIST)
    message = str(refusal.value)
    assert message.startswith(f"{path}, field {field}: ")
    assert "\n" not in message
    assert PLANTED not in message


@pytest.mark.parametrize("case", BAD_COUNTS)
def test_noisy_counts_are_whole_numbers_one_a_record(tmp_path: Path, case: str) -> None:
    document = {**OPT_IN, "noisy_counts": bad_counts(case, LISTED + 1)}
    refused(write_with_digest(tmp_path / "opt_in.json", document), read_opt_in, "noisy_counts")


@pytest.mark.parametrize("case", BAD_COUNTS)
def test_report_counts_are_whole_numbers_one_a_cell(tmp_path: Path, case: str) -> None:
    document = {**CLIENTS, "report_counts": bad_counts(case, CELLS)}
    refused(write_with_digest(tmp_path / "clients.json", document), read_clients, "report_counts")


@pytest.mark.parametrize(
    "counts",
    [[0] * CELLS, [1] + [0] * (CELLS - 1), [9] * (CELLS - 1) + [-1], [1] * (CELLS + 1), [1]],
    ids=["no report", "one report", "a negative count", "too many", "too few"],
)
def test_report_counts_are_those_of_two_reports_or_more(tmp_path: Path, counts: list[int]) -> None:
    document = {**CLIENTS, "report_counts": counts}
    refused(write_with_digest(tmp_path / "clients.json", document), read_clients, "report_counts")


@pytest.mark.parametrize(
    "counts",
    [[2**62] * CELLS, [2**63 - 1, 1, *[0] * (CELLS - 2)], [*[2**62] * 4, *[5] * (CELLS - 4)]],
)
def test_report_counts_that_overflow_together_are_refused(
    tmp_path: Path, counts: list[int]
) -> None:
    document = {**CLIENTS, "report_counts": counts}
    refused(write_with_digest(tmp_path / "clients.json", document), read_clients, "report_counts")


def named(cells: list[int], queries: list[int], cell_reports: int, query_reports: int) -> Any:
    reports = ReportCounts(
        cells=np.array(cells),
        cell_reports=cell_reports,
        queries=np.array(queries),
        query_reports=query_reports,
    )
    return client_document(SHARP_LIST, reports)


NAMED = named([3, 1, 0, 4, 4, 0, 4, 4], [1, 0, 0, 2], cell_reports=10, query_reports=3)
"""Ten reports name two of eight cells each, three name one of four queries."""


def test_what_subsets_named_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = client_side(write_json(tmp_path / "clients.json", NAMED), SHARP_LIST, "sharp")
    views = found.evidence
    assert isinstance(views, ClientViews)
    assert views.queries is not None
    assert (found.total, views.queries.reports) == (10, 3)
    assert found.counts.tolist() == NAMED["report_counts"]
    assert np.argsort(-found.queries.probability, kind="stable").tolist() == [3, 0, 1, 2]
    assert found.cells.probability.sum() == pytest.approx(1)
    assert found.queries.probability.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("report_counts", [3, 1, 0, 4, 4, 0, 4, 3]),
        ("report_counts", [11, 1, 0, 4, 4, 0, 0, 0]),
        ("report_counts", [4, 1, -1, 4, 4, 0, 4, 4]),
        ("report_counts", [3, 1, 0, 4, 4, 0, 4]),
        ("query_report_counts", [1, 0, 0, 1]),
        ("query_report_counts", [4, 0, 0, -1]),
        ("query_report_counts", PLANTED),
        ("reports", 1),
        ("reports", "10"),
        ("reports", None),
        ("query_reports", -1),
        ("query_reports", True),
    ],
)
def test_counts_that_no_subsets_have_are_refused(tmp_path: Path, field: str, value: Any) -> None:
    path = write_with_digest(tmp_path / "clients.json", {**NAMED, field: value})
    with pytest.raises(InputError) as refusal:
        read_clients(path, SHARP_LIST)
    assert str(refusal.value).startswith(f"{path}, field {field}: ")
    assert PLANTED not in str(refusal.value)


@pytest.mark.parametrize("counted", ["opt_in_users", "discovery_users", "estimation_users"])
@pytest.mark.parametrize("value", [None, PLANTED, "50", 1.5, -1, 0, True, [50], 2**63])
def test_user_counts_are_whole_numbers(tmp_path: Path, counted: str, value: Any) -> None:
    document = {**OPT_IN, counted: value}
    refused(write_with_digest(tmp_path / "opt_in.json", document), read_opt_in, counted)


def test_one_estimating_user_is_too_few_for_a_variance(tmp_path: Path) -> None:
    document = {**OPT_IN, "estimation_users": 1}
    refused(write_with_digest(tmp_path / "opt_in.json", document), read_opt_in, "estimation_users")


@pytest.mark.parametrize("counted", ["candidate_queries", "candidate_records"])
@pytest.mark.parametrize("value", [None, PLANTED, 1.5, -1])
def test_candidate_counts_are_whole_numbers(tmp_path: Path, counted: str, value: Any) -> None:
    document = {**OPT_IN, counted: value}
    refused(write_with_digest(tmp_path / "opt_in.json", document), read_opt_in, counted)


BAD_PARAMETERS: dict[str, Any] = {
    "ε a word": {"epsilon": PLANTED},
    "ε null": {"epsilon": None},
    "ε not a number": {"epsilon": "nan"},
    "δ zero": {"delta": "0"},
    "f_O two": {"head_list_user_fraction": "2"},
    "M a word": {"head_list_size": PLANTED},
    "M zero": {"head_list_size": 0},
    "m_O half": {"records_per_optin_user": 1.5},
    "m_O a word": {"records_per_optin_user": PLANTED},
    "an unknown one": {PLANTED: 1},
    "an unknown preset": {"preset": PLANTED},
    "project a word": {"project": PLANTED},
}


@pytest.mark.parametrize("fields", BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_parameters_keep_their_rules(tmp_path: Path, fields: dict[str, Any]) -> None:
    document = {**OPT_IN, "parameters": {**OPT_IN["parameters"], **fields}}
    refused(write_with_digest(tmp_path / "opt_in.json", document), read_opt_in, "parameters")


@pytest.mark.parametrize("parameters", [None, PLANTED, [], {}, 4])
def test_parameters_are_an_object(tmp_path: Path, parameters: Any) -> None:
    document = {**OPT_IN, "parameters": parameters}
    refused(write_with_digest(tmp_path / "opt_in.json", document), read_opt_in, "parameters")


@pytest.mark.parametrize(
    "field", sorted(set(OPT_IN) - {"format", "version", "digest", "head_list", "private"})
)
def test_a_missing_field_is_named(tmp_path: Path, field: str) -> None:
    document = {name: value for name, value in OPT_IN.items() if name != field}
    refused(write_with_digest(tmp_path / "opt_in.json", document), read_opt_in, field)


def test_missing_report_counts_are_named(tmp_path: Path) -> None:
    document = {name: value for name, value in CLIENTS.items() if name != "report_counts"}
    refused(write_with_digest(tmp_path / "clients.json", document), read_clients, "report_counts")


@pytest.mark.parametrize(("document", "read"), [(OPT_IN, read_opt_in), (CLIENTS, read_clients)])
def test_estimates_that_name_no_list_are_refused(tmp_path: Path, document: Any, read: Any) -> None:
    unnamed = {name: value for name, value in document.items() if name != "head_list"}
    path = write_with_digest(tmp_path / "estimates.json", unnamed)
    with pytest.raises(HeadListMismatchError, match="belongs to another head list"):
        read(path, LIST)
