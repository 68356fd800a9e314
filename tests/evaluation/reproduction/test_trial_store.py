"""Outcomes under the hash of what they depend on."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.evaluation.reproduction.trial_store import TrialStore, name_of

VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
DESCRIPTIONS = st.dictionaries(st.text(), VALUES | st.dictionaries(st.text(), VALUES), min_size=1)


@given(DESCRIPTIONS, st.randoms())
def test_the_order_of_fields_does_not_change_a_name(described: dict[str, Any], random: Any) -> None:
    keys = list(described)
    random.shuffle(keys)
    assert name_of({key: described[key] for key in keys}) == name_of(described)


@given(DESCRIPTIONS, st.text(), VALUES)
def test_any_other_value_or_field_changes_it(
    described: dict[str, Any], key: str, value: Any
) -> None:
    changed = {**described, key: value}
    same = json.dumps(changed, sort_keys=True) == json.dumps(described, sort_keys=True)
    assert (name_of(changed) == name_of(described)) == same


def test_a_name_is_that_of_yesterday() -> None:
    """Trials of an earlier version of this code are found again: sha256sum of the text below."""
    canonical = b'{"a":1,"b":[2.5]}'
    expected = "1d97f1c6350e2d952e3db713f3d5e3b3992bc269e1e2351d30c1b917ee185bde"
    assert hashlib.sha256(canonical).hexdigest() == expected
    assert name_of({"b": [2.5], "a": 1}) == expected


def test_what_was_added_is_there_for_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    store = TrialStore(path)
    assert len(store) == 0
    store.add({"a": 1}, {"ndcg": 0.5})
    store.add({"a": 2}, None)
    again = TrialStore(path)
    assert len(again) == 2
    assert again[{"a": 1}] == {"ndcg": 0.5}
    assert {"a": 3} not in again
    assert {"a": 2} in again


@pytest.mark.parametrize("lost", range(1, 140, 7))
def test_a_line_cut_short_is_lost_alone(tmp_path: Path, lost: int) -> None:
    path = tmp_path / "trials.jsonl"
    store = TrialStore(path)
    store.add({"a": 1}, 1)
    whole = path.stat().st_size
    store.add({"a": 2}, 2)
    with path.open("r+b") as file:
        file.truncate(max(whole, path.stat().st_size - 1 - lost))
    again = TrialStore(path)
    assert {"a": 1} in again
    assert {"a": 2} not in again
    again.add({"a": 3}, 3)
    last = TrialStore(path)
    assert ({"a": 1} in last, {"a": 3} in last) == (True, True)


def test_a_line_that_was_changed_by_hand_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    TrialStore(path).add({"epsilon": 1.0}, 1)
    path.write_text(path.read_text().replace('"epsilon": 1.0', '"epsilon": 2.0'))
    store = TrialStore(path)
    assert len(store) == 0
    path.write_text("[]\n7\nnull\n{}\n\xff\n")
    assert len(TrialStore(path)) == 0
