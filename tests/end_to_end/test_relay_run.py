"""A run with relay clients: a third column, a third promise, and no change without them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from end_to_end.conftest import PROMISE, SIDES, BlenderDp

from blender_dp.cli import main
from blender_dp.local_search.serving import ServingRule, served
from blender_dp.wire.published.release import read_release

ReadJson = Callable[[Path], Any]
CLIENTS = 16_000
COLUMNS = ("relay_probability", "relay_weight", "relay_std_error")


@pytest.fixture(scope="module", params=[0.5, 1.0])
def share(request: pytest.FixtureRequest) -> float:
    return float(request.param)


@pytest.fixture(scope="module")
def relayed(
    log: Path, share: float, blender_dp: BlenderDp, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("relay") / "result"
    blender_dp("run", log, *PROMISE, *SIDES, "--seed=7", f"--relay={share}", "-o", out)
    return out


def rows(result: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(result / f"{name}.parquet").to_pylist()
    return found


def test_every_row_says_what_relay_clients_say_and_what_they_weigh(
    relayed: Path, share: float
) -> None:
    for name in ("records", "queries"):
        for row in rows(relayed, name):
            assert all(row[column] is not None for column in COLUMNS)
            assert 0.4 < row["relay_weight"] < 1 or row["cell"] == "other"
            assert row["opt_in_weight"] + row["relay_weight"] < 1 + 1e-9
            assert (row["client_probability"] is None) == (share == 1)
    assert sum(row["relay_report_count"] for row in rows(relayed, "records")) == share * CLIENTS


def test_all_clients_together_know_more_than_each_group(relayed: Path, share: float) -> None:
    for row in (*rows(relayed, "records"), *rows(relayed, "queries")):
        together, relay = row["all_clients_std_error"], row["relay_std_error"]
        if share == 1:
            assert row["all_clients_probability"] == pytest.approx(row["relay_probability"])
            assert together == pytest.approx(relay)
        else:
            assert together < min(relay, row["client_std_error"])


def test_intervals_are_narrower_than_without_a_relay(result: Path, relayed: Path) -> None:
    """Of the queries that both list: a relay also changes the budget for the list."""
    error = {row["query"]: row["std_error"] for row in rows(result, "queries")}
    both = [row for row in rows(relayed, "queries") if row["query"] in error]
    assert len(both) > len(error) / 2
    for row in both:
        assert row["std_error"] < error[row["query"]] or row["cell"] == "other"


def test_both_promises_to_relay_clients_are_in_the_documents(
    relayed: Path, share: float, read_json: ReadJson, blender_dp: BlenderDp
) -> None:
    run, head_list = read_json(relayed / "run.json"), read_json(relayed / "head_list.json")
    clients = round(share * CLIENTS)
    assert run["users"]["relay_clients"] == clients
    assert run["relay"] == {"share": share, "epsilon_cap": 8.0, "dishonest": 0.2}
    unless, then = run["promises"][-2:]
    assert unless["to"] == f"{clients:,} relay clients, unless relay and collector collude"
    assert (unless["epsilon"], unless["delta"]) == (4.0, 1e-4)
    assert then["to"] == f"{clients:,} relay clients, if relay and collector collude"
    assert 4 < then["epsilon"] <= 8
    assert head_list["relay"]["report_epsilon"] == repr(then["epsilon"])
    assert head_list["relay"]["least_batch"] == clients
    blender_dp("certify", relayed)


@pytest.mark.parametrize("name", ["run.json", "release.json"])
def test_fewer_relay_clients_than_the_least_batch_are_not_certified(
    relayed: Path, name: str, read_json: ReadJson, tmp_path: Path, capsys: Any
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(relayed, copy)
    document = read_json(copy / name)
    least = document["users"]["relay_clients"]
    document["users"]["relay_clients"] = least - 1
    (copy / name).write_text(json.dumps(document))
    with pytest.raises(SystemExit) as ending:
        main(["certify", str(copy)])
    assert ending.value.code == 1
    sentence = f"a batch had {least - 1:,} reports, and the head list promises its ε and δ for at"
    assert sentence in capsys.readouterr().err.replace("\n", " ")


def test_relay_clients_of_a_list_without_a_relay_are_refused(
    result: Path, read_json: ReadJson, tmp_path: Path, capsys: Any
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(result, copy)
    document = read_json(copy / "run.json")
    document["users"]["relay_clients"] = 5
    (copy / "run.json").write_text(json.dumps(document))
    with pytest.raises(SystemExit) as ending:
        main(["certify", str(copy)])
    assert ending.value.code == 2
    assert "the head list has no relay" in capsys.readouterr().err.replace("\n", " ")


def test_the_report_gives_a_reason_only_where_clients_report_only_the_query(
    relayed: Path, result: Path, share: float, read_json: ReadJson
) -> None:
    for folder in (relayed, result):
        said = read_json(folder / "run.json")["method"]["clients"]
        assert ("reason" in said) == (said["query_share"] > 0)
        assert not said.get("reason", "").startswith("0%")
    assert share < 1 or read_json(relayed / "run.json")["method"]["clients"]["query_share"] == 0


def test_groups_that_are_samples_of_the_same_users_do_not_differ(
    relayed: Path, share: float, read_json: ReadJson
) -> None:
    release = read_json(relayed / "release.json")
    assert not release["drift"]["is_significant"]
    if share == 1:
        assert release["relay_drift"] is None
    else:
        assert not release["relay_drift"]["is_significant"]


def test_what_relay_clients_confirm_is_served(relayed: Path) -> None:
    release = read_release(relayed / "release.json")
    assert release.client_users == CLIENTS
    assert len(served(release, ServingRule()).queries) >= 2


def test_without_relay_clients_nothing_changes(
    log: Path, result: Path, blender_dp: BlenderDp, tmp_path: Path
) -> None:
    out = tmp_path / "result"
    blender_dp("run", log, *PROMISE, *SIDES, "--seed=7", "--relay=0", "-o", out)
    for name in ("records.csv", "queries.csv", "head_list.json"):
        assert (out / name).read_bytes() == (result / name).read_bytes()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--relay=1.5",), "relay must be a share from 0 to 1"),
        (("--relay=1", "--relay-cap=0"), "relay_cap must be a finite number above 0"),
        (("--relay=1", "--relay-dishonest=1"), "relay_dishonest must be at least 0 and below 1"),
        (("--relay=1", "--preset=paper"), "relay must be left out with the preset paper"),
    ],
)
def test_a_wrong_relay_is_refused(
    log: Path, tmp_path: Path, options: tuple[str, ...], complaint: str, capfd: Any
) -> None:
    out = tmp_path / "result"
    with pytest.raises(SystemExit) as ending:
        main(["run", str(log), *PROMISE, *SIDES, *options, "-o", str(out)])
    assert ending.value.code == 2
    assert complaint in capfd.readouterr().err.replace("\n", " ")
    assert not out.exists()
