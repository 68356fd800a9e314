"""Outcomes of trials on disk, each under a hash of everything it depends on.

One line per trial, added as soon as it is done: if the process is killed, only the running trials
are lost. An incomplete line is skipped, and its trial runs again.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def name_of(description: Mapping[str, Any]) -> str:
    """Return the name of a description: a hash that does not depend on the order of fields."""
    canonical = json.dumps(
        description, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


class TrialStore:
    """Outcomes by the names of their trials, in a file that only grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._outcomes: dict[str, Any] = {}
        if path.exists():
            for line in path.read_bytes().splitlines():
                self._read(line)

    def __len__(self) -> int:
        """Return the number of outcomes."""
        return len(self._outcomes)

    def __contains__(self, description: Mapping[str, Any]) -> bool:
        """Tell whether the outcome is stored."""
        return name_of(description) in self._outcomes

    def __getitem__(self, description: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
        """Return the outcome of a description."""
        return self._outcomes[name_of(description)]

    def add(self, description: Mapping[str, Any], outcome: Any) -> None:  # noqa: ANN401 - any JSON value
        """Store an outcome; it is on disk when this returns."""
        name = name_of(description)
        line = {"name": name, "trial": description, "outcome": outcome}
        text = json.dumps(line, allow_nan=False, ensure_ascii=True)
        # One write that begins with a line break: an incomplete line before it stays separate.
        with self._path.open("ab", buffering=0) as file:
            file.write(f"\n{text}\n".encode())
        self._outcomes[name] = outcome

    def _read(self, line: bytes) -> None:
        try:
            kept = json.loads(line)
            name, described, outcome = kept["name"], kept["trial"], kept["outcome"]
        except (ValueError, TypeError, KeyError):
            return
        if name == name_of(described):  # a line that fails this was edited by hand
            self._outcomes[name] = outcome
