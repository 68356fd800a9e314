"""``blender-dp evaluate`` from a log to its tables."""

import json
from dataclasses import fields
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from cli.outcomes import PROMISE, Command, assert_refused, names_in

from blender_dp.cli import evaluate
from blender_dp.engine.synthetic import Shape, synthesize, write_aol, write_log
from blender_dp.evaluation.trials.scores import Scores
from logs import GROUPED_HEADER, PLANTED, grouped, popular_rows, secret_rows, write_csv

WARNING = "Compares with the truth in the log: for experiments, not for release.\n"
FEW = (*PROMISE, "--repetitions=3", "--workers=1")


@pytest.fixture(scope="module")
def searches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("searches") / "log.parquet"
    write_log(synthesize(Shape.AOL_SINGLE, users=20_000, seed=0), path)
    return path


def test_a_log_is_measured_from_end_to_end(command: Command, searches: Path, place: Path) -> None:
    arguments = (*PROMISE, "--head-list-size=20", "--repetitions=4", "--workers=2")
    outcome = command("evaluate", searches, *arguments, "-o", place / "out")
    assert (outcome.status, outcome.err) == (0, WARNING)
    lines = outcome.out.splitlines()
    measures = [field.name for field in fields(Scores)]
    shown = [name for name in measures if "relay" not in name]
    assert [line.split()[0] for line in lines[1:]] == shown
    assert len(shown) == len(measures) - 4
    assert names_in(place) == ["out"]
    assert names_in(place / "out") == [
        *("measures.png", "measures.svg", "summary.csv", "trials.csv", "trials.parquet")
    ]
    trials = pq.read_table(place / "out" / "trials.parquet")
    assert trials["trial"].to_pylist() == [0, 1, 2, 3]
    assert all(0 < n <= 20 for n in trials["queries"].to_pylist())
    assert all(0.5 < value <= 1 for value in trials["ndcg"].to_pylist())
    assert pyarrow.csv.read_csv(place / "out" / "trials.csv").num_rows == 4
    measures = pyarrow.csv.read_csv(place / "out" / "summary.csv")
    mean = dict(zip(*(measures[name].to_pylist() for name in ("measure", "mean")), strict=True))
    assert mean["ndcg"] == pytest.approx(sum(trials["ndcg"].to_pylist()) / 4)


def test_without_the_extra_there_is_no_plot_and_a_sentence_says_how_to_get_it(
    command: Command, log: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate, "is_installed", lambda _: False)
    outcome = command("evaluate", log, *FEW, "--opt-in=0.5", "-o", place / "out")
    assert outcome.status == 0
    assert outcome.err.startswith(f"{WARNING}No plot was drawn: ")
    assert "pip install 'blender-dp[evaluation]'" in outcome.err
    assert names_in(place / "out") == ["summary.csv", "trials.csv", "trials.parquet"]


def test_json_is_one_object_and_no_file_is_needed(
    command: Command, searches: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    outcome = command("evaluate", searches, *FEW, "--opt-in=0.1", "--json")
    assert (outcome.status, outcome.err) == (0, WARNING)
    document = json.loads(outcome.out)
    assert (document["output"], document["private"], document["users"]) == (None, False, 20_000)
    assert (document["opt_in"], document["repetitions"], document["seed"]) == (0.1, 3, 0)
    assert document["parameters"]["epsilon"] == 4
    assert list(document["measures"]) == [field.name for field in fields(Scores)]
    assert set(document["measures"]["ndcg"]) == {
        *("trials", "mean", "std_error", "low", "median", "high")
    }
    assert names_in(place) == []


def test_the_same_seed_gives_the_same_numbers_and_another_gives_others(
    command: Command, log: Path
) -> None:
    def out(seed: int, workers: int) -> str:
        options = [*PROMISE, "--opt-in=0.5", "--repetitions=3", f"--workers={workers}"]
        return command("evaluate", log, *options, f"--seed={seed}", "--json").out

    assert out(0, 1) == out(0, 2)
    assert out(0, 1) != out(1, 1)


def test_a_list_that_stays_empty_is_measured_too(command: Command, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv", secret_rows())
    arguments = ("--epsilon=4", "--delta=1e-9", "--opt-in=0.5", *FEW[len(PROMISE) :])
    outcome = command("evaluate", path, *arguments, "--json")
    assert outcome.status == 0
    measures = json.loads(outcome.out)["measures"]
    assert measures["record_rmse"]["mean"] is None
    assert measures["recall_queries_10"]["mean"] == 0
    assert PLANTED not in outcome.out + outcome.err
    table = command("evaluate", path, *arguments)
    assert "– ± –" in table.out


def test_a_log_in_aols_layout_is_measured(command: Command, tmp_path: Path) -> None:
    write_aol(synthesize(Shape.AOL, users=500, seed=0), tmp_path / "aol.txt")
    outcome = command("evaluate", tmp_path / "aol.txt", *FEW, "--json")
    assert outcome.status == 0
    assert json.loads(outcome.out)["users"] == 500


def test_an_earlier_evaluation_is_replaced_only_when_asked(
    command: Command, log: Path, place: Path
) -> None:
    arguments = ("evaluate", log, *FEW, "--opt-in=0.5", "-o", place / "out")
    assert command(*arguments).status == 0
    assert_refused(command(*arguments), "exists already")
    assert command(*arguments, "--overwrite").status == 0
    (place / "out" / "mine.txt").write_text("mine")
    assert_refused(command(*arguments, "--overwrite"), "mine.txt")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--repetitions", value) for value in ("0", "-1", "1.5", "word", "")),
        *(("--workers", value) for value in ("0", "-1", "1.5", "word")),
        *(("--opt-in", value) for value in ("0", "1", "nan", "-0.1", "word")),
        *(("--relay", value) for value in ("1.1", "nan", "-0.1", "word")),
        ("--relay-cap", "0"),
        ("--relay-dishonest", "1"),
        *(("--seed", value) for value in ("-1", "1.5", "word")),
        *(("--epsilon", value) for value in ("0", "nan", "1e-9")),
        *(("--memory-limit", value) for value in ("1MB", "word")),
        ("--records-per-client", "2"),
        ("--records-per-optin-user", "2"),
        ("--format", "xml"),
    ],
)
def test_a_wrong_argument_is_refused(
    command: Command, log: Path, place: Path, option: str, value: str
) -> None:
    promise = [given for given in PROMISE if not given.startswith(option)]
    outcome = command("evaluate", log, *promise, f"{option}={value}", "-o", place / "out")
    assert_refused(outcome, option)
    assert "multiple times" not in outcome.err
    assert names_in(place) == []


def test_groups_of_the_log_are_refused_with_the_remedy(
    command: Command, tmp_path: Path, place: Path
) -> None:
    path = write_csv(tmp_path / "log.csv", grouped(popular_rows()), GROUPED_HEADER)
    outcome = command("evaluate", path, *PROMISE, "--group=side", "-o", place / "out")
    assert_refused(outcome, "--group", "--opt-in")
    assert names_in(place) == []


def test_bad_logs_are_refused_as_in_a_run(command: Command, tmp_path: Path, place: Path) -> None:
    nameless = write_csv(tmp_path / "nameless.csv", [*secret_rows(), ("", PLANTED, PLANTED)])
    ragged = tmp_path / "ragged.csv"
    ragged.write_text(f"user,query,url\n{PLANTED},{PLANTED}\n")
    few = write_csv(tmp_path / "few.csv", secret_rows(3))
    empty = write_csv(tmp_path / "empty.csv", [])
    for path in (nameless, ragged, few, empty, tmp_path / "missing.csv"):
        ran = command("run", path, *PROMISE, "--opt-in=0.05", "-o", place / "out")
        outcome = command("evaluate", path, *PROMISE, "-o", place / "out")
        assert_refused(outcome)
        assert outcome.err == ran.err
    assert names_in(place) == []


def test_help_says_that_it_is_not_private(command: Command) -> None:
    outcome = command("evaluate", "--help")
    assert outcome.status == 0
    assert "Not private" in outcome.out
    for option in ("LOG", "--repetitions", "--workers", "--seed", "--opt-in", "-o", "--json"):
        assert f" {option}" in outcome.out


def test_a_thousand_million_users_are_imagined_as_counts(command: Command) -> None:
    asked = ("--users=1e9", "--like=aol-single", "--opt-in=2e-5", "--repetitions=2", "--json")
    outcome = command("evaluate", *PROMISE, *asked)
    assert outcome.status == 0, outcome.err
    found = json.loads(outcome.out)
    assert (found["users"], found["repetitions"]) == (10**9, 2)
    assert "20,000 opt-in users and 999,980,000 clients" in outcome.err
    assert found["measures"]["queries"]["mean"] >= 1
    few = command("evaluate", *PROMISE, "--users=1e5", "--opt-in=0.2", *asked[1:2], *asked[3:])
    of_few = json.loads(few.out)["measures"]
    # As many opt-in users and ten thousand times the clients: the records are known better.
    assert found["measures"]["record_l1"]["mean"] < of_few["record_l1"]["mean"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--users=1e9", "--opt-in=0.5"), "--opt-in"),
        (("--users=1e99",), "--users"),
        (("--users=1.55e1",), "--users"),
        (("--users=0",), "--users"),
        (("--users=1e5", "--like=word"), "--like"),
        (("--users=1e5", "--repetitions=0"), "--repetitions"),
        (("--users=1e5", "--seed=-1"), "--seed"),
        (("--users=1e5", "-o", "out"), "--output"),
        (("--users=1e5", "--relay=1", "--preset=paper"), "--relay"),
        ((), "either a log or --users"),
    ],
)
def test_what_cannot_be_imagined_is_refused(
    command: Command, arguments: tuple[str, ...], named: str
) -> None:
    assert_refused(command("evaluate", *PROMISE, *arguments), named)
