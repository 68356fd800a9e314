"""A whole campaign with 20,000 devices on a real service gives what ``run`` gives on their log."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from end_to_end.report_law import (
    Name,
    assert_reports_follow_the_log,
    expected_shares,
    named_counts,
    tail_bound,
    true_shares,
)
from running_service import RunningService, running_service

from blender_dp.cli import main
from blender_dp.client.released import FILES
from blender_dp.client.released_result import released_result
from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.errors import InputError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.local_alg.sharp import subset_counts
from blender_dp.core.parameters import exact
from blender_dp.wire.published.release import read_release
from exact_tests import FALSE_ALARM

OPT_IN, CLIENTS = 1_000, 19_000
EPSILON, DELTA = 4.5, 1e-5
HEAVIEST: Name = ("weather", "w.example")
SHARES: dict[Name, float] = {HEAVIEST: 0.65} | {
    (f"query {i}", f"{i}.example"): 0.0125 for i in range(24)
}
"""What people hold; the rest hold a record of their own."""
RELEASED = ("release.json", "records.parquet", "queries.csv", "report.html", "run.json")


def holdings(users: int) -> Counter[Name]:
    counts = Counter({record: round(share * users) for record, share in SHARES.items()})
    counts.update((f"rare {i}", f"{i}.example") for i in range(users - counts.total()))
    return counts


def command(*arguments: str | Path | float) -> None:
    with pytest.raises(SystemExit) as ending:
        main([str(argument) for argument in arguments])
    assert not ending.value.code


def written_log(directory: Path) -> Path:
    """Write a log of one row per user that says who opts in: so every truth is known."""
    path = directory / "log.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("user", "query", "url", "group"))
        for group, users in (("opt-in", OPT_IN), ("client", CLIENTS)):
            for number, (query, url) in enumerate(holdings(users).elements()):
                writer.writerow((f"{group} {number}", query, url, group))
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_log(tmp_path_factory.mktemp("log"))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(scope="module")
def campaign(
    service: RunningService, log: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Return what the devices say they did, from draft to release."""
    said = tmp_path_factory.mktemp("said") / "played.json"
    with pytest.MonkeyPatch.context() as patch, said.open("w", encoding="utf-8") as out:
        patch.setattr("sys.stdout", out)
        command(
            *("devices", "--log", log, "--service", service.url, "--group", "group", "--drive"),
            *("--operator-token-file", service.token_file, "--json"),
            *("--epsilon", EPSILON, "--delta", DELTA),
        )
    played: dict[str, Any] = json.loads(said.read_text(encoding="utf-8"))
    return played


@pytest.fixture(scope="module")
def released(
    service: RunningService, campaign: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("released") / "out"
    command("download", service.url, campaign["campaign"], "-o", out)
    return out


@pytest.fixture(scope="module")
def run(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "out"
    promise = ("--epsilon", EPSILON, "--delta", DELTA)
    command("run", log, "--group", "group", *promise, "--yes", "-o", out)
    return out


def read(directory: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((directory / "release.json").read_text(encoding="utf-8"))
    return document


def test_everybody_did_their_part_once(campaign: dict[str, Any]) -> None:
    assert campaign["contributed"] == OPT_IN
    assert campaign["reported"] == campaign["accepted"] == CLIENTS
    assert campaign["state"] == "released"


def test_nobody_is_lost_and_nobody_counted_twice(released: Path) -> None:
    assert read(released)["users"] == {"opt_in": OPT_IN, "clients": CLIENTS}
    estimates = json.loads((released / "client_estimates.json").read_text(encoding="utf-8"))
    assert estimates["reports"] + estimates["query_reports"] == CLIENTS


@pytest.mark.parametrize("made_by", ["released", "run"])
def test_service_and_run_report_by_the_same_law(
    made_by: str, request: pytest.FixtureRequest
) -> None:
    """Both are held against the one law that the log fixes; each fails falsely once in 10^9."""
    release = read(request.getfixturevalue(made_by))
    assert_reports_follow_the_log(named_counts(release), holdings(CLIENTS), EPSILON)


@pytest.mark.parametrize("made_by", ["released", "run"])
def test_service_and_run_estimate_the_same_truth(
    made_by: str, request: pytest.FixtureRequest
) -> None:
    """An error of 15 standard errors: below 10^-9 for Laplace noise, far below for others."""
    rows = {
        (row["query"], row["url"]): row for row in read(request.getfixturevalue(made_by))["records"]
    }
    assert HEAVIEST in rows
    for record in set(SHARES) & set(rows):
        row, share = rows[record], SHARES[record]
        for estimate, error in (
            ("probability", "std_error"),
            ("opt_in_probability", "opt_in_std_error"),
            ("client_probability", "client_std_error"),
        ):
            assert abs(row[estimate] - share) < 15 * row[error], estimate


@pytest.mark.parametrize("error", [0.9, 1.15])
def test_an_epsilon_that_is_a_little_off_is_caught(released: Path, error: float) -> None:
    counts, clients = named_counts(read(released)), holdings(CLIENTS)
    off = SubsetChannel.of(len(counts), exact(EPSILON * error))
    right = SubsetChannel.of(len(counts), exact(EPSILON))
    reports = sum(counts.values()) // right.subset_size
    shares = true_shares(clients, counts)
    _require_power(shares, right, off, reports)
    held = np.array([round(shares[cell] * reports) for cell in counts])
    drawn = subset_counts(held, off, Randomness.seeded(1)).tolist()
    named = dict(zip(counts, drawn, strict=True))
    with pytest.raises(AssertionError):
        assert_reports_follow_the_log(named, clients, EPSILON)


def _require_power(
    shares: dict[Name, float], right: SubsetChannel, off: SubsetChannel, reports: int
) -> None:
    """Fail unless the heaviest cell nearly surely betrays the error."""
    expected = expected_shares(shares, right)[HEAVIEST]
    wrong = expected_shares(shares, off)[HEAVIEST]
    between = np.linspace(expected, wrong, 101) * reports
    assert any(
        tail_bound(count, reports, expected) < FALSE_ALARM / len(shares)
        and tail_bound(count, reports, wrong) < FALSE_ALARM
        for count in between.tolist()
    ), "the sample is too small"


def test_clients_that_keep_silent_about_one_record_are_caught(released: Path) -> None:
    """Three in a hundred reports are lost, all of them of one cell, and others take their place."""
    counts, clients = named_counts(read(released)), holdings(CLIENTS)
    lost = 3 * sum(counts.values()) // 100
    counts[HEAVIEST] -= lost
    counts[(None, None)] += lost
    with pytest.raises(AssertionError, match="a cell"):
        assert_reports_follow_the_log(counts, clients, EPSILON)


def test_the_release_opens_everywhere(released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in RELEASED:
        assert (released / name).stat().st_size
    assert read_release(released / "release.json").client_users == CLIENTS
    command("search", released / "release.json", "wea")
    assert "weather" in capsys.readouterr().out
    command("trends", released / "release.json")
    assert "weather" in capsys.readouterr().out


def test_the_log_names_what_was_downloaded(
    service: RunningService, released: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ("--contains", released / "head_list.json", "--contains", released / "release.json")
    command("verify-log", service.url, *files, "--json")
    summary = json.loads(capsys.readouterr().out)
    assert sorted(summary["contains"].values()) == [1, 2]
    again = ("download", service.url, _campaign_of(released), "-o", released, "--overwrite")
    command(*again, "--key", summary["public_key"])


def _campaign_of(released: Path) -> str:
    return str(json.loads((released / "run.json").read_text(encoding="utf-8"))["campaign"])


def test_a_release_that_its_integers_do_not_give_is_refused(released: Path) -> None:
    documents = {
        name: json.loads((released / name).read_text(encoding="utf-8"))
        for name in ("head_list.json", *FILES)
    }
    documents["release.json"]["records"][0]["probability"] += 0.001
    with pytest.raises(InputError, match="does not follow from the released integers"):
        released_result(documents)


def test_the_audit_log_is_unbroken_and_names_the_operator(
    service: RunningService, campaign: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert campaign["state"] == "released"
    command("verify-log", service.url, "--chain", "audit", "--token-file", service.token_file)
    assert "unbroken" in capsys.readouterr().out
