"""The budget of a device over time, over services and against large δ; what it remembers."""

import json
import sqlite3
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from client.stand_in import (
    CAMPAIGN,
    KEY,
    OTHER_CAMPAIGN,
    OTHER_KEY,
    START,
    Clock,
    InProcess,
    StandIn,
    head_list,
)

from blender_dp.client import BlenderClient, ClientPolicy, RefusedError, Rule
from blender_dp.client.ledger.ledger import Ledger
from blender_dp.client.ledger.rows import LedgerRow, costs_since
from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.report_cost import cost_text
from blender_dp.core.errors import BlenderError
from blender_dp.wire.service.signatures import public_key_of

ROOT = Path(__file__).parents[2]
WINDOWS = json.loads((ROOT / "test_vectors" / "device_costs.json").read_text(encoding="utf-8"))[
    "windows"
]
A, B = "https://a.example", "https://b.example"


class Device:
    """Devices over one ledger, towards any service."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.clock = directory, Clock()
        self.service = StandIn()

    def at(self, url: str = A, service: StandIn | None = None, **policy: Any) -> BlenderClient:
        return BlenderClient(
            url,
            self.directory,
            policy=ClientPolicy(**policy),
            transport=InProcess(service or self.service),
            now=self.clock,
        )


@pytest.fixture
def device(tmp_path: Path) -> Device:
    return Device(tmp_path)


def row(age: float, epsilon: str, *, role: Any = "report", delta: str = "0") -> LedgerRow:
    time = START - timedelta(seconds=age)
    return LedgerRow(
        campaign=UUID(int=1),
        role=role,
        service=A,
        epsilon=epsilon,
        delta=delta,
        time=time,
        body=b"",
    )


@pytest.mark.parametrize("case", WINDOWS, ids=lambda case: case["name"])
def test_the_windows_edge(case: dict[str, Any]) -> None:
    rows = [row(one["age_seconds"], one["epsilon"]) for one in case["rows"]]
    spent, _ = costs_since(rows, START - timedelta(days=case["window_days"]))
    assert cost_text(spent) == case["spent"]


def test_only_the_delta_of_contributions_adds_up() -> None:
    rows = [row(0, "1", role="contribution", delta="1/10"), row(0, "1", delta="1/3")]
    assert costs_since(rows, START - timedelta(days=1)) == (Fraction(2), Fraction(1, 10))


def test_the_window_ends_in_the_device_too(device: Device) -> None:
    device.at(window=timedelta(days=30)).report(CAMPAIGN, None, None)
    device.clock.pass_days(30)
    assert device.at(window=timedelta(days=30)).ledger().spent == 0
    device.clock.time -= timedelta(seconds=1)
    assert device.at(window=timedelta(days=30)).ledger().spent == 2.0


def test_all_services_share_one_budget(device: Device) -> None:
    other = StandIn()
    device.at(A, most_epsilon=3.0).report(CAMPAIGN, None, None)
    with pytest.raises(RefusedError, match="1 of 3 is left") as refusal:
        device.at(B, other, most_epsilon=3.0).report(OTHER_CAMPAIGN, None, None)
    assert refusal.value.rule is Rule.BUDGET
    assert other.bodies == []


def test_a_campaign_is_drawn_once_under_any_address(device: Device) -> None:
    first = device.at(A).report(CAMPAIGN, "query 001", "1.example")
    again = device.at(B).report(CAMPAIGN, "query 002", "2.example")
    assert again.body == first.body
    assert len(device.at(B).ledger().reports) == 1


def test_a_small_epsilon_with_a_large_delta_is_refused(device: Device) -> None:
    hidden = LocalAlgMechanism(
        epsilon=0.01, delta=0.999, query_budget_fraction=0.85, records_per_client=1
    )
    device.service.descriptions[CAMPAIGN] = {
        **device.service.described(CAMPAIGN),
        "parameters": {"epsilon": "0.01", "delta": "0.999"},
    }
    device.service.publish(head_list(queries=1000, mechanism=hidden))
    with pytest.raises(RefusedError, match=r"δ = 0\.999") as refusal:
        device.at().report(CAMPAIGN, None, None)
    assert refusal.value.rule is Rule.DELTA
    kept = device.at(most_delta=0.9995).report(CAMPAIGN, None, None)
    assert 6.5 < float(kept.epsilon) < 7.5
    assert Fraction(kept.delta) == Fraction(999, 1000)
    with pytest.raises(RefusedError, match=r"asks for ε = 2; 1.*is left"):
        device.at(B, most_epsilon=float(kept.epsilon) + 1.5).report(OTHER_CAMPAIGN, None, None)


def test_a_configured_key_counts_more_than_a_remembered_one(device: Device) -> None:
    device.at().head_list(OTHER_CAMPAIGN)  # remembers KEY
    other = public_key_of(OTHER_KEY)
    with pytest.raises(RefusedError) as refusal:
        device.at(public_key=other).report(CAMPAIGN, None, None)
    assert refusal.value.rule is Rule.KEY
    moved = StandIn()
    moved.publish(key=OTHER_KEY)
    moved.log_key = OTHER_KEY
    assert device.at(service=moved, public_key=other).report(CAMPAIGN, None, None).state == "sent"
    moved.publish(campaign=UUID(int=4), key=OTHER_KEY)
    with pytest.raises(RefusedError) as refusal:  # without it, the remembered one holds
        device.at(service=moved, shortest_interval=timedelta(0)).report(UUID(int=4), None, None)
    assert refusal.value.rule is Rule.KEY


@pytest.mark.parametrize("name", ["window", "shortest_interval"])
@pytest.mark.parametrize("value", [float("nan"), 7, None])
def test_an_interval_that_is_none_is_refused(name: str, value: object) -> None:
    with pytest.raises(BlenderError, match=f"{name} must be 0 or longer"):
        ClientPolicy(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["window", "shortest_interval"])
def test_an_interval_that_reaches_before_all_dates_is_refused(device: Device, name: str) -> None:
    century = timedelta(days=36_525)
    for value in (timedelta.max, century + timedelta(seconds=1)):
        with pytest.raises(BlenderError, match=f"{name} must be at most 100 years"):
            ClientPolicy(**{name: value})  # type: ignore[arg-type]
    policy: dict[str, Any] = {name: century}
    assert device.at(**policy).report(CAMPAIGN, None, None).state == "sent"


@pytest.mark.parametrize("value", [float("nan"), -1e-9, 1.0])
def test_a_delta_that_is_none_is_refused(value: float) -> None:
    with pytest.raises(BlenderError, match="most_delta must be"):
        ClientPolicy(most_delta=value)


def test_a_draw_is_on_disk_before_it_is_sent(device: Device) -> None:
    transport = InProcess(device.service)
    found: list[tuple[str, bytes]] = []

    def look(method: str, _path: str) -> None:
        if method == "POST":
            # Another connection sees only what is committed, and gets the lock only if no
            # transaction is open any more.
            other = sqlite3.connect(device.directory / "ledger.sqlite", timeout=0)
            other.execute("BEGIN IMMEDIATE")
            found.extend(other.execute("SELECT state, body FROM debits").fetchall())
            other.close()

    transport.on_send = look
    client = BlenderClient(A, device.directory, transport=transport, now=device.clock)
    kept = client.report(CAMPAIGN, None, None)
    assert found == [("unsent", kept.body)]
    assert device.service.bodies == [kept.body]


def test_every_transaction_waits_for_the_disk(tmp_path: Path) -> None:
    with Ledger(tmp_path, lambda _: None)._transaction() as database:
        assert database.execute("PRAGMA synchronous").fetchone() == (2,)
        assert database.execute("PRAGMA secure_delete").fetchone() == (1,)
        mode = database.execute("PRAGMA journal_mode").fetchone()
    assert mode in [("delete",), ("wal",)]


def test_the_signed_list_is_kept_as_evidence(device: Device) -> None:
    assert device.at().evidence(CAMPAIGN) is None
    device.at().report(CAMPAIGN, None, None)
    assert device.at().evidence(CAMPAIGN) == device.service.lists[CAMPAIGN]
    device.at().forget()
    assert device.at().evidence(CAMPAIGN) == device.service.lists[CAMPAIGN]


def log_requests(service: StandIn) -> list[str]:
    return [path for _, path, _ in service.requests if path.startswith("log")]


def test_the_log_is_read_on_from_what_is_remembered(device: Device) -> None:
    device.at().report(UUID(int=3), None, None)
    assert log_requests(device.service) == ["log?from=0"]
    device.clock.pass_days(8)
    device.at().report(UUID(int=25), None, None)
    assert log_requests(device.service)[1:] == ["log?from=9", "log?from=19"]
    device.clock.pass_days(8)
    device.at().report(UUID(int=27), None, None)
    assert log_requests(device.service)[3:] == ["log?from=26"]


def unlogged(service: StandIn) -> None:
    service.log = service.log[:5]


def rewritten(service: StandIn) -> None:
    del service.log[:]
    for campaign in (UUID(int=9), UUID(int=8), CAMPAIGN, OTHER_CAMPAIGN):
        service.publish(campaign=campaign)


def shortened(service: StandIn) -> None:
    service.log = service.log[:3]


def of_another_signer(service: StandIn) -> None:
    service.log_key = OTHER_KEY


@pytest.mark.parametrize("attack", [unlogged, rewritten, shortened, of_another_signer])
def test_a_list_that_the_log_does_not_have_is_refused(device: Device, attack: Any) -> None:
    device.at().report(UUID(int=1), None, None)
    device.clock.pass_days(8)
    assert public_key_of(KEY) == device.service.lists[UUID(int=9)]["public_key"]
    attack(device.service)
    before = device.at().ledger()
    with pytest.raises(BlenderError, match="log"):
        device.at().report(UUID(int=9), None, None)
    assert device.at().ledger() == before
    assert len(device.service.bodies) == 1


def test_the_time_of_a_row_has_whole_seconds(device: Device) -> None:
    device.clock.time += timedelta(seconds=0.9)
    kept = device.at().report(CAMPAIGN, None, None)
    assert kept.time == START
    assert device.at().ledger().reports == (kept,)
