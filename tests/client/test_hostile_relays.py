"""Every rule about relays, broken one at a time and in pairs: refused, and nothing is spent."""

import itertools
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from client.stand_in import (
    CAMPAIGN,
    KEY,
    RELAYED,
    Clock,
    InProcess,
    StandIn,
    description,
    head_list,
    relay_at,
    relay_description,
)

from blender_dp.client import BlenderClient, ClientPolicy
from blender_dp.client.policy import RefusedError, Rule
from blender_dp.client.reports.relay_rules import MOST_IN_TWO_CELLS, require_claim
from blender_dp.core.errors import BlenderError
from blender_dp.core.head_list.cells import Cells
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.service.signatures import public_key_of

EARLIER = UUID(int=20)
POLICY = ClientPolicy(most_delta=1e-3, most_relay_total=13.0)
LARGE = 500_000
"""A batch that keeps ε = 2 with an ε0 of up to 10."""


class Attack:
    """A campaign with a relay in the making: every step may break one more rule of it."""

    def __init__(self) -> None:
        self.batch, self.listed_batch_change = RELAYED.least_batch, 0
        self.described_cap, self.address = "8.0", "https://relay.example/"
        self.mechanism_change: dict[str, Any] = {}
        self.listed_change: dict[str, str] = {}
        self.is_described = self.is_listed = True
        self.after: list[Callable[[dict[str, Any]], dict[str, Any]]] = []

    def publish(self, service: StandIn) -> None:
        relay = relay_at(self.address)
        described = replace(RELAYED, least_batch=self.batch)
        mechanism = replace(
            described,
            least_batch=self.batch + self.listed_batch_change,
            **self.mechanism_change,
        )
        relayed = relay_description(relay, described, epsilon_cap=self.described_cap)
        shown = description(CAMPAIGN, relay=relayed if self.is_described else None)
        service.descriptions[CAMPAIGN] = shown
        listed = replace(head_list(), relay=mechanism if self.is_listed else None)
        named = replace(relay, **self.listed_change) if self.is_listed else None
        service.publish(listed, relay=named)
        for change in self.after:
            service.lists[CAMPAIGN] = change(service.lists[CAMPAIGN])


def another_address(attack: Attack) -> None:
    attack.listed_change["address"] = "https://other.example/"


def another_key(attack: Attack) -> None:
    attack.listed_change["public_key"] = public_key_of(KEY)


def another_batch(attack: Attack) -> None:
    attack.listed_batch_change = -1


def fewer_dishonest(attack: Attack) -> None:
    attack.mechanism_change["dishonest"] = 0.1


def above_the_described_cap(attack: Attack) -> None:
    attack.described_cap = "5.9"


def an_epsilon_that_is_not_kept(attack: Attack) -> None:
    attack.mechanism_change["epsilon"] = 0.5


def a_delta_that_is_not_kept(attack: Attack) -> None:
    attack.mechanism_change["delta"] = 1e-60


def more_epsilon_than_promised(attack: Attack) -> None:
    attack.mechanism_change["epsilon"] = 8.1


def more_delta_than_promised(attack: Attack) -> None:
    attack.mechanism_change["delta"] = 1.1e-5


def above_the_cap_of_a_report(attack: Attack) -> None:
    attack.mechanism_change["report_epsilon"] = 8.5
    attack.batch, attack.described_cap = LARGE, "64.0"


def beyond_the_total(attack: Attack) -> None:
    attack.mechanism_change.setdefault("report_epsilon", 7.5)
    attack.batch = LARGE


def relay_not_described(attack: Attack) -> None:
    attack.is_described = False


def relay_not_listed(attack: Attack) -> None:
    attack.is_listed = False


def mechanism_without_relay(attack: Attack) -> None:
    attack.after.append(lambda d: {name: value for name, value in d.items() if name != "relay"})


def another_key_after_signing(attack: Attack) -> None:
    other = {"encryption_key": to_text(bytes([9]) * 32)}
    attack.after.append(lambda d: {**d, "relay": {**d.get("relay", {}), **other}})


def in_the_clear(attack: Attack) -> None:
    attack.address = "http://relay.example/"


def too_large_to_check(attack: Attack) -> None:
    attack.batch = 10**12


def key_that_cannot_encrypt(attack: Attack) -> None:
    attack.listed_change["encryption_key"] = to_text(bytes(32))


ATTACKS: dict[Callable[[Attack], None], str] = {
    another_address: "names another address of the relay than the description",
    another_key: "names another key of the relay than the description",
    another_batch: "names another smallest batch than the description",
    fewer_dishonest: "names another share of dishonest clients than the description",
    above_the_described_cap: "for a larger ε0 than the description permits",
    an_epsilon_that_is_not_kept: "claims a smaller ε or δ for relay clients than its batches keep",
    a_delta_that_is_not_kept: "claims a smaller ε or δ for relay clients than its batches keep",
    more_epsilon_than_promised: "for a larger ε or δ than the campaign promises",
    more_delta_than_promised: "for a larger ε or δ than the campaign promises",
    above_the_cap_of_a_report: "asks relay clients for ε0 = 8.5; this device allows at most 8",
    beyond_the_total: "asks relay clients for ε0 = 7.5; 7 of 13 is left in 90 days",
    relay_not_described: "must both name a relay, or none",
    relay_not_listed: "must both name a relay, or none",
    mechanism_without_relay: "signature that is not that of its key",
    another_key_after_signing: "signature that is not that of its key",
    in_the_clear: "address must be https, or http on this machine",
    too_large_to_check: "smallest batch is too large for a device to check the promise",
    key_that_cannot_encrypt: "names a key that cannot encrypt",
}


class Person:
    """A device that reported through a relay 30 days ago."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.service, self.clock = directory, StandIn(), Clock()
        self.service.publish_for_relay(campaign=EARLIER)
        self.device = BlenderClient(
            "https://a.example",
            directory,
            policy=POLICY,
            transport=InProcess(self.service),
            now=self.clock,
        )
        self.device.report(EARLIER, None, None, through_relay=True)
        self.clock.pass_days(30)

    def contents(self) -> list[str]:
        with sqlite3.connect(self.directory / "ledger.sqlite") as database:
            dump = list(database.iterdump())
        database.close()
        return dump

    def meet(self, *steps: Callable[[Attack], None]) -> BlenderError:
        """Meet a hostile campaign; return the refusal."""
        attack = Attack()
        for step in steps:
            step(attack)
        attack.publish(self.service)
        before = self.contents()
        with pytest.raises(BlenderError) as refusal:
            self.device.report(CAMPAIGN, "query 001", "1.example", through_relay=True)
        assert self.contents() == before
        assert (len(self.service.relayed), self.service.bodies) == (1, [])
        return refusal.value


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_the_campaign_that_attacks_start_from_is_accepted(person: Person) -> None:
    Attack().publish(person.service)
    assert person.device.report(CAMPAIGN, None, None, through_relay=True).state == "sent"
    assert person.device.ledger().relay_left == 1.0


@pytest.mark.parametrize("step", ATTACKS, ids=lambda step: step.__name__)
def test_each_rule_has_its_own_sentence(step: Callable[[Attack], None], person: Person) -> None:
    assert ATTACKS[step] in str(person.meet(step))


@pytest.mark.parametrize(
    "pair",
    list(itertools.combinations(ATTACKS, 2)),
    ids=lambda pair: f"{pair[0].__name__}-{pair[1].__name__}",
)
def test_two_broken_rules_do_not_cancel_out(
    pair: tuple[Callable[[Attack], None], ...], person: Person
) -> None:
    person.meet(*pair)


@pytest.mark.parametrize(
    "step", [another_address, another_key, another_batch, more_epsilon_than_promised]
)
def test_a_local_client_refuses_such_a_list_too(
    step: Callable[[Attack], None], person: Person
) -> None:
    attack = Attack()
    step(attack)
    attack.publish(person.service)
    with pytest.raises(RefusedError):
        person.device.report(CAMPAIGN, None, None)


def test_an_epsilon0_of_exactly_what_is_left_is_taken(person: Person) -> None:
    attack = Attack()
    attack.mechanism_change["report_epsilon"], attack.batch = 7.0, LARGE
    attack.publish(person.service)
    assert person.device.report(CAMPAIGN, None, None, through_relay=True).state == "sent"
    assert person.device.ledger().relay_left == 0


def test_the_largest_kept_epsilon0_is_taken_and_the_next_one_refused() -> None:
    """K = 121 and n = 16,000 keep (2, 10⁻⁵) up to ε0 = 7.135 (computed by the accounting)."""
    cells, claimed = Cells.of([2] * 40), replace(RELAYED, delta=1e-5)
    require_claim(replace(claimed, report_epsilon=7.135), cells)
    with pytest.raises(RefusedError) as refusal:
        require_claim(replace(claimed, report_epsilon=7.136), cells)
    assert refusal.value.rule is Rule.PROMISE


def test_the_size_of_a_check_is_bounded() -> None:
    """Two cells of seven hold 2/7 of the uniform reports, here nearly all of the batch."""
    cells = Cells.of([2, 2])
    nearly_uniform = replace(RELAYED, report_epsilon=0.001, dishonest=0.0)
    for batch, is_checked in ((7 * MOST_IN_TWO_CELLS // 2, True), (4 * MOST_IN_TWO_CELLS, False)):
        mechanism = replace(nearly_uniform, least_batch=batch)
        if is_checked:
            require_claim(mechanism, cells)
        else:
            with pytest.raises(RefusedError, match="too large for a device"):
                require_claim(mechanism, cells)
