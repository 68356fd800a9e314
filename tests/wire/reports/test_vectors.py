"""The library agrees with ``test_vectors/``, which other implementations read too.

What the vectors say is derived a second time here where that is possible without the library.
"""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from core.fig_6_by_hand import WORD
from core.given_bytes import GivenBytes
from core.subset_law_by_hand import candidates, pin
from wire.lists import digest_by_hand, write_json

from blender_dp.core.channels.public_coin import asked_for_query
from blender_dp.core.channels.report import Report
from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.local_alg.sharp import choose_subset
from blender_dp.wire.published.head_list import read_head_list
from blender_dp.wire.reports.packed_items import ItemPacking, table_of
from blender_dp.wire.reports.report import report_document

ROOT = Path(__file__).parents[3]
VECTORS = json.loads((ROOT / "test_vectors" / "subset_selection.json").read_text(encoding="utf-8"))
Vector = dict[str, Any]


def test_there_are_vectors_of_every_kind() -> None:
    assert VECTORS["mechanism"] == "subset-selection/1"
    assert len(VECTORS["channels"]) == 110
    assert {channel["form"] for channel in VECTORS["channels"]} == {"list", "bitmap"}
    told = {draw["item"] in draw["items"] for draw in VECTORS["draws"]}
    assert told == {True, False}
    assert {coin["asked_for_query"] for coin in VECTORS["public_coins"]} == {True, False}


def test_channels_are_chosen_alike() -> None:
    for vector in VECTORS["channels"]:
        size, epsilon = vector["size"], Fraction(vector["epsilon"])
        channel = SubsetChannel.of(size, epsilon)
        packing = ItemPacking.of(channel)
        assert (channel.subset_size, str(channel.threshold)) == (
            vector["subset_size"],
            vector["threshold"],
        )
        assert (packing.length, packing.is_bitmap) == (vector["bytes"], vector["form"] == "bitmap")


def test_channels_follow_from_the_definition() -> None:
    for vector in VECTORS["channels"]:
        size, epsilon, d = vector["size"], Fraction(vector["epsilon"]), vector["subset_size"]
        if size > 1:
            assert d in candidates(size, epsilon)
            assert int(vector["threshold"]) == int(pin(size, d, epsilon) * WORD)


@pytest.mark.parametrize("vector", VECTORS["draws"][::4], ids=lambda v: f"{v['size']}-{v['item']}")
def test_the_same_bytes_draw_the_same_report(vector: Vector) -> None:
    channel = SubsetChannel.of(vector["size"], Fraction(vector["epsilon"]))
    source = GivenBytes(bytes.fromhex(vector["uniform_bytes"]))
    named = choose_subset(vector["item"], channel, source)
    assert list(named) == vector["items"]
    assert source.left == b""
    packing = ItemPacking.of(channel)
    packed = packing.pack(table_of(named, packing.size))
    assert packed.tobytes().hex() == vector["packed"]
    counts = packing.counts(packed)
    assert counts is not None
    assert np.flatnonzero(counts).tolist() == vector["items"]


@pytest.mark.parametrize("vector", VECTORS["draws"], ids=lambda v: f"{v['size']}-{v['item']}")
def test_the_first_eight_bytes_decide_whether_the_truth_is_named(vector: Vector) -> None:
    d = SubsetChannel.of(vector["size"], Fraction(vector["epsilon"])).subset_size
    below = pin(vector["size"], d, Fraction(vector["epsilon"]))
    tells = int(vector["uniform_bytes"][:16], 16) < int(below * WORD)
    assert (vector["item"] in vector["items"]) is tells


def test_the_public_coin_falls_alike() -> None:
    for coin in VECTORS["public_coins"]:
        asked = asked_for_query(coin["campaign_id"], coin["query_share"])
        assert asked is coin["asked_for_query"]


def test_a_published_list_and_its_reports_are_written_alike(tmp_path: Path) -> None:
    document = VECTORS["documents"]["head_list"]
    assert document["digest"] == digest_by_hand(document)
    head_list = read_head_list(write_json(tmp_path / "head_list.json", document))
    for vector in VECTORS["documents"]["reports"]:
        question = cast("Any", vector["document"]["question"])
        report = Report(question=question, items=tuple(vector["items"]))
        assert report_document(head_list, report) == vector["document"]
        assert vector["document"]["head_list"] == document["digest"]
