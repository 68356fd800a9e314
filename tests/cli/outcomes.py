"""How a command ended, and what must be so when it refused."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from logs import PLANTED

PROMISE = ("--epsilon=4", "--delta=0.01")
"""For small logs: a δ that lets a record into the list when a few dozen users have it."""

DOUBTED = ("run", "head-list")
"""Commands that stop at a doubtful promise; small logs need a large δ. ``cautious`` keeps that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Exit status and both outputs."""

    status: int
    out: str
    err: str


Command = Callable[..., Outcome]


def assert_refused(outcome: Outcome, *named: object) -> None:
    """Fail unless it was one sentence on standard error that names all of these and no data."""
    assert_sentence(outcome)
    assert outcome.status == 2, outcome
    assert outcome.out == "", outcome
    for name in named:
        assert str(name) in outcome.err, f"{name} is not named: {outcome.err}"


def assert_sentence(outcome: Outcome) -> None:
    """Fail unless standard error holds one sentence for a person, once the engine is named."""
    (sentence,) = remarks(outcome)
    assert sentence.startswith("blender-dp: "), outcome
    assert outcome.err.endswith("\n"), outcome
    assert "Traceback" not in outcome.err, outcome
    assert PLANTED not in outcome.err, f"repeats somebody's data: {outcome.err}"
    assert ".part" not in outcome.err, f"names a file that only we know of: {outcome.err}"


def remarks(outcome: Outcome) -> list[str]:
    """Return the lines of standard error but for the engine's and one that chance brings: F1."""
    lines = outcome.err.splitlines()
    return [line for line in lines if "(flaw F1)" not in line and not line.startswith("Engine: ")]


def names_in(folder: Path) -> list[str]:
    """Return everything in a folder, hidden names too."""
    return sorted(path.name for path in folder.iterdir())


def going_on(arguments: Sequence[str | Path]) -> list[str]:
    """Return the arguments, with ``--yes`` for a command that would stop."""
    yes = ["--yes"] if arguments and arguments[0] in DOUBTED and "--yes" not in arguments else []
    return [*map(str, arguments), *yes]
