"""The recipes in deploy/ name only what exists: options, files, figures, pages."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client import CollectorRegistry

from blender_dp.cli.application import app
from blender_dp.relay.condition import Trouble as RelayTrouble
from blender_dp.relay.metrics import RelayMetrics
from blender_dp.relay.open_campaigns import ListFault
from blender_dp.service.http.messages import Health
from blender_dp.service.http.reports.route import TEMPLATE
from blender_dp.service.operation.condition import Trouble
from blender_dp.service.operation.metrics import Metrics

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PAGES = ROOT / "docs" / "how-to"


def rules() -> list[dict[str, Any]]:
    document = yaml.safe_load((DEPLOY / "prometheus-alerts.yml").read_text(encoding="utf-8"))
    [group] = document["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def figures() -> set[str]:
    """Return the names of all figures of the service's /metrics."""
    return _names(Metrics().registry)


def relay_figures() -> set[str]:
    """Return the names of all figures of a relay's /metrics."""
    return _names(RelayMetrics().registry)


def _names(registry: CollectorRegistry) -> set[str]:
    suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}
    return {
        metric.name + suffix
        for metric in registry.collect()
        for suffix in suffixes.get(metric.type, ("",))
    }


def test_alerts_are_about_figures_that_there_are() -> None:
    known = figures() | relay_figures()
    for rule in rules():
        named = set(re.findall(r"\bblender_dp_\w+", rule["expr"]))
        assert named <= known, rule["alert"]
        assert named or rule["alert"] in ("ServiceDown", "RelayDown")
        assert rule["annotations"]["summary"].endswith(".")
        assert rule["labels"]["severity"] in ("critical", "warning", "info")


def test_alerts_select_by_values_that_there_are() -> None:
    expressions = " ".join(rule["expr"] for rule in rules())
    reasons = re.findall(r'reason="([^"]*)"', expressions)
    assert sorted(reasons) == sorted(Trouble)
    assert re.findall(r'route="([^"]*)"', expressions) == [TEMPLATE]


def test_every_alert_has_its_entry_and_every_entry_its_alert() -> None:
    page = (PAGES / "what-to-do-when.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\w+)$", page, re.M) == [rule["alert"] for rule in rules()]


def test_the_page_for_operators_names_every_figure_and_reason() -> None:
    page = (PAGES / "operate-the-service.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(blender_dp_\w+)`", page))
    suffix = re.compile(r"_(bucket|count|sum)$")
    assert named == {suffix.sub("", name) for name in figures()}
    for reason in Trouble:
        assert f"`{reason}`" in page
    assert set(get_args(Health.__annotations__["status"])) == {"ok", "degraded"}


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")
def test_prometheus_reads_the_rules() -> None:
    subprocess.run(["promtool", "check", "rules", DEPLOY / "prometheus-alerts.yml"], check=True)


def test_a_relay_that_is_degraded_for_any_reason_raises_an_alert() -> None:
    [rule] = [rule for rule in rules() if "blender_dp_relay_degraded" in rule["expr"]]
    assert rule["expr"] == "blender_dp_relay_degraded == 1"  # no reason is selected
    page = (PAGES / "what-to-do-when.md").read_text(encoding="utf-8")
    entry = page.partition(f"## {rule['alert']}\n")[2].partition("\n## ")[0]
    for reason in RelayTrouble:
        assert f"`{reason}`" in entry


def test_the_page_for_relays_names_every_figure_reason_and_alert() -> None:
    page = (PAGES / "run-a-relay.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(blender_dp_\w+)`", page)) == relay_figures()
    for name in (*RelayTrouble, *ListFault, "RelayDown", "RelayDegraded", "RelayListRefused"):
        assert f"`{name}`" in page


def unit(name: str = "blender-dp.service") -> ConfigParser:
    found = ConfigParser(interpolation=None)
    found.optionxform = str  # type: ignore[assignment,method-assign]
    assert found.read(DEPLOY / name, encoding="utf-8")
    return found


def instructions() -> list[tuple[str, str]]:
    """Return the container recipe's instructions, each a word and the rest."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1].strip()) for line in lines]


def commands() -> dict[str, list[str]]:
    """Return the command lines of the recipes, without the program."""
    [entry] = [json.loads(rest) for word, rest in instructions() if word == "ENTRYPOINT"]
    return {"systemd": shlex.split(unit()["Service"]["ExecStart"])[1:], "container": entry[1:]}


@pytest.mark.parametrize("recipe", ["systemd", "container"])
def test_recipes_use_options_that_there_are(recipe: str) -> None:
    command, bound, _ = app.parse_args(commands()[recipe], exit_on_error=False, print_error=False)
    assert command.__name__ == "serve"
    storage = bound.arguments["storage"]
    assert storage.data != storage.key_directory
    assert bound.arguments["first_token_file"].parent == storage.data


def test_the_unit_leaves_the_service_time_to_end_and_starts_it_again() -> None:
    service = unit()["Service"]
    assert int(service["TimeoutStopSec"]) > 10
    assert (service["Restart"], service["KillMode"]) == ("always", "mixed")
    assert {"blender-dp", "blender-dp-keys"} == set(service["StateDirectory"].split())


def test_the_unit_of_a_relay_is_as_closed_as_that_of_the_service() -> None:
    relay, service = unit("blender-dp-relay.service"), unit()["Service"]
    own = relay["Service"]
    command, bound, _ = app.parse_args(
        shlex.split(own["ExecStart"])[1:], exit_on_error=False, print_error=False
    )
    assert command.__name__ == "relay"
    assert str(bound.arguments["data"]) == f"%S/{own['StateDirectory']}"
    assert own["User"] != service["User"]
    varying = {"User", "Group", "StateDirectory", "ExecStart", "KillMode"}
    assert {name: text for name, text in own.items() if name not in varying} == {
        name: text for name, text in service.items() if name not in varying
    }
    assert relay["Unit"]["StartLimitIntervalSec"] == "0"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
@pytest.mark.parametrize("name", ["blender-dp.service", "blender-dp-relay.service"])
def test_systemd_understands_the_unit(tmp_path: Path, name: str) -> None:
    text = (DEPLOY / name).read_text(encoding="utf-8")
    copy = tmp_path / name
    program = Path(sys.executable).with_name("blender-dp")
    copy.write_text(text.replace("/opt/blender-dp/bin/blender-dp", str(program)), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False
    )
    complaints = [line for line in done.stderr.splitlines() if str(copy) in line]
    assert complaints == []


def test_the_container_is_made_of_files_that_there_are() -> None:
    copied = [rest.split() for word, rest in instructions() if word == "COPY"]
    sources = [source for words in copied if words[0][:2] != "--" for source in words[:-1]]
    assert sources
    for source in sources:
        assert (ROOT / source).exists(), source
    built = next(rest for word, rest in instructions() if word == "RUN" and "npm" in rest)
    scripts = json.loads((ROOT / "web" / "dashboard" / "package.json").read_text())["scripts"]
    assert set(re.findall(r"npm run --silent (\w+)", built)) <= set(scripts)
    assert "--require-hashes -r requirements/run.txt" in " ".join(
        rest for _, rest in instructions()
    )


def test_what_the_wheel_needs_is_in_the_container() -> None:
    copied = " ".join(rest for word, rest in instructions() if word == "COPY")
    needed = re.findall(r'"([\w./]+)" = "blender_dp/', (ROOT / "pyproject.toml").read_text())
    assert needed
    for path in (*needed, "README.md", "LICENSE", "pyproject.toml", "src"):
        assert f"{path} " in copied, path
