"""Every rule of a device, broken one at a time and in pairs: refused, and nothing is spent."""

import itertools
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from client.conftest import MakeDevice
from client.stand_in import (
    CAMPAIGN,
    KEY,
    OTHER_CAMPAIGN,
    OTHER_KEY,
    SHARP,
    Clock,
    StandIn,
    description,
    head_list,
)

from blender_dp.client import ClientPolicy, RefusedError
from blender_dp.core.errors import BlenderError
from blender_dp.wire.documents.document import digest_of, with_digest
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.service.hash_chain import entry_hash
from blender_dp.wire.service.signatures import public_key_of
from blender_dp.wire.service.signed_head_list import signed_head_list_document

EARLIER = UUID(int=20)
Document = dict[str, Any]


def asking_for_much(campaign: UUID) -> Document:
    """Return a description that promises no more than hostile lists ask for."""
    return description(campaign, epsilon="64.0")


class Attack:
    """A list in the making: every step may break one more rule of it."""

    def __init__(self) -> None:
        self.listed: dict[str, Any] = {"queries": 40, "private": True, "mechanism": SHARP}
        self.campaign, self.key = CAMPAIGN, KEY
        self.entry_change: Document = {}
        self.rehash = True
        self.mechanism_change: Document = {}
        self.after: list[Callable[[Document], Document]] = []
        self.days_since_report = 30.0

    def document(self, service: StandIn) -> Document:
        listed = head_list_document(head_list(**self.listed))
        listed["mechanism"] |= self.mechanism_change
        listed = with_digest(listed)
        made = service.next_entry(self.campaign, listed["digest"])
        made |= self.entry_change
        if self.rehash:
            made["hash"] = entry_hash(made)
        service.log.append(made)
        document = signed_head_list_document(
            listed,
            made,
            campaign=self.campaign,
            description=digest_of(asking_for_much(self.campaign)),
            key=self.key,
        )
        for change in self.after:
            document = change(document)
        return document


def unsigned(attack: Attack) -> None:
    attack.after.append(lambda d: {k: v for k, v in d.items() if k != "signature"})


def badly_signed(attack: Attack) -> None:
    attack.after.append(lambda d: {**d, "signature": "A" * 86} if "signature" in d else d)


def another_key(attack: Attack) -> None:
    attack.key = OTHER_KEY


def another_campaign(attack: Attack) -> None:
    attack.campaign = OTHER_CAMPAIGN


def entry_of_another_list(attack: Attack) -> None:
    attack.entry_change |= {"digest": "sha256:" + "0" * 64}


def entry_of_another_campaign(attack: Attack) -> None:
    attack.entry_change |= {"campaign": str(UUID(int=9))}


def entry_of_another_kind(attack: Attack) -> None:
    attack.entry_change |= {"kind": "release"}


def wrong_entry_hash(attack: Attack) -> None:
    attack.entry_change |= {"hash": "sha256:" + "0" * 64}
    attack.rehash = False


def not_private(attack: Attack) -> None:
    attack.listed["private"] = False


def too_small(attack: Attack) -> None:
    attack.listed["queries"] = 31


def changed(attack: Attack) -> None:
    attack.listed["mark"] = "changed"


def too_costly(attack: Attack) -> None:
    attack.listed["mechanism"] = replace(SHARP, epsilon=8.5)


def beyond_the_budget(attack: Attack) -> None:
    if attack.listed["mechanism"] == SHARP:
        attack.listed["mechanism"] = replace(SHARP, epsilon=6.5)


def too_soon(attack: Attack) -> None:
    attack.days_since_report = 6.9


def unknown_mechanism(attack: Attack) -> None:
    attack.mechanism_change = {"version": 2}


def edited_after_sealing(attack: Attack) -> None:
    attack.after.append(lambda d: {**d, "head_list": {**d["head_list"], "private": True, "x": 1}})


def of_another_version(attack: Attack) -> None:
    attack.after.append(lambda d: {**d, "version": 1})


ATTACKS: dict[Callable[[Attack], None], str] = {
    unsigned: "the head list is not signed",
    badly_signed: "signature that is not that of its key",
    another_key: "signed with another key than this service's",
    another_campaign: "that of another campaign",
    entry_of_another_list: "has the log entry of another list",
    entry_of_another_campaign: "has the log entry of something else",
    entry_of_another_kind: "has the log entry of something else",
    wrong_entry_hash: "has a log entry that was changed",
    not_private: "for an experiment; no device may report to it",
    too_small: "must have at least 32 queries; it has 31",
    changed: "differs from the one that this campaign showed before",
    too_costly: "asks for ε = 8.5; this device allows at most 8",
    beyond_the_budget: "asks for ε = 6.5; 6 of 8 is left in 90 days",
    too_soon: "less than 7 days old",
    unknown_mechanism: "name and version must be those of",
    edited_after_sealing: "does not match the rest",
    of_another_version: "version: must be 2",
}
_SEES_THE_LIST_BEFORE = {changed}


def contents(directory: Path) -> list[str]:
    with sqlite3.connect(directory / "device" / "ledger.sqlite") as database:
        dump = list(database.iterdump())
    database.close()
    return dump


def attacked(
    steps: tuple[Callable[[Attack], None], ...],
    service: StandIn,
    make_device: MakeDevice,
    clock: Clock,
    tmp_path: Path,
) -> BlenderError:
    """Report once, wait, then meet a hostile list; return the refusal."""
    service.publish(campaign=EARLIER)
    device = make_device()
    device.report(EARLIER, None, None)
    if _SEES_THE_LIST_BEFORE & set(steps):
        device.head_list(CAMPAIGN)
    attack = Attack()
    for step in steps:
        step(attack)
    service.descriptions[CAMPAIGN] = asking_for_much(CAMPAIGN)
    clock.pass_days(attack.days_since_report)
    service.lists[CAMPAIGN] = attack.document(service)
    before, sent = contents(tmp_path), len(service.bodies)
    with pytest.raises(BlenderError) as refusal:
        device.report(CAMPAIGN, "query 001", "1.example")
    assert contents(tmp_path) == before
    assert len(service.bodies) == sent
    return refusal.value


def test_the_list_that_attacks_start_from_is_accepted(
    service: StandIn, make_device: MakeDevice, clock: Clock
) -> None:
    service.publish(campaign=EARLIER)
    make_device().report(EARLIER, None, None)
    service.descriptions[CAMPAIGN] = asking_for_much(CAMPAIGN)
    clock.pass_days(Attack().days_since_report)
    service.lists[CAMPAIGN] = Attack().document(service)
    assert make_device().report(CAMPAIGN, None, None).state == "sent"


@pytest.mark.parametrize("step", ATTACKS, ids=lambda step: step.__name__)
def test_each_rule_has_its_own_sentence(
    step: Callable[[Attack], None],
    service: StandIn,
    make_device: MakeDevice,
    clock: Clock,
    tmp_path: Path,
) -> None:
    refusal = attacked((step,), service, make_device, clock, tmp_path)
    assert ATTACKS[step] in str(refusal)


@pytest.mark.parametrize(
    "pair",
    list(itertools.combinations(ATTACKS, 2)),
    ids=lambda pair: f"{pair[0].__name__}-{pair[1].__name__}",
)
def test_two_broken_rules_do_not_cancel_out(
    pair: tuple[Callable[[Attack], None], ...],
    service: StandIn,
    make_device: MakeDevice,
    clock: Clock,
    tmp_path: Path,
) -> None:
    attacked(pair, service, make_device, clock, tmp_path)


def test_a_given_key_is_kept_to_from_the_start(service: StandIn, make_device: MakeDevice) -> None:
    policy = ClientPolicy(public_key=public_key_of(OTHER_KEY))
    with pytest.raises(RefusedError, match="another key"):
        make_device(policy=policy).report(CAMPAIGN, None, None)
    service.publish(key=OTHER_KEY)
    service.log_key = OTHER_KEY
    assert make_device(policy=policy).report(CAMPAIGN, None, None).state == "sent"


def test_a_smaller_list_is_taken_if_told(service: StandIn, make_device: MakeDevice) -> None:
    service.publish(head_list(queries=2))
    device = make_device(policy=ClientPolicy(smallest_list=2))
    assert device.report(CAMPAIGN, None, None).state == "sent"


def test_a_list_of_exactly_what_is_left_is_taken(
    service: StandIn, make_device: MakeDevice, clock: Clock
) -> None:
    make_device().report(EARLIER, None, None)
    clock.pass_days(7)  # exactly the shortest interval
    costly = replace(SHARP, epsilon=6.0)
    service.publish(head_list(mechanism=costly))
    assert make_device().report(CAMPAIGN, None, None).state == "sent"
    assert make_device().ledger().left == 0
