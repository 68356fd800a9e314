"""A whole campaign of three groups, with a real service and a real relay: 20,000 devices."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from end_to_end.conftest import BlenderDp
from end_to_end.report_law import (
    Name,
    assert_counts_follow_the_log,
    expected_shares,
    tail_bound,
    true_shares,
)
from running_relay import RunningRelay, running_relay
from running_service import RunningService, running_service

from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.local_alg.sharp import subset_counts
from blender_dp.core.parameters import exact
from exact_tests import FALSE_ALARM

OPT_IN, CLIENTS, RELAYED = 1_000, 19_000, 9_500
PROMISE = ("--epsilon=2", "--delta=1e-5")
HEAVIEST: Name = ("weather", "w.example")
SHARES: dict[Name, float] = {HEAVIEST: 0.5} | {
    (f"query {i}", f"{i}.example"): 0.02 for i in range(20)
}
"""What people hold; the rest hold a record of their own."""


def holdings(users: int) -> Counter[Name]:
    counts = Counter({record: round(share * users) for record, share in SHARES.items()})
    counts.update((f"rare {i}", f"{i}.example") for i in range(users - counts.total()))
    return counts


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log of one row per user that says who opts in: so every truth is known."""
    path = tmp_path_factory.mktemp("log") / "log.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("user", "query", "url", "group"))
        for group, users in (("opt-in", OPT_IN), ("client", CLIENTS)):
            for number, (query, url) in enumerate(holdings(users).elements()):
                writer.writerow((f"{group} {number}", query, url, group))
    return path


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(scope="module")
def relay(
    service: RunningService, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningRelay]:
    with running_relay(tmp_path_factory.mktemp("relay"), service.url) as running:
        yield running


@pytest.fixture(scope="module")
def campaign(
    service: RunningService,
    relay: RunningRelay,
    log: Path,
    blender_dp: BlenderDp,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Any]:
    """Return what the devices say they did, from draft to release."""
    said = tmp_path_factory.mktemp("said") / "played.json"
    with pytest.MonkeyPatch.context() as patch, said.open("w", encoding="utf-8") as out:
        patch.setattr("sys.stdout", out)
        blender_dp(
            *("devices", "--log", log, "--url", service.url, "--group", "group", "--drive"),
            *("--operator-token-file", service.token_file, "--json", *PROMISE),
            *("--relay=0.5", "--relay-address", relay.url, "--relay-key", relay.key),
        )
    played: dict[str, Any] = json.loads(said.read_text(encoding="utf-8"))
    return played


@pytest.fixture(scope="module")
def released(
    service: RunningService,
    campaign: dict[str, Any],
    blender_dp: BlenderDp,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    out = tmp_path_factory.mktemp("released") / "out"
    blender_dp("download", service.url, campaign["campaign"], "-o", out)
    return out


@pytest.fixture(scope="module")
def run(log: Path, blender_dp: BlenderDp, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "out"
    blender_dp("run", log, "--group", "group", *PROMISE, "--relay=0.5", "-o", out)
    return out


def read(directory: Path, name: str = "release.json") -> dict[str, Any]:
    document: dict[str, Any] = json.loads((directory / name).read_text(encoding="utf-8"))
    return document


def relay_counts(directory: Path) -> dict[Name, int]:
    rows = read(directory)["records"]
    return {(row["query"], row["url"]): row["relay_report_count"] for row in rows}


def relay_channel(directory: Path, error: float = 1.0) -> SubsetChannel:
    """Return the channel that the published list states, or one with another ε0."""
    stated = exact(float(read(directory, "head_list.json")["relay"]["report_epsilon"]))
    return SubsetChannel.naming_one(len(relay_counts(directory)), stated * exact(error))


def test_everybody_did_their_part_once(campaign: dict[str, Any], released: Path) -> None:
    assert campaign["contributed"] == OPT_IN
    assert campaign["relayed"] == RELAYED
    assert campaign["reported"] == campaign["accepted"] == CLIENTS - RELAYED
    assert campaign["state"] == "released"
    users = {"opt_in": OPT_IN, "clients": CLIENTS - RELAYED, "relay_clients": RELAYED}
    assert read(released)["users"] == users
    assert sum(relay_counts(released).values()) == RELAYED


@pytest.mark.parametrize("made_by", ["released", "run"])
def test_service_and_run_have_relay_clients_of_one_law(
    made_by: str, request: pytest.FixtureRequest
) -> None:
    """Both are held against the one law that the log fixes; each fails falsely once in 10^9."""
    directory = request.getfixturevalue(made_by)
    counts, channel = relay_counts(directory), relay_channel(directory)
    assert_counts_follow_the_log(counts, holdings(CLIENTS), channel)


def test_an_epsilon0_that_is_off_is_caught(released: Path) -> None:
    counts, right = relay_counts(released), relay_channel(released)
    off = relay_channel(released, error=0.65)
    shares = true_shares(holdings(CLIENTS), counts)
    expected, wrong = (expected_shares(shares, channel)[HEAVIEST] for channel in (right, off))
    assert any(
        tail_bound(count, RELAYED, expected) < FALSE_ALARM / len(shares)
        and tail_bound(count, RELAYED, wrong) < FALSE_ALARM
        for count in (np.linspace(expected, wrong, 101) * RELAYED).tolist()
    ), "the sample is too small"
    held = np.array([round(shares[cell] * RELAYED) for cell in counts])
    drawn = subset_counts(held, off, Randomness.seeded(1)).tolist()
    named = dict(zip(counts, drawn, strict=True))
    with pytest.raises(AssertionError, match="a cell"):
        assert_counts_follow_the_log(named, holdings(CLIENTS), right)


@pytest.mark.parametrize("made_by", ["released", "run"])
def test_every_group_estimates_the_truth(made_by: str, request: pytest.FixtureRequest) -> None:
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
            ("relay_probability", "relay_std_error"),
            ("client_probability", "client_std_error"),
        ):
            assert abs(row[estimate] - share) < 15 * row[error], estimate


def test_the_relay_says_what_it_forwarded_and_keeps_nothing(
    relay: RunningRelay, campaign: dict[str, Any]
) -> None:
    address = f"{relay.url}/v1/campaigns/{campaign['campaign']}"
    shown = httpx.get(address).json()
    assert (shown["state"], shown["waiting"], shown["forwarded"]) == ("forwarded", 0, RELAYED)
    statement = httpx.get(f"{address}/statement").json()["statement"]
    assert (statement["campaign"], statement["count"]) == (campaign["campaign"], RELAYED)
    for path in filter(Path.is_file, relay.directory.rglob("*")):
        assert b"weather" not in path.read_bytes(), path.name
