"""The list of small wrong changes: read from the TOML files of this folder, one file a subject."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One wrong change, and the tests of which at least one must fail when it is made."""

    subject: str
    """The name of the TOML file."""
    file: str
    old: str
    """Stands exactly once in the file."""
    new: str
    tests: tuple[str, ...]
    """``path::name`` for pytest, the path of a ``.ts`` file for vitest."""
    why: str
    """What would be wrong, in a sentence for whoever reads that it survived."""

    def __str__(self) -> str:
        return f"{self.subject}: {self.why} ({self.file})"

    def changed(self, text: str) -> str:
        """Return the text of the file with the change made."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self}: `old` stands {text.count(self.old)} times, not once")
        return text.replace(self.old, self.new)


def all_mutants() -> list[Mutant]:
    """Return every mutant, by subject and in the order they are written."""
    return [
        Mutant(subject=path.stem, **{**entry, "tests": tuple(entry["tests"])})
        for path in sorted(_FOLDER.glob("*.toml"))
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    ]


def chosen(words: list[str]) -> list[Mutant]:
    """Return the mutants whose subject, file or reason holds every one of these words."""
    return [
        mutant
        for mutant in all_mutants()
        if all(word.casefold() in str(mutant).casefold() for word in words)
    ]
