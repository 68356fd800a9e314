"""Options for the service's database and keys, shared by its commands."""

from dataclasses import dataclass
from pathlib import Path

from cyclopts import Parameter

from blender_dp.core.errors import MissingExtraError, is_installed


@Parameter(name="*", group="Storage")
@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions:
    """Places of the service's data and keys."""

    data: Path = Path("blender-dp-data")
    """Directory of the service, made if it is missing."""
    database: str | None = None
    """Database, such as postgresql://user@host/name. Default: SQLite in the directory."""
    keys: Path | None = None
    """Directory of the keys, better on another disk. Default: keys in the directory."""

    @property
    def is_postgres(self) -> bool:
        """Whether the database is PostgreSQL, which several processes can use."""
        return self.database is not None and self.database.startswith(("postgresql:", "postgres:"))

    @property
    def url(self) -> str:
        """The database to open."""
        return self.database or str(self.data / "service.sqlite")

    @property
    def key_directory(self) -> Path:
        """Directory of the keys."""
        return self.keys or self.data / "keys"


def require_service_extra(command: str) -> None:
    """Refuse a command whose extra is not installed; the message says how to install it."""
    if not all(map(is_installed, ("litestar", "msgspec", "uvicorn"))):
        raise MissingExtraError("service", command)
