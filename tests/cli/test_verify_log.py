"""``verify-log`` on files: what holds, and one sentence for what does not."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from cli.outcomes import Command
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from blender_dp.wire.service.signed_log import log_document

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "test_vectors" / "signed_documents.json").read_text(encoding="utf-8"))
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
LOG = VECTORS["log"]
LIST = VECTORS["signed_head_lists"][0]["document"]
AUDIT = next(one["entries"] for one in VECTORS["chains"] if one["name"] == "audit")


def written(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_whole_log_is_confirmed(command: Command, tmp_path: Path) -> None:
    log = written(tmp_path / "log.json", LOG)
    outcome = command("verify-log", log)
    assert outcome.status == 0
    assert outcome.out == f"4 entries, unbroken; the last hash is {LOG['entries'][-1]['hash']}\n"
    assert VECTORS["public_key"] in outcome.err
    pinned = command("verify-log", log, "--key", VECTORS["public_key"])
    assert (pinned.status, pinned.err) == (0, "")


def test_a_list_is_found_where_it_was_logged(command: Command, tmp_path: Path) -> None:
    log = written(tmp_path / "log.json", LOG)
    signed = written(tmp_path / "signed.json", LIST)
    plain = written(tmp_path / "head_list.json", LIST["head_list"])
    outcome = command("verify-log", log, "--contains", signed, "--contains", plain, "--json")
    assert json.loads(outcome.out) == {
        "entries": 4,
        "head": LOG["entries"][-1]["hash"],
        "public_key": VECTORS["public_key"],
        "contains": {str(signed): 1, str(plain): 1},
    }


def test_the_audit_log_has_actors(command: Command, tmp_path: Path) -> None:
    log = written(tmp_path / "audit.json", log_document(AUDIT, KEY))
    assert command("verify-log", log, "--chain", "audit").status == 0
    outcome = command("verify-log", log)
    assert outcome.status == 2
    assert "entry 0 of the log is not a valid entry" in outcome.err


def test_an_empty_log_holds(command: Command, tmp_path: Path) -> None:
    log = written(tmp_path / "log.json", log_document([], KEY))
    assert command("verify-log", log).out == "0 entries, unbroken; the last hash is none\n"


def changed(**fields: Any) -> dict[str, Any]:
    document: dict[str, Any] = copy.deepcopy(LOG)
    document["entries"][2].update(fields)
    return document


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (changed(digest="sha256:" + "0" * 64), "entry 2 of the log was changed"),
        (changed(index=7), "entry 2 of the log must have the index 2"),
        ({**LOG, "entries": LOG["entries"][:3]}, "the log has a signature that is not that of"),
        ({**LOG, "signature": None}, "the log is not signed"),
        ({"entries": []}, "must have the fields entries"),
        ([], "must be a JSON object"),
    ],
)
def test_a_log_that_does_not_hold_is_one_sentence(
    command: Command, tmp_path: Path, document: Any, sentence: str
) -> None:
    outcome = command("verify-log", written(tmp_path / "log.json", document))
    assert (outcome.status, outcome.out) == (2, "")
    assert sentence in outcome.err
    assert outcome.err.count("\n") == 1


def test_what_was_never_logged_is_missed(command: Command, tmp_path: Path) -> None:
    log = written(tmp_path / "log.json", LOG)
    other = written(tmp_path / "other.json", {**LIST["head_list"], "private": False})
    outcome = command("verify-log", log, "--contains", other)
    assert outcome.status == 2
    assert outcome.err == f"blender-dp: {other} is not in the log\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--key", "short"), "key must be 32 bytes"),
        (("--key", "A" * 43), "the log is signed with another key"),
        (("--contains", "nowhere.json"), "nowhere.json: no such file"),
    ],
)
def test_a_wrong_argument_is_one_sentence(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    outcome = command("verify-log", written(tmp_path / "log.json", LOG), *arguments)
    assert outcome.status == 2
    assert sentence in outcome.err


def test_a_log_that_is_not_there(command: Command, tmp_path: Path) -> None:
    outcome = command("verify-log", tmp_path / "none.json")
    assert (outcome.status, outcome.err) == (
        2,
        f"blender-dp: {tmp_path / 'none.json'}: no such file\n",
    )
