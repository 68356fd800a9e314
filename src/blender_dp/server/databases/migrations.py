"""Migrations between versions of the schema: ``0001_name.up.sql`` and ``.down.sql``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from blender_dp.core.errors import BlenderError, BrokenInvariantError, ParameterError
from blender_dp.server.databases.statements import Statements

_NAME = re.compile(r"(\d{4})_(\w+)\.(up|down)\.sql")


class UnknownSchemaError(BlenderError):
    """The database was made by other software, or by a newer version of this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step, both ways."""

    version: int
    name: str
    up: str
    down: str


def of_package(package: str) -> Sequence[Migration]:
    """Return the steps in a package's folder ``migrations``, first step first."""
    texts = {
        (int(match[1]), match[2], match[3]): file.read_text(encoding="utf-8")
        for file in files(package).joinpath("migrations").iterdir()
        if (match := _NAME.fullmatch(file.name))
    }
    steps = sorted((version, name) for version, name, way in texts if way == "up")
    if [version for version, _ in steps] != list(range(1, len(steps) + 1)):
        raise BrokenInvariantError("migrations must be numbered 1, 2, 3 without a gap")
    return [
        Migration(
            version=version,
            name=name,
            up=texts[version, name, "up"],
            down=texts[version, name, "down"],
        )
        for version, name in steps
    ]


async def migrate(
    tx: Statements, migrations: Sequence[Migration], target: int | None = None
) -> None:
    """Bring the schema to a version, by default the newest."""
    newest = len(migrations)
    wanted = newest if target is None else target
    if not 0 <= wanted <= newest:
        raise ParameterError("target", f"a schema version from 0 to {newest}", wanted)
    await tx.run("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
    version = await _version(tx)
    if version > newest:
        raise UnknownSchemaError(
            f"the database's schema must be version {newest} or older; it is {version}: "
            "use the version of the software that made it"
        )
    for step in migrations[version:wanted]:
        await tx.run_script(step.up)
    for step in reversed(migrations[wanted:version]):
        await tx.run_script(step.down)
    if version == wanted:
        return
    await tx.run("DELETE FROM schema_version")
    await tx.run("INSERT INTO schema_version (version) VALUES ($1)", wanted)


async def _version(tx: Statements) -> int:
    found = await tx.rows("SELECT version FROM schema_version")
    return int(found[0][0]) if found else 0
