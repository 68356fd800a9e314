"""Options of the commands that read a log; they load the engine, which takes half of a start."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from blender_dp.cli.terminal import StepProgress, say
from blender_dp.core.errors import ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.known_list import KnownList
from blender_dp.engine.choice import EngineChoice, EngineName
from blender_dp.engine.duckdb.readers import LogColumns, LogFormat
from blender_dp.engine.duckdb.tables import default_memory_limit
from blender_dp.engine.log import Log, Workspace
from blender_dp.wire.published.known_list import read_known

_TABS = {"tab": "\t", "\\t": "\t"}
_UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
_UNITS |= {f"{unit}I": 1024**power for power, unit in enumerate("KMGT", start=1)}


@Parameter(name="*", group="Log")
@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """How the log is read."""

    format: LogFormat = LogFormat.AUTO
    """Format of the files; auto looks at names and first lines."""
    user: str = "user"
    """Column with the user's id, in formats that name their columns."""
    query: str = "query"
    """Column with the query."""
    url: Annotated[str | None, Parameter(negative_none="no-")] = "url"
    """Column with the URL; --no-url if records have one level, such as words."""
    group: str | None = None
    """Column with opt-in or client in every row."""
    delimiter: str | None = None
    """Character between the values of CSV, or tab. Default: found in the first line."""

    def log(self, paths: list[str]) -> Log:
        """Return the log these options describe."""
        columns = LogColumns(
            user=self.user,
            query=self.query,
            url=self.url,
            group=self.group,
            delimiter=parse_delimiter(self.delimiter),
        )
        return Log(paths=paths, format=self.format, columns=columns)

    def known(self, path: Path | None) -> KnownList:
        """Read the records that are public already, for a log that these options describe."""
        return read_known(path, user=self.user).for_log(has_urls=self.url is not None)


@Parameter(name="*", group="Machine")
@dataclass(frozen=True, slots=True, kw_only=True)
class MachineOptions:
    """Resources of this machine that the command may use."""

    engine: EngineName = "auto"
    """Engine that counts; auto chooses by the size of the log and what is installed."""
    master: str | None = None
    """Spark's master, such as spark://host:7077. Default: this machine, or spark-submit's."""
    memory_limit: str | None = None
    """Most memory for the engine, such as 2GB; the rest goes to disk. Default: half."""
    seed: int | None = None
    """Seed, to repeat an experiment. The result is then marked as not private."""

    def workspace(self, spill_directory: Path | None, progress: StepProgress) -> Workspace:
        """Return the resources that a run may use."""
        limit = self.memory_limit
        return Workspace(
            memory_limit=default_memory_limit() if limit is None else parse_bytes(limit),
            spill_directory=spill_directory,
            engine=self.engine,
            master=self.master,
            progress=progress.step,
            percent=progress.percent,
            explain=self._explain,
            tell_columns=_tell_columns,
        )

    def _explain(self, choice: EngineChoice) -> None:
        if self.engine == "auto":
            say(f"Engine: {choice.name}, because {choice.reason}.")

    def randomness(self) -> Randomness:
        """Return the system's randomness, or the seed's."""
        return Randomness.secure() if self.seed is None else Randomness.seeded(self.seed)


def _tell_columns(found: Mapping[str, str]) -> None:
    said = ", ".join(f"{purpose} is {name!r}" for purpose, name in found.items())
    flags = ", ".join(f"--{purpose}" for purpose in found)
    say(f"Columns: {said}; choose others with {flags}.")


def parse_delimiter(text: str | None) -> str | None:
    """Return the character between values that an option names.

    >>> parse_delimiter("|"), parse_delimiter("tab") == chr(9)
    ('|', True)
    """
    if text is None:
        return None
    character = _TABS.get(text, text)
    if len(character) != 1 or character.isalnum() or character in '"\r\n':
        raise ParameterError("delimiter", "one character such as ; or |, or the word tab", text)
    return character


def parse_bytes(text: str) -> int:
    """Return the bytes of a size such as 500MB, 2GiB or 1.5G.

    >>> parse_bytes("1.5GB"), parse_bytes("2 GiB")
    (1500000000, 2147483648)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?\s*", text.upper())
    if not found or found[2] not in _UNITS:
        raise ParameterError("memory_limit", "a size such as 500MB or 2GiB", text)
    return int(float(found[1]) * _UNITS[found[2]])
