"""Devices draw the same report from the same bytes, whichever language they run."""

import base64
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from core.fig_6_by_hand import WORD
from core.given_bytes import GivenBytes
from wire.lists import digest_by_hand, write_json

from blender_dp.core.channels.local_alg import LocalAlgChannel
from blender_dp.core.exact.enclosure import exp_enclosure
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.wire.published.head_list import read_head_list
from blender_dp.wire.reports.report import report_document

ROOT = Path(__file__).parents[3]
VECTORS = json.loads((ROOT / "test_vectors" / "device_reports.json").read_text(encoding="utf-8"))


@pytest.fixture
def head_lists(tmp_path: Path) -> list[HeadList]:
    return [
        read_head_list(write_json(tmp_path / f"{number}.json", document))
        for number, document in enumerate(VECTORS["head_lists"])
    ]


def test_lists_have_the_stated_digest() -> None:
    for document in VECTORS["head_lists"]:
        assert document["digest"] == digest_by_hand(document)


def test_the_odds_of_a_lie_are_the_same_bits() -> None:
    for vector in VECTORS["odds_of_a_lie"]:
        epsilon = Fraction(vector["epsilon"])
        assert exp_enclosure(-epsilon, 256).high == int(vector["odds"])


def test_thresholds_of_local_alg_are_the_same_integers(head_lists: list[HeadList]) -> None:
    for vector, head_list in zip(VECTORS["local_alg"], head_lists, strict=False):
        channel = LocalAlgChannel.of(head_list.cells, head_list.mechanism)
        assert str(channel.query_threshold) == vector["query_threshold"]
        assert list(map(str, channel.url_thresholds)) == vector["url_thresholds"]


@pytest.mark.parametrize("which", range(len(VECTORS["head_lists"])))
def test_the_same_bytes_draw_the_same_document(head_lists: list[HeadList], which: int) -> None:
    vectors = [vector for vector in VECTORS["reports"] if vector["head_list"] == which]
    assert len(vectors) == 24
    for vector in vectors:
        report_id = bytes.fromhex(vector["report_id"])
        source = GivenBytes(bytes.fromhex(vector["uniform_bytes"]), is_private=True)
        device = LocalRandomizer(head_lists[which], campaign_id=report_id, randomness=source)
        drawn = report_document(head_lists[which], device.report(vector["query"], vector["url"]))
        name = vector["document"]["report_id"]
        assert base64.urlsafe_b64decode(name + "==") == report_id
        assert {**drawn, "report_id": name} == vector["document"]
        assert source.left == b""


def test_there_are_reports_of_every_kind() -> None:
    documents: list[dict[str, Any]] = [vector["document"] for vector in VECTORS["reports"]]
    assert {document.get("question") for document in documents} == {None, "record", "query"}
    query_threshold = int(VECTORS["local_alg"][0]["query_threshold"])
    first_words = {
        int(vector["uniform_bytes"][:16], 16) < query_threshold
        for vector in VECTORS["reports"]
        if vector["head_list"] == 0
    }
    assert first_words == {True, False}
    assert query_threshold < WORD
