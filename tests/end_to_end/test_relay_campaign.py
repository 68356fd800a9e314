"""A campaign of 20,000 devices in three groups, with a real service and a real relay.

Its release is held against the law that the log fixes, as that of ``run``. All bytes on the way to
the relay, and from there to the collector, are recorded: the first name no record, the second no
sender, time or order.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest
from end_to_end.recorded_traffic import RecordedWay, recorded_way
from end_to_end.report_law import Name, expected_shares, tail_bound, true_shares
from end_to_end.test_campaign import (
    CLIENTS,
    DELTA,
    EPSILON,
    HEAVIEST,
    OPT_IN,
    SHARES,
    command,
    holdings,
    read,
    written_log,
)
from running_relay import running_relay
from running_service import PATIENCE, running_service
from scipy.stats import hypergeom

from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.exact.randomness import Randomness
from exact_tests import FALSE_ALARM

SHARE = 0.5
RELAYED = round(SHARE * CLIENTS)
RELAY_FIELDS = {"version", "head_list", "encryption_key", "reports"}
PIECE_FIELDS = {"version", "statement", "public_key", "signature", "piece", "reports"}
USUAL_HEADERS = {
    *("host", "accept", "accept-encoding", "connection", "user-agent"),
    *("content-length", "content-type"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a campaign left: what devices say, both ways, and the relay's files."""

    played: dict[str, Any]
    released: Path
    to_relay: RecordedWay
    to_collector: RecordedWay
    kept: bytes
    """All that is in the relay's directory."""
    statement: dict[str, Any]

    @property
    def arrived(self) -> list[str]:
        """Encrypted reports in the order in which the relay got them."""
        posts = [one for one in self.to_relay.requests() if one.line.startswith("POST ")]
        return [report for one in posts for report in json.loads(one.body)["reports"]]

    @property
    def pieces(self) -> list[dict[str, Any]]:
        """Bodies that the relay sent to the collector."""
        requests = self.to_collector.requests()
        return [json.loads(one.body) for one in requests if one.line.startswith("POST ")]

    @property
    def forwarded(self) -> list[str]:
        """Encrypted reports in the order in which the collector got them."""
        bodies = sorted(self.pieces, key=lambda body: body["piece"])
        return [report for body in bodies for report in body["reports"]]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_log(tmp_path_factory.mktemp("log"))


@pytest.fixture(scope="module")
def recorded(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    """Return a campaign from draft to release, with everything on the way to relay and service."""
    said, out = tmp_path_factory.mktemp("said") / "played.json", tmp_path_factory.mktemp("out")
    directory = tmp_path_factory.mktemp("relay")
    with (
        running_service(tmp_path_factory.mktemp("service")) as service,
        recorded_way(service.url) as to_collector,
        running_relay(directory, to_collector.url) as relay,
        recorded_way(relay.url) as to_relay,
    ):
        with pytest.MonkeyPatch.context() as patch, said.open("w", encoding="utf-8") as file:
            patch.setattr("sys.stdout", file)
            command(
                *("devices", "--log", log, "--service", service.url, "--group", "group", "--drive"),
                *("--operator-token-file", service.token_file, "--json"),
                *("--epsilon", EPSILON, "--delta", DELTA, "--relay", SHARE),
                *("--relay-address", to_relay.url, f"--relay-key={relay.key}"),
            )
        played = json.loads(said.read_text(encoding="utf-8"))
        command("download", service.url, played["campaign"], "-o", out / "released")
        statement = _read(f"{relay.url}/v1/campaigns/{played['campaign']}/statement")
        yield Recorded(
            played=played,
            released=out / "released",
            to_relay=to_relay,
            to_collector=to_collector,
            kept=b"".join(one.read_bytes() for one in directory.rglob("*") if one.is_file()),
            statement=statement,
        )


def _read(url: str) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(url, timeout=PATIENCE).json()
    return found


@pytest.fixture(scope="module")
def run(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "out"
    promise = ("--epsilon", EPSILON, "--delta", DELTA, "--relay", SHARE)
    command("run", log, "--group", "group", *promise, "--yes", "-o", out)
    return out


@pytest.fixture(params=["service", "run"])
def release(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the release of the service, and that of a run on the same log."""
    if request.param == "run":
        return read(request.getfixturevalue("run"))
    found: Recorded = request.getfixturevalue("recorded")
    return read(found.released)


def test_everybody_is_counted_once_in_their_group(recorded: Recorded) -> None:
    assert recorded.played["state"] == "released"
    release = read(recorded.released)
    assert release["users"] == {
        "opt_in": OPT_IN,
        "clients": CLIENTS - RELAYED,
        "relay_clients": RELAYED,
    }
    batch = release["relay_batch"]
    assert (batch["outcome"], batch["received"], batch["counted"]) == (
        *("counted", RELAYED, RELAYED),
    )
    assert batch["refused"] == {}


def test_both_public_counters_agree(recorded: Recorded) -> None:
    """A relay that dropped reports would show a difference."""
    stated = recorded.statement["statement"]
    assert stated["count"] == len(recorded.forwarded) == len(recorded.arrived) == RELAYED
    assert Counter(recorded.forwarded) == Counter(recorded.arrived)


def relay_counts(release: dict[str, Any]) -> dict[Name, int]:
    return {(row["query"], row["url"]): row["relay_report_count"] for row in release["records"]}


def relay_epsilon(release: dict[str, Any]) -> Fraction:
    """Return ε0, exactly."""
    accounts = {one["to"]: one for one in release["certificate"]["accounts"]}
    promised = accounts["relay clients, if relay and collector collude"]["promised"]
    return Fraction(promised["epsilon"])


def assert_relayed_reports_follow_the_log(counts: dict[Name, int], epsilon: Fraction) -> None:
    """Fail if what relay clients reported is too unlikely; cells share the false alarm of 10^-9.

    Relay clients are drawn from all clients without replacement, as the proof in report_law asks.
    """
    channel = SubsetChannel.naming_one(len(counts), epsilon)
    expected = expected_shares(true_shares(holdings(CLIENTS), counts), channel)
    bounds = {cell: tail_bound(counts[cell], RELAYED, p) for cell, p in expected.items()}
    worst = min(bounds.values())
    assert worst > FALSE_ALARM / len(bounds), f"a cell: p<={worst:.1e}"


def test_relay_clients_report_by_the_same_law(release: dict[str, Any]) -> None:
    counts = relay_counts(release)
    assert sum(counts.values()) == RELAYED
    assert_relayed_reports_follow_the_log(counts, relay_epsilon(release))


def test_a_batch_in_which_three_of_a_hundred_are_exchanged_is_caught(recorded: Recorded) -> None:
    release = read(recorded.released)
    counts = relay_counts(release)
    counts[HEAVIEST] -= 3 * RELAYED // 100
    counts[(None, None)] += 3 * RELAYED // 100
    with pytest.raises(AssertionError, match="a cell"):
        assert_relayed_reports_follow_the_log(counts, relay_epsilon(release))


def test_three_groups_estimate_the_same_truth(release: dict[str, Any]) -> None:
    """An error of 15 standard errors: below 10^-9 for Laplace noise, far below for others."""
    rows = {(row["query"], row["url"]): row for row in release["records"]}
    assert HEAVIEST in rows
    for record in set(SHARES) & set(rows):
        for group in ("", "opt_in_", "client_", "relay_"):
            error = abs(rows[record][f"{group}probability"] - SHARES[record])
            assert error < 15 * rows[record][f"{group}std_error"], group


def test_what_reaches_and_stays_at_the_relay_names_no_record(recorded: Recorded) -> None:
    """Its list names popular records, which are public; nothing of a device does."""
    names = {str(text).encode() for record in holdings(CLIENTS) for text in record}
    from_devices = recorded.to_relay.all_bytes()
    assert not [name for name in names if name in from_devices]
    for one in recorded.to_relay.requests():
        if one.line.startswith("POST "):
            assert set(json.loads(one.body)) == RELAY_FIELDS
    rare = {name for name in names if name.startswith(b"rare ")}
    assert recorded.kept
    assert not [name for name in rare if name in recorded.kept]


def test_what_reaches_the_collector_has_no_sender_and_no_time(recorded: Recorded) -> None:
    for one in recorded.to_collector.requests():
        assert set(one.headers) <= USUAL_HEADERS, one.headers
        assert one.headers["user-agent"] == "blender-dp"
    for body in recorded.pieces:
        assert set(body) == PIECE_FIELDS
        assert set(body["statement"]) == {"campaign", "head_list", "count", "pieces", "digest"}
    assert len({len(report) for report in recorded.forwarded}) == 1


def assert_order_says_nothing(arrived: Sequence[str], forwarded: Sequence[str]) -> None:
    """Fail if a classifier that sees places in the batch tells early reports from late ones.

    It calls the first half of the batch early, and looks at every second and every fourth report
    too. In a uniform order its hits are hypergeometric, exactly; all tests share a false alarm of
    10^-9.
    """
    place = {report: number for number, report in enumerate(arrived)}
    early = [place[report] < len(arrived) // 2 for report in forwarded]
    cuts = [early[start::step] for step in (1, 2, 4) for start in range(step)]
    for part in cuts:
        hits = sum(part[: len(part) // 2])
        law = hypergeom(len(part), sum(part), len(part) // 2)
        p_value = 2 * min(law.cdf(hits), law.sf(hits - 1))
        assert p_value > FALSE_ALARM / len(cuts), "the order tells who came early"


def test_the_order_of_a_batch_says_nothing_about_the_order_of_arrival(recorded: Recorded) -> None:
    assert_order_says_nothing(recorded.arrived, recorded.forwarded)


@pytest.mark.parametrize("share", [1.0, 0.2])
def test_a_batch_that_is_not_wholly_shuffled_is_caught(recorded: Recorded, share: float) -> None:
    """A share of the reports stay in the order in which they came."""
    randomness = Randomness.seeded(1)
    forwarded = list(recorded.arrived)
    moving = [i for i in range(len(forwarded)) if randomness.below(1000) >= 1000 * share]
    for last in range(len(moving) - 1, 0, -1):
        other = randomness.below(last + 1)
        a, b = moving[last], moving[other]
        forwarded[a], forwarded[b] = forwarded[b], forwarded[a]
    with pytest.raises(AssertionError, match="who came early"):
        assert_order_says_nothing(recorded.arrived, forwarded)
