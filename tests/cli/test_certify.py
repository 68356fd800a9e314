"""``certify`` on what the other commands write: exit status, output, refusals."""

import json
import shutil
from pathlib import Path

import pytest
from cli.outcomes import PROMISE, Command, assert_refused

from blender_dp.cli import main
from blender_dp.cli.terminal import RESULTS
from blender_dp.core.certificate import certify as certifier
from blender_dp.core.certificate.certificate import Account
from blender_dp.core.certificate.certify import client_account
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters
from logs import popular_rows, write_csv

PRESETS = ["paper", "sharp"]


@pytest.fixture(scope="module", params=PRESETS)
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run and a curator's side of one preset. Not to be changed."""
    folder = tmp_path_factory.mktemp(request.param)
    log = write_csv(folder / "log.csv", popular_rows())
    for command in (["run", "--opt-in=0.5", "--yes"], ["head-list", "--yes"]):
        with pytest.raises(SystemExit) as ending:
            main([command[0], str(log), *command[1:], *PROMISE, f"--preset={request.param}",
                  "-o", str(folder / command[0])])  # fmt: skip
        assert not ending.value.code
    return folder


@pytest.mark.parametrize("name", ["run", "head-list"])
def test_a_result_is_certified(command: Command, results: Path, name: str) -> None:
    outcome = command("certify", results / name)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.endswith("Every promise is kept.\n")
    assert "clients" in outcome.out
    assert "opt-in users" in outcome.out


@pytest.mark.parametrize("name", ["run", "certify"])
def test_a_result_is_certified_once_for_all_its_files(
    command: Command, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    certified: list[HeadList] = []

    def counted(head_list: HeadList, parameters: Parameters | None) -> Account:
        certified.append(head_list)
        return client_account(head_list, parameters)

    monkeypatch.setattr(certifier, "client_account", counted)
    run = ("run", results / "log.csv", "--opt-in=0.5", *PROMISE, "-o", tmp_path / "out")
    assert command(*(run if name == "run" else ("certify", results / "run"))).status == 0
    assert len(certified) == 1


def test_names_stay_whole_in_80_columns(
    command: Command, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RESULTS, "_width", 80)
    lines = command("certify", results / "run").out.splitlines()
    assert max(map(len, lines)) <= 80
    document = json.loads(command("certify", results / "run", "--json").out)
    names = [account["to"] for account in document["accounts"]]
    names += [f"  {part['release']}" for one in document["accounts"] for part in one["parts"]]
    for name in names:
        assert any(line == name or line.startswith(f"{name}  ") for line in lines), name


def test_the_certificate_is_printed_and_written_for_programs(
    command: Command, results: Path, tmp_path: Path
) -> None:
    written = tmp_path / "certificate.json"
    outcome = command("certify", results / "head-list", "--json", "-o", written)
    document = json.loads(outcome.out)
    assert document == json.loads(written.read_text())
    assert document == json.loads((results / "head-list" / "certificate.json").read_text())
    assert (document["format"], document["verdict"]) == ("blender-dp certificate", "kept")


def test_the_head_list_alone_and_with_its_estimates(command: Command, results: Path) -> None:
    listed = results / "head-list" / "head_list.json"
    alone = json.loads(command("certify", listed, "--json").out)
    assert [account["to"] for account in alone["accounts"]] == ["clients"]
    both = command("certify", listed, listed.with_name("opt_in_estimates.json"), "--json")
    assert json.loads(both.out) == json.loads(listed.with_name("certificate.json").read_text())
    given = json.loads(command("certify", listed, *PROMISE, "--json").out)
    assert given["verdict"] == "kept"
    assert len(given["accounts"]) > 1


def test_a_list_above_the_promise_is_told_with_status_one(command: Command, results: Path) -> None:
    listed = results / "run" / "head_list.json"
    outcome = command("certify", listed, "--epsilon=1", "--delta=0.01")
    assert outcome.status == 1
    assert outcome.err.startswith("blender-dp: The promise to clients is broken: it was ε = 1")
    assert outcome.err.count("\n") == 1
    assert "broken" in outcome.out


@pytest.mark.parametrize("name", ["run.json", "release.json"])
def test_an_edited_result_is_refused(
    command: Command, results: Path, tmp_path: Path, name: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(results / "run", copy)
    path = copy / name
    path.write_text(path.read_text().replace('"tight_epsilon": "', '"tight_epsilon": "0'))
    assert_refused(command("certify", copy), name, "digest")


@pytest.mark.parametrize(
    ("name", "place", "field", "value"),
    [
        ("release.json", ("promise",), "epsilon", 0.5),
        ("release.json", ("promise",), "delta", 1e-9),
        ("release.json", (), "preset", "other"),
        ("run.json", ("parameters",), "epsilon", 0.5),
        ("run.json", ("parameters",), "records_per_client", 7),
        ("run.json", ("promises", 0), "epsilon", 0.5),
        ("run.json", ("promises", -1), "delta", 1e-12),
        ("run.json", ("promises", 0), "to", "nobody"),
    ],
)
def test_a_result_that_states_another_promise_than_was_certified_is_refused(
    command: Command,
    results: Path,
    tmp_path: Path,
    *,
    name: str,
    place: tuple[str | int, ...],
    field: str,
    value: object,
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(results / "run", copy)
    document = json.loads((copy / name).read_text())
    part = document
    for step in place:
        part = part[step]
    part[field] = value
    (copy / name).write_text(json.dumps(document))
    where = f"field {place[0]}: {field}" if place else f"field {field}"
    assert_refused(command("certify", copy), name, where, "must be that of the certificate")


def test_a_promise_left_out_of_the_account_of_a_run_is_noticed(
    command: Command, results: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(results / "run", copy)
    document = json.loads((copy / "run.json").read_text())
    document["promises"].pop()
    (copy / "run.json").write_text(json.dumps(document))
    assert_refused(command("certify", copy), "run.json", "must be those of the certificate")


def test_certificates_of_two_promises_in_one_place_are_refused(
    command: Command, results: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(results / "run", copy)
    listed = copy / "head_list.json"
    assert command("certify", listed, "-o", copy / "certificate.json").status == 0
    assert_refused(command("certify", copy), copy, "different promises")


def test_an_edited_head_list_is_refused(command: Command, results: Path, tmp_path: Path) -> None:
    path = tmp_path / "head_list.json"
    text = (results / "run" / "head_list.json").read_text()
    path.write_text(text.replace('"epsilon": "4.0"', '"epsilon": "9.0"'))
    assert_refused(command("certify", path), path, "digest")


def test_what_holds_no_certificate_is_refused(
    command: Command, results: Path, tmp_path: Path
) -> None:
    assert_refused(command("certify", tmp_path), tmp_path, "head_list.json")
    shutil.copy(results / "run" / "head_list.json", tmp_path)
    assert_refused(command("certify", tmp_path), tmp_path, "must hold a certificate.json")


def test_half_a_promise_or_two_are_refused(command: Command, results: Path) -> None:
    listed = results / "head-list" / "head_list.json"
    assert_refused(command("certify", listed, "--epsilon=4"), "--delta")
    assert_refused(command("certify", listed, "--delta=0.1"), "--epsilon")
    assert_refused(command("certify", results / "run", *PROMISE), "--epsilon", "left out")
    estimates = listed.with_name("opt_in_estimates.json")
    assert_refused(command("certify", listed, estimates, "--delta=0.1"), "--delta", "left out")


def test_a_seed_is_remarked_on(command: Command, results: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command("head-list", results / "log.csv", *PROMISE, "--seed=1", "-o", out)
    outcome = command("certify", out)
    assert outcome.status == 0
    assert outcome.err.startswith("Made with a seed")


def test_record_and_label_are_written_with_the_answers(
    command: Command, results: Path, tmp_path: Path
) -> None:
    about, record, label = (tmp_path / name for name in ("about.toml", "record.yaml", "label.svg"))
    about.write_text('name = "Searches"\n')
    wanted = ("--registry", record, "--label", label, "--about", about)
    outcome = command("certify", results / "run", *wanted)
    assert outcome.status == 0
    assert outcome.err.startswith(f"{record}: look for TO FILL IN, or give these with --about")
    assert 'name: "Searches"' in record.read_text()
    users = json.loads((results / "run" / "release.json").read_text())["users"]
    assert f"number_of_privacy_units: {sum(users.values())}\n" in record.read_text()
    assert 'model_name: "Central"' in record.read_text()
    assert ">Searches</text>" in label.read_text()
    listed = results / "head-list"
    assert_refused(command("certify", listed, "--registry", record), "about a published result")
    assert command("certify", listed, "--label", label).status == 0
    assert_refused(command("certify", listed, "--label", tmp_path / "no" / "x"), "No such file")


def test_a_broken_promise_has_no_label(command: Command, results: Path, tmp_path: Path) -> None:
    listed, label = results / "run" / "head_list.json", tmp_path / "label.svg"
    outcome = command("certify", listed, "--epsilon=1", "--delta=0.01", "--label", label)
    assert outcome.status == 1
    assert not label.exists()
