"""Names of options, apart from the options themselves, which load the engine."""

from cyclopts import default_name_transform


def option_name(name: str) -> str:
    """Return the option of a parameter; ``list_of`` is ``--list`` for short."""
    return default_name_transform("list" if name == "list_of" else name)
