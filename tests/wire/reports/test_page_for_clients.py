"""docs/reference/write-a-client.md suffices to write a client: an encoder made from it agrees."""

import ast
import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire.reports.encoder_from_the_page import (
    cell_of,
    e_to_minus,
    encoded,
    named_items,
    packed,
    question_of,
    subset_size,
    text_of,
)

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.reports.service_report import ReportReader

ROOT = Path(__file__).parents[3]
DEVICES = json.loads((ROOT / "test_vectors" / "device_reports.json").read_text(encoding="utf-8"))
SUBSETS = json.loads((ROOT / "test_vectors" / "subset_selection.json").read_text(encoding="utf-8"))


def bytes_of(content: bytes) -> Callable[[int], bytes]:
    """Return a source that must be used up exactly as stated."""
    rest = bytearray(content)

    def take(length: int) -> bytes:
        assert length <= len(rest), "the encoder takes more bytes than the vector has"
        taken = bytes(rest[:length])
        del rest[:length]
        return taken

    return take


def test_the_encoder_knows_the_page_only() -> None:
    source = Path(__file__).with_name("encoder_from_the_page.py").read_text(encoding="utf-8")
    imported = {
        name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        )
    }
    assert imported == {
        *("base64", "hashlib", "collections.abc", "decimal", "fractions", "math", "typing"),
    }


def test_e_to_the_minus_epsilon_is_rounded_as_the_page_says() -> None:
    for vector in DEVICES["odds_of_a_lie"]:
        assert e_to_minus(Fraction(vector["epsilon"])) * 2**256 == int(vector["odds"])


def test_d_and_the_threshold_follow_from_the_page() -> None:
    for vector in SUBSETS["channels"]:
        d, threshold = subset_size(vector["size"], Fraction(vector["epsilon"]))
        assert (d, str(threshold)) == (vector["subset_size"], vector["threshold"])
        assert len(packed(vector["size"], range(d))) == vector["bytes"]


def test_draws_follow_from_the_page() -> None:
    for vector in SUBSETS["draws"]:
        size = vector["size"]
        d, threshold = subset_size(size, Fraction(vector["epsilon"]))
        source = bytes_of(bytes.fromhex(vector["uniform_bytes"]))
        named = named_items(size, d, threshold, vector["item"], source)
        assert named == vector["items"]


@pytest.mark.parametrize("number", range(len(DEVICES["reports"])))
def test_reports_follow_from_the_page(number: int) -> None:
    vector = DEVICES["reports"][number]
    report = encoded(
        DEVICES["head_lists"][vector["head_list"]],
        vector["query"],
        vector["url"],
        bytes.fromhex(vector["report_id"]),
        bytes_of(bytes.fromhex(vector["uniform_bytes"])),
    )
    assert report == vector["document"]


MECHANISMS = st.one_of(
    st.builds(
        SubsetSelectionMechanism,
        epsilon=st.floats(0.05, 12),
        query_share=st.sampled_from([0.0, 0.25, 0.5, 0.97]),
    ),
    st.builds(
        LocalAlgMechanism,
        epsilon=st.floats(0.05, 12),
        delta=st.sampled_from([1e-9, 1e-5, 0.2]),
        query_budget_fraction=st.sampled_from([0.15, 0.5, 0.85]),
        records_per_client=st.just(1),
    ),
)


@given(
    mechanism=MECHANISMS,
    urls=st.lists(st.integers(1, 5), min_size=1, max_size=40),
    which=st.integers(0, 50),
    seed=st.integers(0, 2**32),
)
def test_what_the_page_makes_is_what_the_service_takes(
    mechanism: SubsetSelectionMechanism | LocalAlgMechanism, urls: list[int], which: int, seed: int
) -> None:
    records = [Record(f"q{i}", f"{u}.example") for i, n in enumerate(urls) for u in range(n)]
    head_list = HeadList.of(records, mechanism=mechanism, private=True)
    document: dict[str, Any] = head_list_document(head_list)
    coins = random.Random(seed)
    report_id = coins.randbytes(16)
    report = encoded(document, f"q{which}", "0.example", report_id, coins.randbytes)
    reader = ReportReader(head_list)
    reader.require_shared(report["version"], report["head_list"], report["mechanism"])
    ids = reader.ids([report["report_id"]])
    if head_list.mechanism.layout == "cell":
        assert 0 <= reader.cells([report["cell"]])[0].items[0, 0] < head_list.cells.cell_count
    else:
        answers = reader.subsets(ids, [report["question"]], [report["items"]])
        assert [answer.question for answer in answers] == [report["question"]]
    assert cell_of(document, f"q{which}", "0.example") == head_list.cell_index().cell(
        f"q{which}", "0.example"
    )


def test_the_example_of_the_page() -> None:
    d, threshold = subset_size(3, Fraction(1))
    assert (d, round(threshold / 2**64, 3)) == (1, 0.576)
    assert packed(3, [2]).hex() == "80"
    assert text_of(packed(3, [2])) == "gA"


def test_the_coin_of_the_page() -> None:
    for vector in SUBSETS["public_coins"]:
        share = Fraction(str(vector["query_share"]))
        asked = question_of(vector["campaign_id"].encode(), share) == "query"
        assert asked == vector["asked_for_query"]
