"""Files of the dashboard, if they were built."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from litestar import MediaType, Request, Response, get
from litestar.exceptions import InternalServerException
from litestar.handlers import HTTPRouteHandler
from litestar.router import Router
from litestar.static_files import create_static_files_router

MISSING = "The dashboard is not built here: run `make dashboard`, then start the service again.\n"


@get("/", include_in_schema=False, media_type=MediaType.TEXT, sync_to_thread=False)
def no_dashboard() -> str:
    """Answer with how to build the dashboard."""
    return MISSING


def dashboard(
    directory: Path | None,
    no_such_file: Callable[[Request[Any, Any, Any], Exception], Response[bytes]],
) -> HTTPRouteHandler | Router:
    """Return the route of ``/``.

    Args:
        directory: Where the files are; None if there are none.
        no_such_file: Answers for names that no file system accepts: with a zero byte, too long, or
            inside a file.
    """
    if directory is None or not (directory / "index.html").is_file():
        return no_dashboard
    return create_static_files_router(
        path="/",
        directories=[directory],
        html_mode=True,
        include_in_schema=False,
        exception_handlers={ValueError: no_such_file, InternalServerException: no_such_file},
    )
