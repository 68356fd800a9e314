"""Wrong arguments: one sentence that names the option and the rule, status 2, nothing made."""

from pathlib import Path

import pytest
from cli.outcomes import PROMISE, Command, assert_refused, names_in, remarks

from logs import PLANTED

NO_NUMBER = ("nan", "inf", "-inf", "-1", "0", "word", "")
NO_SHARE = ("nan", "inf", "-inf", "-0.1", "0", "1", "1.5", "word", "")
NO_COUNT = ("nan", "inf", "-1", "0", "1.5", "word", "")
PARAMETERS = {
    "--epsilon": NO_NUMBER,
    "--delta": NO_SHARE,
    "--head-list-size": NO_COUNT,
    "--head-list-user-fraction": NO_SHARE,
    "--query-budget-fraction": NO_SHARE,
    "--records-per-optin-user": NO_COUNT,
    "--records-per-client": NO_COUNT,
}
MACHINE = {
    "--memory-limit": ("nan", "inf", "-1", "0", "1MB", "63MiB", "word", "", "2XB", "9" * 30 + "T"),
    "--seed": ("nan", "inf", "1.5", "word", ""),
}
SYNTHETIC = {
    "--users": (*NO_COUNT, "99999999999"),
    "--seed": ("nan", "inf", "-1", "1.5", "word"),
    "--exponent": ("nan", "inf", "-1", "word"),
}
DEMO = {"--users": NO_COUNT, "--epsilon": NO_NUMBER, "--delta": NO_SHARE}


def cases(options: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(option, value) for option, values in options.items() for value in values]


@pytest.mark.parametrize(("option", "value"), cases(PARAMETERS))
def test_a_parameter_out_of_range_is_refused(
    command: Command, log: Path, place: Path, option: str, value: str
) -> None:
    for name, sides in (("run", ["--opt-in=0.5"]), ("head-list", [])):
        others = [given for given in PROMISE if not given.startswith(option)]
        outcome = command(name, log, *others, *sides, f"{option}={value}", "-o", place / "out")
        assert "multiple times" not in outcome.err
        assert_refused(outcome, option)
    assert names_in(place) == []


@pytest.mark.parametrize("value", NO_SHARE)
def test_a_share_of_opt_in_users_out_of_range_is_refused(
    command: Command, log: Path, place: Path, value: str
) -> None:
    outcome = command("run", log, *PROMISE, f"--opt-in={value}", "-o", place / "out")
    assert_refused(outcome, "--opt-in")
    assert names_in(place) == []


@pytest.mark.parametrize(("option", "value"), cases(MACHINE))
def test_a_machine_option_out_of_range_is_refused(
    command: Command, log: Path, place: Path, option: str, value: str
) -> None:
    arguments = [*PROMISE, "--opt-in=0.5", f"{option}={value}", "-o", str(place / "out")]
    assert_refused(command("run", log, *arguments), option)
    assert names_in(place) == []


@pytest.mark.parametrize(("option", "value"), cases(SYNTHETIC))
def test_a_log_that_cannot_be_made_up_is_refused(
    command: Command, place: Path, option: str, value: str
) -> None:
    outcome = command("synth", "--shape=zipf", f"{option}={value}", "-o", place / "log.csv")
    assert_refused(outcome, option)
    assert names_in(place) == []


@pytest.mark.parametrize(("option", "value"), cases(DEMO))
def test_a_demo_out_of_range_is_refused(
    command: Command, place: Path, option: str, value: str
) -> None:
    assert_refused(command("demo", f"{option}={value}", "-o", place / "demo"), option)
    assert names_in(place) == []


def test_more_records_a_user_than_memory_holds_is_refused(
    command: Command, log: Path, place: Path
) -> None:
    many = "--records-per-client=1000000000000"
    assert_refused(command("run", log, *PROMISE, "--opt-in=0.5", many, "-o", place / "out"))
    assert names_in(place) == []


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["frobnicate"], "frobnicate"),
        (["--frobnicate"], "--frobnicate"),
        (["run", "--frobnicate"], "--frobnicate"),
        (["run"], "LOG"),
        (["run", "log.csv"], "--output"),
        (["run", "log.csv", "-o", "out"], "--epsilon"),
        (["run", "log.csv", "-o", "out", "--epsilon", "4"], "--delta"),
        (["run", "log.csv", "-o"], "-o"),
        (["run", "log.csv", "-o", "out", *PROMISE, "--engine=sparc"], "--engine"),
        (["run", "log.csv", "-o", "out", *PROMISE, "--format=xml"], "--format"),
        (
            ["run", "log.csv", "-o", "out", *PROMISE, "--opt-in=0.5", "--preset=best"],
            "--preset",
        ),
        (["run", "log.csv", "-o", "out", *PROMISE], "--opt-in"),
        (["run", "log.csv", "-o", "out", *PROMISE, "--opt-in=0.5", "--group=side"], "--opt-in"),
        (["run", "log.csv", "-o", "out", *PROMISE, "--opt-in=0.5", "--json=7"], "--json"),
        (["head-list", "log.csv", "-o", "out"], "--epsilon"),
        (["privatize"], "HEAD_LIST"),
        (["estimate", "head_list.json"], "REPORTS"),
        (["blend", "head_list.json"], "OPT_IN_ESTIMATES"),
        (["synth"], "--output"),
        (["synth", "-o", "log.csv", "--shape=round"], "--shape"),
        (["synth", "-o", "log.csv", "--layout=xml"], "--layout"),
        (["synth", "-o", "log.csv", "--shape=aol", "--exponent=2"], "--exponent"),
        (["synth", "-o", "log.doc", "--users=9"], "--output"),
        (["synth", "-o", "log.csv", "--users=9", "--layout=aol"], "--output"),
    ],
)
def test_a_wrong_argument_is_named(
    command: Command,
    log: Path,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    named: str,
) -> None:
    monkeypatch.chdir(place)
    if arguments[1:2] == ["log.csv"]:
        arguments = [arguments[0], str(log), *arguments[2:]]
    assert_refused(command(*arguments), named)
    assert names_in(place) == []


def test_a_tiny_epsilon_is_refused_with_the_theorem_that_needs_more(
    command: Command, log: Path, place: Path
) -> None:
    arguments = ["--epsilon=1e-9", "--delta=1e-5", "--opt-in=0.5", "-o", str(place / "out")]
    assert_refused(command("run", log, *arguments), "--epsilon", "CreateHeadList")
    assert names_in(place) == []


@pytest.mark.parametrize(
    ("epsilon", "delta", "queries"),
    [("1e-9", "1e-12", 0), ("1e6", "1e-5", 5), ("1e300", "1e-5", 5), ("4", "1e-300", 0)],
)
def test_an_extreme_promise_is_kept(
    command: Command, log: Path, place: Path, epsilon: str, delta: str, queries: int
) -> None:
    promise = [f"--epsilon={epsilon}", f"--delta={delta}", "--opt-in=0.5", "--preset=paper"]
    outcome = command("run", log, *promise, "--yes", "--json", "-o", place / "out")
    assert outcome.status == 0
    assert f'"queries": {queries},' in outcome.out
    assert ("No record passed the threshold" in outcome.err) == (queries == 0)
    assert names_in(place) == ["out"]


@pytest.mark.parametrize(
    ("epsilon", "delta", "queries"),
    [("1e-4", "1e-12", 0), ("1e6", "1e-5", 5), ("1e300", "1e-5", 5), ("4", "1e-90", 0)],
)
def test_an_extreme_promise_is_kept_by_the_default_preset(
    command: Command, log: Path, place: Path, epsilon: str, delta: str, queries: int
) -> None:
    promise = [f"--epsilon={epsilon}", f"--delta={delta}", "--opt-in=0.5"]
    outcome = command("run", log, *promise, "--yes", "--json", "-o", place / "out")
    assert outcome.status == 0, outcome.err
    assert f'"queries": {queries},' in outcome.out


@pytest.mark.parametrize("size", ["6", "1000000", "9" * 40])
def test_a_list_shorter_than_asked_for_is_said_and_no_failure(
    command: Command, log: Path, place: Path, size: str
) -> None:
    arguments = [*PROMISE, "--opt-in=0.5", f"--head-list-size={size}", "-o", str(place / "out")]
    outcome = command("run", log, *arguments)
    assert outcome.status == 0
    # Beside others: δ is large here, and one in a hundred runs says by chance that groups differ.
    (said,) = [line for line in remarks(outcome) if line.startswith("The head list")]
    assert said.startswith(f"The head list has 5 queries, fewer than the {size} asked for")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--record", PLANTED, PLANTED, "log.csv"],
        ["--record", PLANTED],
        ["--record", PLANTED, PLANTED, PLANTED, "-o", "reports.parquet"],
        ["log.csv", "--record", PLANTED, PLANTED],
    ],
)
def test_a_record_in_a_wrong_argument_is_not_repeated(
    command: Command, head_list: Path, arguments: list[str]
) -> None:
    assert_refused(command("privatize", head_list, *arguments))
