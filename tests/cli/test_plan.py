"""``blender-dp plan``: a table, an object for programs, files and a page."""

import csv
import json
from pathlib import Path

import pytest
from cli.outcomes import Command, assert_refused
from pages.report_inputs import make_release

from blender_dp.wire.published.release import read_release

PLAN = ("plan", "--users=30000", "--epsilon=4", "--delta=1e-5", "--draws=2")
ZIPF = (*PLAN, "--like=zipf:1.1")

DISCOVERY = {
    "branch": None,
    "users": 24_670,
    "candidate_records": 72,
    "threshold": 7.0,
    "average_weight": None,
    "average_weight_error": None,
    "record_concentration": None,
    "concentration_error": None,
    "right_slope": 2.0,
    "left_slope": 2.0,
    "sigma": None,
}


def test_the_prediction_is_a_table(command: Command) -> None:
    outcome = command(*ZIPF)
    assert outcome.status == 0
    heading, first = outcome.out.splitlines()[:2]
    assert " ".join(heading.split()) == "predicted mean ± 95 % nine of ten collections"
    assert first.startswith("queries on the list")
    assert "clients: subset selection" in outcome.out
    assert outcome.err.startswith("The plan assumes records like zipf:1.1.")


def test_json_is_the_plan(command: Command) -> None:
    document = json.loads(command(*ZIPF, "--json", "--target-size=15").out)
    assert (document["users"], document["opt_in_users"]) == (30_000, 1_500)
    assert [answer["varied"] for answer in document["answers"]] == ["opt_in", "epsilon"]


def test_a_list_of_queries_is_predicted_with_known_queries_or_without(command: Command) -> None:
    flat = (*PLAN, "--like=flat", "--opt-in=0.2", "--json")
    plain, informed, records = (
        json.loads(command(*flat, *more).out)["measures"]["queries"]["mean"]
        for more in (("--list=queries",), ("--list=queries", "--known"), ())
    )
    assert plain > 2 * records
    assert informed > 1.05 * plain
    assert_refused(command(*flat, "--list=queries", "--preset=paper"), "--list: list_of must be")


def test_what_a_relay_would_change_is_a_column(command: Command) -> None:
    outcome = command(*ZIPF, "--relay=0.5", "--relay-cap=6", "--target-l1=0.02")
    assert outcome.status == 0
    heading, *rows = outcome.out.splitlines()
    assert heading.split()[-5:] == ["nine", "of", "ten", "without", "relay"]
    with_relay, without = (float(rows[3].split()[place]) for place in (4, -1))
    assert with_relay < 0.8 * without
    assert "relay: 14,250 clients; ε = 4 and δ = 1e-05 as long as the relay" in outcome.out
    assert "of the clients behind a relay:" in outcome.out
    assert len(heading) <= 80


def test_the_curve_along_the_relay_share_is_written(command: Command, tmp_path: Path) -> None:
    outcome = command(*ZIPF, "--relay=0.5", "-o", tmp_path / "plan")
    assert outcome.status == 0
    document = json.loads((tmp_path / "plan" / "plan.json").read_text(encoding="utf-8"))
    assert document["curve"]["of"] == "relay"
    assert [len(document["curve"][name]) for name in ("points", "without_relay")] == [8, 1]
    with (tmp_path / "plan" / "plan.csv").open(encoding="utf-8", newline="") as file:
        assert [row["relay"] for row in csv.DictReader(file)][-1] == "1.0"


def test_files_hold_the_curve(command: Command, tmp_path: Path) -> None:
    outcome = command(*ZIPF, "-o", tmp_path / "plan", "--curve=epsilon")
    assert outcome.status == 0
    assert outcome.out.endswith(f"page: {tmp_path / 'plan' / 'plan.html'}\n")
    with (tmp_path / "plan" / "plan.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["epsilon"] for row in rows][3] == "4.0"
    document = json.loads((tmp_path / "plan" / "plan.json").read_text(encoding="utf-8"))
    assert (
        float(rows[3]["queries_mean"])
        == document["curve"]["points"][3]["measures"]["queries"]["mean"]
    )
    assert_refused(command(*ZIPF, "-o", tmp_path / "plan"), "exists already")


def test_a_plan_says_that_the_noisy_number_chose_queries(command: Command) -> None:
    sentence = "The noisy number chose to list queries, without URLs, in every draw."
    flat, plain = (
        command(
            "plan", "--users=60000", "--epsilon=8", "--delta=1e-5", f"--like={like}", "--list=auto"
        )
        for like in ("flat", "zipf")
    )
    assert sentence in flat.err
    assert sentence not in plain.err


def test_an_earlier_release_says_what_records_are_like(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "release.json"
    path.write_text(json.dumps(make_release()), encoding="utf-8")
    outcome = command(*PLAN, path)
    assert outcome.status == 0
    assert outcome.err.startswith("The plan assumes records like those of the release.")
    assert_refused(command(*ZIPF, path), "--like: like must be left out where a release is given")


def test_a_release_is_planned_at_its_own_numbers(command: Command, tmp_path: Path) -> None:
    path, document = tmp_path / "release.json", make_release()
    path.write_text(json.dumps(document), encoding="utf-8")
    planned = json.loads(command("plan", path, "--draws=2", "--json").out)
    release = read_release(path)
    opted_in = release.opt_in_users + release.discovery_users
    assert planned["users"] == opted_in + release.client_users
    assert planned["opt_in_users"] == opted_in
    assert planned["parameters"]["epsilon"] == release.epsilon
    assert_refused(
        command("plan"), "--users: users must be given, unless an earlier release states it"
    )


def test_a_release_of_paper_is_planned_with_paper_and_all_its_opt_in_users(
    command: Command, tmp_path: Path
) -> None:
    """Those who found the list are nine in ten, and are not counted again."""
    path, document = tmp_path / "release.json", make_release()
    path.write_text(json.dumps(document), encoding="utf-8")
    said = command("plan", path, "--draws=2", "--json")
    plan, users = json.loads(said.out), document["users"]
    assert plan["parameters"]["preset"] == "paper"
    assert plan["users"] == sum(users.values())
    opted_in = users["opt_in_discovery"] + users["opt_in_estimation"]
    assert plan["opt_in_users"] == pytest.approx(opted_in, abs=1)
    assert "at the same numbers, f_O and f_C included." in said.err


def test_a_trimmed_release_is_planned_with_as_many_queries(
    command: Command, tmp_path: Path
) -> None:
    path, document = tmp_path / "release.json", make_release()
    listed = sum(row["cell"] == "query" for row in document["queries"])
    sizes = {}
    for found in (listed, 3 * listed):
        document["discovery"] = {**DISCOVERY, "candidate_queries": found}
        path.write_text(json.dumps(document), encoding="utf-8")
        plan = json.loads(command("plan", path, "--draws=2", "--json").out)
        sizes[found] = plan["parameters"]["head_list_size"]
    assert sizes == {listed: None, 3 * listed: listed}


def test_a_longer_list_than_that_of_a_trimmed_release_can_be_the_goal(
    command: Command, tmp_path: Path
) -> None:
    """M of the release would put it out of reach."""
    path, document = tmp_path / "release.json", make_release()
    document["preset"] = "sharp"
    listed = sum(row["cell"] == "query" for row in document["queries"])
    document["discovery"] = {**DISCOVERY, "candidate_queries": 3 * listed}
    path.write_text(json.dumps(document), encoding="utf-8")
    sizes = {}
    for goal in (listed, listed + 1):
        said = command("plan", path, "--draws=2", f"--target-size={goal}", "--json")
        sizes[goal] = json.loads(said.out)["parameters"]["head_list_size"]
    assert sizes == {listed: listed, listed + 1: None}


def test_a_list_of_no_queries_is_refused(command: Command, tmp_path: Path) -> None:
    """It is not taken for one that was left out."""
    path = tmp_path / "release.json"
    path.write_text(json.dumps(make_release()), encoding="utf-8")
    for planned in (ZIPF, ("plan", path)):
        outcome = command(*planned, "--head-list-size=0")
        assert_refused(outcome, "--head-list-size: head_list_size must be a whole number, at least")


def test_a_release_that_paper_cannot_make_is_refused_by_the_option_that_was_given(
    command: Command, tmp_path: Path
) -> None:
    path, document = tmp_path / "release.json", make_release()
    document["preset"] = "sharp"
    document["records"] = [row for row in document["records"] if row["cell"] != "record"]
    path.write_text(json.dumps(document), encoding="utf-8")
    outcome = command("plan", path, "--preset=paper")
    assert_refused(outcome, "--preset: preset must be left out after a release that lists queries")


def test_a_release_of_no_users_is_refused(command: Command, tmp_path: Path) -> None:
    path, document = tmp_path / "release.json", make_release()
    document["users"] = dict.fromkeys(document["users"], 0)
    path.write_text(json.dumps(document), encoding="utf-8")
    assert_refused(command("plan", path), "like must be a release of users; got 'one of none'")


def test_a_release_is_planned_with_its_own_relay(command: Command, tmp_path: Path) -> None:
    """Without it, its intervals would be predicted more than twice as wide."""
    path, document = tmp_path / "release.json", make_release()
    clients = document["users"]["clients"]
    document["preset"] = "sharp"
    document["users"] |= {"clients": clients // 4, "relay_clients": clients - clients // 4}
    path.write_text(json.dumps(document), encoding="utf-8")
    own, without, printed = (
        json.loads(command("plan", path, "--draws=2", "--json", *more).out)
        for more in ((), ("--relay=0",), ("--preset=paper",))
    )
    assert own["users"] == without["users"]
    assert own["relay_clients"] == pytest.approx(document["users"]["relay_clients"], abs=1)
    assert own["without_relay"]["measures"] == without["measures"]
    assert without["relay_clients"] == printed["relay_clients"] == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--users=0",), "--users: users must be a whole number from 1"),
        (("--opt-in=1",), "--opt-in: opt_in must be strictly between 0 and 1"),
        (("--like=bing",), "--like: like must be aol, yandex, zipf"),
        (("--target-size=1000000",), "the best is a list of"),
        (
            ("--head-list-size=9", "--target-ndcg=0.9"),
            "--head-list-size: head_list_size must be left out or at least 10, the queries",
        ),
        (("--relay=2",), "--relay: relay must be a share from 0 to 1"),
        (("--relay=1", "--preset=paper"), "--relay: relay must be left out with the preset paper"),
        (("--target-l1=0",), "--target-l1: target_l1 must be above 0"),
        (("--records-per-user=0",), "--records-per-user: records_per_user must be between"),
        (("--draws=1",), "--draws: draws must be from 2"),
    ],
)
def test_a_wrong_argument_is_one_sentence(
    command: Command, arguments: tuple[str, ...], sentence: str
) -> None:
    given = {argument.partition("=")[0] for argument in arguments}
    kept = [option for option in ZIPF if option.partition("=")[0] not in given]
    assert_refused(command(*kept, *arguments), sentence)
