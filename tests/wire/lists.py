"""Head lists to send, and documents that somebody tampered with."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.relayed import RelayMechanism
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.head_list.head_list import HeadList, Record

MECHANISM = LocalAlgMechanism(
    epsilon=4.0, delta=1e-5, query_budget_fraction=0.85, records_per_client=1
)
RECORDS = (
    Record("news", "a.example"),
    Record("weather", "b.example"),
    Record("weather", "c.example/é"),
    Record("★", "*"),
)
LIST = HeadList.of(RECORDS, mechanism=MECHANISM, private=True)
SHARP_LIST = HeadList.of(
    RECORDS, mechanism=SubsetSelectionMechanism(epsilon=1.0, query_share=0.25), private=True
)
"""Eight cells of which two are named, four queries of which one is."""
RELAY_LIST = replace(
    SHARP_LIST,
    relay=RelayMechanism(
        epsilon=1.0, delta=1e-5, report_epsilon=3.25, least_batch=500, dishonest=0.2
    ),
)
OTHER_LIST = HeadList.of(RECORDS[1:], mechanism=MECHANISM, private=True)

AWKWARD = (
    *("*", "★", "⋆", "", " ", '"', "'", "\\", "\n", "\r\n", "\t", "\0", "\x7f", "\u2028", "\ufeff"),
    *("שלום", "\u202eabc", "مرحبا", "e\u0301", "é", "\U0001f600", "\U0010ffff", "\ufffd"),
    *("null", "</script>", "a,b", "{}", "weather"),
)
texts = st.text(max_size=12) | st.sampled_from(AWKWARD)
subset_selection = st.builds(
    SubsetSelectionMechanism,
    epsilon=st.floats(1e-6, 1e3),
    query_share=st.floats(0, 1, exclude_max=True),
)
mechanisms = subset_selection | st.builds(
    LocalAlgMechanism,
    epsilon=st.floats(1e-6, 1e3),
    delta=st.floats(1e-300, 0.5),
    query_budget_fraction=st.floats(0.01, 0.99),
    records_per_client=st.integers(1, 20),
)
head_lists = st.builds(
    HeadList.of,
    st.lists(st.builds(Record, texts, texts), max_size=12),
    mechanism=mechanisms,
    private=st.booleans(),
)


def canonical(value: Any) -> str:
    """Write JSON with sorted keys and no white space, a second time and without the library."""
    if isinstance(value, Mapping):
        members = (f"{canonical(key)}:{canonical(value[key])}" for key in sorted(value))
        return "{" + ",".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def digest_by_hand(document: Mapping[str, Any]) -> str:
    """Return the digest of everything but the digest, derived from the stated rule."""
    text = canonical({name: value for name, value in document.items() if name != "digest"})
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


def write_json(path: Path, document: Any) -> Path:
    """Write a document as anybody could."""
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def write_with_digest(path: Path, document: Mapping[str, Any]) -> Path:
    """Write a document whose digest fits, so that only its own rules can refuse it."""
    return write_json(path, {**document, "digest": digest_by_hand(document)})
