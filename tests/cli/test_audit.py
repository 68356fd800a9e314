"""``audit`` from the command line: findings, exit status, refusals; quick, so it proves little."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from cli.outcomes import Command, assert_refused
from wire.lists import RELAY_LIST, write_json

from blender_dp.core.channels import subset_selection
from blender_dp.wire.published.head_list import head_list_document

QUICK = ("--draws=20000", "--seed=1")


def test_findings_are_a_table_for_a_person(command: Command) -> None:
    outcome = command("audit", *QUICK)
    assert (outcome.status, outcome.err) == (0, "")
    of_clients = ("local-alg", "subset-selection", "relayed-response, batches of 250")
    for target in (*of_clients, "discovery, paper", "sums, sharp"):
        assert target in outcome.out
    assert outcome.out.endswith("At most one of 1,000,000 audits proves something wrong.\n")


def test_findings_are_json_for_a_program(command: Command, head_list: Path) -> None:
    document = json.loads(command("audit", head_list, *QUICK, "--json", "--alpha=0.001").out)
    assert (document["verdict"], document["alpha"]) == ("kept", 0.001)
    first = document["findings"][0]
    assert first["epsilon"] == 4  # the list's own promise
    assert 0 <= first["shown"] <= first["epsilon"]
    assert sum(finding["alpha"] for finding in document["findings"]) == pytest.approx(0.001)


def test_relay_clients_of_a_published_list_are_attacked(command: Command, tmp_path: Path) -> None:
    listed = write_json(tmp_path / "head_list.json", head_list_document(RELAY_LIST))
    document = json.loads(command("audit", listed, *QUICK, "--json").out)
    found = {finding["target"]: finding for finding in document["findings"]}
    batches = found["relayed-response, batches of 250"]
    assert 0 <= batches["shown"] <= batches["epsilon"] <= 3.25
    assert batches["delta"] == 1e-5
    assert found["relayed-response, one device"]["epsilon"] == 3.25
    assert document["verdict"] == "kept"


def test_a_broken_build_is_told_in_one_sentence_with_status_one(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    odds = subset_selection._odds_of_a_lie
    monkeypatch.setattr(
        subset_selection, "_odds_of_a_lie", lambda epsilon: odds(Fraction(3, 2) * epsilon)
    )
    outcome = command("audit", *QUICK)
    assert outcome.status == 1
    assert outcome.err.startswith("blender-dp: relayed-response, many at once spends more than")
    assert outcome.err.count("\n") == 1
    assert " !" in outcome.out


@pytest.mark.parametrize(
    ("wrong", "named"),
    [("--draws=10", "--draws"), ("--alpha=0", "--alpha"), ("--epsilon=-1", "--epsilon")],
)
def test_wrong_settings_are_refused(command: Command, wrong: str, named: str) -> None:
    assert_refused(command("audit", "--draws=1000", wrong), named)
