"""Plugin of pytest for `make slowest`: CPU of every test and folder, with that of child processes.

Wall time says little on a machine that does much else. What a fixture takes counts for the test
that asks first. PostgreSQL is missing: its processes are nobody's children.
"""

import os
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

LISTED = 40
_TICKS = os.sysconf("SC_CLK_TCK")
_OWN_AND_WAITED_FOR = slice(11, 15)
"""Fields of ``/proc/PID/stat`` after the name: CPU of the process and of children that ended."""


def cpu_seconds() -> float:
    """Return the CPU of this process and of all below it, ended or not."""
    ended = os.times()
    total = time.process_time() + ended.children_user + ended.children_system
    waiting = _children(os.getpid())
    while waiting:
        process = waiting.pop()
        fields = _read(Path(f"/proc/{process}/stat")).rpartition(")")[2].split()
        total += sum(map(int, fields[_OWN_AND_WAITED_FOR])) / _TICKS
        waiting += _children(process)
    return total


def _children(process: int) -> list[int]:
    """Return the processes that any thread of a process has started."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for thread in threads for child in _read(thread).split()]


def _read(path: Path) -> str:
    """Return the text of a file, or none if its process has just ended."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


class CpuOfTests:
    """What was spent, by function and by folder; a process of tests sends it with its reports."""

    def __init__(self) -> None:
        self.before = cpu_seconds()
        self.functions = defaultdict[str, float](float)
        self.folders = defaultdict[str, float](float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Write into the report of setup, call or teardown what was spent since the one before."""
        report = yield
        now = cpu_seconds()
        report.user_properties = [("cpu", now - self.before)]
        self.before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up what the reports say."""
        spent = float(str(dict(report.user_properties).get("cpu", 0)))
        name = report.nodeid.partition("[")[0]
        self.functions[name] += spent
        self.folders["/".join(name.split("::", maxsplit=1)[0].split("/")[:2])] += spent

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print all folders and the functions that spent most."""
        terminalreporter.section("seconds of CPU")
        for found in (self.folders, self.functions):
            for name in sorted(found, key=lambda name: -found[name])[:LISTED]:
                terminalreporter.line(f"{found[name]:9.2f}  {name}")
            terminalreporter.line("")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to count."""
    config.pluginmanager.register(CpuOfTests())
