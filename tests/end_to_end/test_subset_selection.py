"""Clients of a list with subset selection, from a log or one by one, to the collector's counts."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from end_to_end.conftest import USERS, BlenderDp

from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.estimate_client_probabilities.sharp import client_estimates
from blender_dp.core.estimation.client_views import ClientViews
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.wire.documents.document import write_document
from blender_dp.wire.published.estimates import read_clients
from blender_dp.wire.published.head_list import head_list_document, read_head_list
from blender_dp.wire.reports.report import count_reports

MECHANISM = SubsetSelectionMechanism(epsilon=4.0, query_share=0.25)


@pytest.fixture
def published(result: Path, tmp_path: Path) -> Path:
    """Publish the list of a run, but with subset selection."""
    found = read_head_list(result / "head_list.json")
    path = tmp_path / "head_list.json"
    write_document(path, head_list_document(replace(found, mechanism=MECHANISM)))
    return path


def sharp(published: Path) -> HeadList:
    return read_head_list(published)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_a_log_becomes_reports_and_reports_become_counts(
    blender_dp: BlenderDp, log: Path, published: Path, tmp_path: Path, suffix: str
) -> None:
    reports, clients = tmp_path / f"reports.{suffix}", tmp_path / "clients.json"
    blender_dp("privatize", published, log, "-o", reports, "--seed=5")
    blender_dp("estimate", published, reports, "-o", clients)
    counts = read_clients(clients, sharp(published))
    estimates = client_estimates(counts, sharp(published).cells, MECHANISM)
    views = estimates.evidence
    assert isinstance(views, ClientViews)
    assert views.records is not None
    assert views.queries is not None
    assert views.queries.reports == round(USERS / 4)
    assert views.records.reports == USERS - round(USERS / 4)
    assert estimates.cells.probability.sum() == pytest.approx(1)
    assert estimates.queries.probability.sum() == pytest.approx(1)
    # What both questions say of the queries differs by chance only: 10 standard errors.
    cells = sharp(published).cells
    difference = cells.by_query(estimates.cells.probability) - estimates.queries.probability
    variance = cells.by_query(estimates.cells.variance) + estimates.queries.variance
    assert np.all(np.abs(difference) < 10 * np.sqrt(variance))


def test_devices_report_one_by_one(
    blender_dp: BlenderDp, published: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    for _ in range(12):
        blender_dp("privatize", published, "--record", "google", "google.com", "--seed=5")
    lines = capsys.readouterr().out.splitlines()
    path = tmp_path / "reports.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    counts = count_reports(path, sharp(published))
    assert counts.cell_reports + counts.query_reports == 12
    assert {len(json.loads(line)) for line in lines} == {5}
