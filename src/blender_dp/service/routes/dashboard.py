"""The dashboard's files, if they were built."""

from pathlib import Path

from litestar import MediaType, get
from litestar.handlers import HTTPRouteHandler
from litestar.router import Router
from litestar.static_files import create_static_files_router

MISSING = "The dashboard is not built here: run `make dashboard`, then start the service again.\n"


@get("/", include_in_schema=False, media_type=MediaType.TEXT, sync_to_thread=False)
def no_dashboard() -> str:
    """Say how to get the dashboard."""
    return MISSING


def dashboard(directory: Path | None) -> HTTPRouteHandler | Router:
    """Return what answers at ``/``."""
    if directory is None or not (directory / "index.html").is_file():
        return no_dashboard
    return create_static_files_router(
        path="/", directories=[directory], html_mode=True, include_in_schema=False
    )
