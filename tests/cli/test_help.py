"""What the command says about itself."""

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from cli.outcomes import PROMISE, Command, remarks

from blender_dp.cli.application import app
from blender_dp.core.head_list.visible_names import visible

LOG = ("--format", "--user", "--query", "--url", "--no-url", "--group")
MACHINE = ("--engine", "--memory-limit", "--seed")
PARAMETERS = (
    *("--epsilon", "--delta", "--head-list-size", "--preset", "--head-list-user-fraction"),
    *("--query-budget-fraction", "--records-per-optin-user", "--records-per-client", "--project"),
)
RESULT = ("--output", "--overwrite", "--json")
OPTIONS = {
    "demo": ("--output", "--users", "--epsilon", "--delta"),
    "run": ("LOG", *RESULT, "-o", "--opt-in", *LOG, *MACHINE, *PARAMETERS),
    "head-list": ("LOG", *RESULT, *LOG, *MACHINE, *PARAMETERS),
    "privatize": ("HEAD_LIST", "LOG", "--record", "--output", *LOG, *MACHINE),
    "estimate": ("HEAD_LIST", "REPORTS", "--output", "--json"),
    "blend": ("HEAD_LIST", "OPT_IN_ESTIMATES", "CLIENT_ESTIMATES", *RESULT),
    "search": (
        *("RELEASE", "TYPED", "--limit", "--significance", "--fewest-users", "--coverage"),
        "--json",
    ),
    "trends": (
        *("RELEASE", "EARLIER", "--output", "-o", "--limit", "--false-discovery-rate", "--json"),
    ),
    "plan": (
        *("RELEASE", "--users", "--opt-in", "--epsilon", "--delta", "--like", "--preset"),
        *("--head-list-size", "--records-per-user", "--target-ndcg", "--target-size", "--curve"),
        *("--draws", "--seed", *RESULT),
    ),
    "devices": (
        *("--log", "--service", "--campaign", "--count", "--opt-in", "--operator-token-file"),
        *("--drive", "--batch", "--connections", "--patience", "--json", "--epsilon", "--delta"),
        *("--data", "--head-list-size", *LOG),
    ),
    "download": ("URL", "CAMPAIGN", "--output", "-o", "--key", "--overwrite", "--json"),
    "verify-log": ("LOG", "--chain", "--key", "--contains", "--token-file", "--json"),
    "synth": ("--output", "--shape", "--users", "--exponent", "--seed", "--layout", "--queries"),
    "certify": ("PUBLISHED", "OPT_IN_ESTIMATES", "--epsilon", "--delta", "--output", "--json"),
    "audit": ("HEAD_LIST", "--epsilon", "--delta", "--draws", "--alpha", "--seed", "--json"),
    "evaluate": ("LOG", *RESULT, "--opt-in", "--repetitions", "--workers", *LOG, *PARAMETERS),
    "reproduce": (
        *("FIGURE", "--shape", "--quick", "--log", "--output", "-o", "--preset", "--workers"),
        *("--memory-limit", "--json", *LOG),
    ),
}
SERVICE = ("--data", "--database", "--keys")
OPTIONS |= {
    "serve": (
        *("--host", "--port", "--workers", "--tls-certificate", "--tls-key", "--no-jobs"),
        *SERVICE,
    ),
    "work": ("--once", *SERVICE),
    "relay": (
        *("--collector", "--data", "--database", "--collector-key", "--host", "--port"),
        "--poll-seconds",
    ),
    "issuer": (
        *("--collector", "--login-hook", "--openid-provider", "--audience", "--data"),
        *("--database", "--collector-key", "--host", "--port", "--poll-seconds"),
    ),
    "token": ("create", "list", "revoke"),
}
SHELLS = ("bash", "zsh", "fish")


def test_the_version_is_that_of_the_package(command: Command) -> None:
    outcome = command("--version")
    assert (outcome.status, outcome.out, outcome.err) == (0, f"{version('blender-dp')}\n", "")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_every_command(command: Command, arguments: tuple[str, ...]) -> None:
    outcome = command(*arguments)
    assert (outcome.status, outcome.err) == (0, "")
    for name in (*OPTIONS, "--version", "--install-completion"):
        assert f" {name} " in outcome.out


@pytest.mark.parametrize("name", OPTIONS)
def test_help_of_a_command_mentions_every_option(command: Command, name: str) -> None:
    outcome = command(name, "--help")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith(f"Usage: blender-dp {name}")
    missing = [option for option in OPTIONS[name] if f" {option}" not in outcome.out]
    assert missing == []


def test_every_command_is_covered_here() -> None:
    commands = {name for name in app if not name.startswith("-")}
    assert commands == set(OPTIONS)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_completion_script_knows_every_command(shell: str) -> None:
    completion = app.generate_completion(shell=shell)  # type: ignore[arg-type]  # one of the names
    assert [name for name in OPTIONS if name not in completion] == []
    assert "head-list-size" in completion


def test_installing_completion_writes_a_script_the_shell_takes(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "completion.bash"
    assert command("--install-completion", "--shell", "bash", "-o", path).status == 0
    subprocess.run(["bash", "-n", path], check=True)


def test_the_installed_script_and_the_module_run(
    script: Callable[..., subprocess.Popen[str]], core_environment: dict[str, str]
) -> None:
    out, err = script("--version").communicate(timeout=60)
    assert (out, err) == (f"{version('blender-dp')}\n", "")
    module = subprocess.run(
        [sys.executable, "-m", "blender_dp.cli", "frobnicate"],
        capture_output=True,
        text=True,
        env=core_environment,
        check=False,
    )
    assert module.returncode == 2
    assert module.stderr.startswith('blender-dp: Unknown command "frobnicate".')


def test_results_go_to_standard_output_and_only_the_large_delta_is_remarked_on(
    command: Command, log: Path, place: Path
) -> None:
    outcome = command("run", log, *PROMISE, "--opt-in=0.5", "-o", place / "out")
    (about_delta,) = remarks(outcome)
    assert (outcome.status, "is large for" in about_delta) == (0, True)
    assert "query 3" in outcome.out
    assert outcome.out.endswith(f"report: {place / 'out' / 'report.html'}\n")


def test_a_seed_is_remarked_on_beside_the_result(command: Command, log: Path, place: Path) -> None:
    outcome = command("run", log, *PROMISE, "--opt-in=0.5", "--seed=1", "-o", place / "out")
    assert outcome.status == 0
    about_seed = "Made with a seed: an experiment, not private; do not publish it."
    assert [said for said in remarks(outcome) if "is large for" not in said] == [about_seed]


def test_json_is_one_object_for_a_program(
    command: Command, log: Path, head_list: Path, place: Path
) -> None:
    reports, clients = place / "reports.parquet", place / "clients.json"
    run = command("run", log, *PROMISE, "--opt-in=0.5", "--json", "-o", place / "run")
    summary = json.loads(run.out)
    assert summary == {"output": str(place / "run"), "private": True, "queries": 5, "records": 5}
    listed = json.loads(command("head-list", log, *PROMISE, "--json", "-o", place / "list").out)
    assert (listed["output"], listed["queries"]) == (str(place / "list"), 5)
    assert command("privatize", head_list, log, "-o", reports).status == 0
    counted = json.loads(command("estimate", head_list, reports, "--json", "-o", clients).out)
    assert counted == {"output": str(clients), "reports": 400}
    opt_in = head_list.with_name("opt_in_estimates.json")
    blended = command("blend", head_list, opt_in, clients, "--json", "-o", place / "blend")
    assert json.loads(blended.out)["private"] is True


def test_a_query_cannot_write_to_the_terminal(command: Command, tmp_path: Path) -> None:
    queries = ["\x1b]0;mine\x07", "[red]q[/red]", "[/red]", "[link=x]"]
    rows = "".join(f"u{i}\t{queries[i % 4]}\tw.example\n" for i in range(800))
    path = tmp_path / "log.tsv"
    path.write_text(f"user\tquery\turl\n{rows}")
    outcome = command("run", path, *PROMISE, "--opt-in=0.5", "-o", tmp_path / "out")
    assert outcome.status == 0
    for query in queries:
        assert visible(query) in outcome.out
