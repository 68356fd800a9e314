"""Which optional parts are installed."""

from importlib.util import find_spec


def is_installed(module: str) -> bool:
    """Tell whether ``module`` can be imported, without importing it."""
    return find_spec(module) is not None
