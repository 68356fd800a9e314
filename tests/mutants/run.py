"""``make mutants``: make each wrong change in a copy of the code, and see whether a test fails.

The checkout is never touched. Tests that a mutant names are first run on the unchanged copy, once
for each set of them: a test that fails anyway would notice nothing. ``WHAT`` selects, ``WORKERS``
says how many copies are used side by side.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

from mutants.catalogue import ROOT, Mutant, chosen

LONGEST = 600
"""Seconds that the tests of one mutant may take; a change that hangs them is noticed too."""


class Copy:
    """A copy of the files that git knows, with what is installed linked into it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._second = int(time.time())
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, place / name)
        installed = [*ROOT.glob("web/node_modules"), *ROOT.glob("web/*/node_modules")]
        for built in [*installed, ROOT / "src" / "blender_dp" / "service" / "dashboard"]:
            if built.exists():
                (place / built.relative_to(ROOT)).symlink_to(built)

    @contextmanager
    def with_change(self, mutant: Mutant) -> Iterator[None]:
        """Make the change, and take it back."""
        path = self.place / mutant.file
        before = path.read_text(encoding="utf-8")
        self._write(path, mutant.changed(before))
        try:
            yield
        finally:
            self._write(path, before)

    def _write(self, path: Path, text: str) -> None:
        """Write a file and date it by a second of its own.

        Python tells compiled files apart by second and size, which a change may leave alone.
        """
        path.write_text(text, encoding="utf-8")
        self._second += 1
        os.utime(path, (self._second, self._second))

    def failure(self, tests: Sequence[str]) -> str | None:
        """Run the tests; return why they did not pass, None if they did."""
        in_browser = [test for test in tests if test.endswith(".ts")]
        in_python = [test for test in tests if not test.endswith(".ts")]
        commands = []
        if in_python:
            pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider"]
            commands.append((pytest + in_python, self.place))
        if in_browser:
            names = [str(Path(test).relative_to("web")) for test in in_browser]
            commands.append((["npx", "vitest", "run", *names], self.place / "web"))
        return next((why for c, place in commands if (why := self._failure(c, place))), None)

    def _failure(self, command: list[str], place: Path) -> str | None:
        paths = os.pathsep.join(str(self.place / folder) for folder in ("src", "tests"))
        environment = {**os.environ, "PYTHONPATH": paths}
        try:
            outcome = subprocess.run(
                command,
                cwd=place,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LONGEST,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"took more than {LONGEST} seconds"
        if outcome.returncode == 0:
            return None
        if outcome.returncode != 1:
            return f"BROKEN {outcome.stdout[-2000:]}{outcome.stderr[-2000:]}"
        told = [line for line in outcome.stdout.splitlines() if "FAILED" in line or "FAIL " in line]
        return told[0].strip() if told else "failed"


class Trial:
    """All mutants, tried on several copies."""

    def __init__(self, copies: Sequence[Copy]) -> None:
        self._free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            self._free.put(copy)
        self._unchanged: dict[tuple[str, ...], str | None] = {}
        self._turn = Lock()

    def verdict(self, mutant: Mutant) -> tuple[bool, str]:
        """Return whether the mutant was caught, and by what or why not."""
        copy = self._free.get()
        try:
            if wrong := self._fails_unchanged(mutant.tests, copy):
                return False, f"its tests fail without it: {wrong}"
            with copy.with_change(mutant):
                why = copy.failure(mutant.tests)
        finally:
            self._free.put(copy)
        if why is None:
            return False, "SURVIVED"
        return not why.startswith("BROKEN"), why

    def _fails_unchanged(self, tests: tuple[str, ...], copy: Copy) -> str | None:
        with self._turn:
            is_known = tests in self._unchanged
        if not is_known:
            outcome = copy.failure(tests)
            with self._turn:
                self._unchanged[tests] = outcome
        return self._unchanged[tests]


def main(words: list[str]) -> int:
    """Try the mutants that the words select; return 1 if any was not caught."""
    mutants = chosen(words)
    if not mutants:
        sys.stderr.write("No mutant has all of these words.\n")
        return 2
    workers = max(1, int(os.environ.get("WORKERS", "1")))
    missed = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trial = Trial([Copy(Path(folder) / str(i)) for i in range(workers)])
        with ThreadPoolExecutor(workers) as pool:
            waiting = {pool.submit(trial.verdict, mutant): mutant for mutant in mutants}
            for done, finished in enumerate(as_completed(waiting), start=1):
                mutant, (is_caught, told) = waiting[finished], finished.result()
                mark = "caught" if is_caught else "MISSED"
                sys.stdout.write(f"[{done}/{len(mutants)}] {mark} {mutant}: {told}\n")
                sys.stdout.flush()
                if not is_caught:
                    missed.append(mutant)
    sys.stdout.write(f"{len(mutants) - len(missed)} of {len(mutants)} mutants were caught.\n")
    for mutant in missed:
        sys.stdout.write(f"SURVIVOR {mutant}\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
