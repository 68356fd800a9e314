"""Outcomes of trials on disk, each under a hash of everything it depends on.

One line per trial, added as soon as it is done: whatever ends the process loses at most the trials
that were running. A line that was cut short is passed over, and its trial runs again.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def name_of(description: Mapping[str, Any]) -> str:
    """Return the name of what is described: a hash that the order of the fields leaves alone."""
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
        """Return how many outcomes there are."""
        return len(self._outcomes)

    def __contains__(self, description: Mapping[str, Any]) -> bool:
        """Tell whether the outcome is there."""
        return name_of(description) in self._outcomes

    def __getitem__(self, description: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
        """Return the outcome of what is described."""
        return self._outcomes[name_of(description)]

    def add(self, description: Mapping[str, Any], outcome: Any) -> None:  # noqa: ANN401 - any JSON value
        """Keep an outcome, on disk when this returns."""
        name = name_of(description)
        line = {"name": name, "trial": description, "outcome": outcome}
        text = json.dumps(line, allow_nan=False, ensure_ascii=True)
        # One write, and a line break before it: a line that was cut short stays alone.
        with self._path.open("ab", buffering=0) as file:
            file.write(f"\n{text}\n".encode())
        self._outcomes[name] = outcome

    def _read(self, line: bytes) -> None:
        try:
            kept = json.loads(line)
            name, described, outcome = kept["name"], kept["trial"], kept["outcome"]
        except (ValueError, TypeError, KeyError):
            return
        if name == name_of(described):  # otherwise it was changed by hand
            self._outcomes[name] = outcome
