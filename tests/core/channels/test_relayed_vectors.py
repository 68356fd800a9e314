"""Relay clients report the same, and compute the same promise, whichever language they run."""

import base64
import json
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from core.given_bytes import GivenBytes
from wire.lists import write_json

from blender_dp.core.certificate.shuffle import SPARE, shuffled_delta
from blender_dp.core.channels.relayed import RelayMechanism
from blender_dp.core.channels.report_cost import cost_text, report_cost
from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.core.parameters import exact
from blender_dp.wire.published.head_list import read_head_list
from blender_dp.wire.reports.report import report_document

ROOT = Path(__file__).parents[3]
VECTORS = json.loads((ROOT / "test_vectors" / "relayed_responses.json").read_text(encoding="utf-8"))
UNITS = 1 << 200
"""δ is written as a number of 2^-200."""


def test_thresholds_are_the_same_integers() -> None:
    for vector in VECTORS["channels"]:
        channel = SubsetChannel.naming_one(vector["size"], Fraction(vector["epsilon"]))
        assert str(channel.threshold) == vector["threshold"]


def test_the_same_bytes_draw_the_same_items(tmp_path: Path) -> None:
    head_list = read_head_list(write_json(tmp_path / "list.json", VECTORS["head_list"])).for_relay()
    assert cost_text(report_cost(head_list)) == VECTORS["report_cost"]
    for vector in VECTORS["reports"]:
        source = GivenBytes(bytes.fromhex(vector["uniform_bytes"]), is_private=True)
        device = LocalRandomizer(head_list, campaign_id=bytes(16), randomness=source)
        drawn = report_document(head_list, device.report(vector["query"], vector["url"]))
        assert drawn["items"] == vector["items"]
        assert len(base64.urlsafe_b64decode(drawn["items"] + "==")) == 1
        assert source.left == b""


@pytest.mark.parametrize("vector", VECTORS["small_batches"])
def test_the_bound_is_never_below_what_was_counted(vector: dict[str, Any]) -> None:
    channel = SubsetChannel.naming_one(vector["cells"], Fraction(vector["report_epsilon"]))
    for spare, bound in vector["bounds"].items():
        delta = shuffled_delta(
            channel, vector["honest"], Fraction(vector["epsilon"]), Fraction(spare)
        )
        assert int(vector["counted"]) <= ceil(delta * UNITS) == int(bound)


@pytest.mark.parametrize("vector", VECTORS["promises"])
def test_a_promise_is_kept_or_not(vector: dict[str, Any]) -> None:
    document = vector["relay"]
    relay = RelayMechanism(
        epsilon=float(document["epsilon"]),
        delta=float(document["delta"]),
        report_epsilon=float(document["report_epsilon"]),
        least_batch=document["least_batch"],
        dishonest=float(document["dishonest"]),
    )
    delta = exact(relay.delta)
    channel = SubsetChannel.naming_one(vector["cells"], exact(relay.report_epsilon))
    spent = shuffled_delta(channel, vector["honest"], exact(relay.epsilon), delta * SPARE)
    assert relay.honest == vector["honest"]
    assert ceil(spent * UNITS) == int(vector["delta"])
    assert (spent <= delta) == vector["is_kept"]


def test_every_list_whose_uniform_share_is_too_small_is_refused() -> None:
    twins = [one for one in VECTORS["promises"] if one["name"] == "a uniform share 2 % too small"]
    assert len(twins) == 12
    assert not any(twin["is_kept"] for twin in twins)
