"""Tables in a notebook: HTML for the screen, and frames of pandas and polars."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from blender_dp.core.errors import MissingExtraError, ParameterError, is_installed
from blender_dp.core.head_list.visible_names import visible

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

EXTRA = "notebook"
"""Optional part with pandas, polars and matplotlib."""


def html_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, above: str = "", below: str = ""
) -> str:
    """Return a table as HTML; texts in it are escaped, and signs that nobody sees are replaced.

    Args:
        header: Name of each column; those after the first are numbers.
        rows: Texts of the cells.
        above: Sentence above the table.
        below: Sentence below the table.
    """
    numbers = ' style="text-align:right"'
    head = "".join(
        f"<th{numbers if place else ''}>{shown(name)}</th>" for place, name in enumerate(header)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{numbers if place else ''}><bdi>{shown(text)}</bdi></td>"
            for place, text in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f"{_paragraph(above)}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"{_paragraph(below)}"
    )


def _paragraph(sentence: str) -> str:
    return f"<p>{shown(sentence)}</p>" if sentence else ""


def shown(text: str) -> str:
    r"""Return a text for HTML.

    >>> shown("<b>\u202e&")
    '&lt;b&gt;\ufffd&amp;'
    """
    return escape(visible(text))


def percent(value: float | None) -> str:
    """Write a probability.

    >>> percent(0.02148), percent(None)
    ('2.148%', '–')
    """
    return "–" if value is None else f"{value:.3%}"


def between(low: float | None, high: float | None) -> str:
    """Write an interval of a probability; a word if there is none."""
    return "none" if low is None or high is None else f"{low:.3%} to {high:.3%}"


def to_pandas(table: Any, needed_for: str) -> "pd.DataFrame":  # noqa: ANN401 - pyarrow is untyped
    """Return an Arrow table as a frame of pandas.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    require_package("pandas", needed_for)
    frame: pd.DataFrame = table.to_pandas()
    return frame


def to_polars(table: Any, needed_for: str) -> "pl.DataFrame":  # noqa: ANN401 - pyarrow is untyped
    """Return an Arrow table as a frame of polars.

    Raises:
        MissingExtraError: polars is not installed.
    """
    require_package("polars", needed_for)
    import polars  # noqa: PLC0415 - optional, and slow to import

    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)
    return frame


def require_package(module: str, needed_for: str) -> None:
    """Refuse what needs an optional package that is not installed.

    Raises:
        MissingExtraError: It is missing; the message has the command that installs it.
    """
    if not is_installed(module):
        raise MissingExtraError(EXTRA, needed_for)


def one_of(name: str, given: object, choices: Sequence[str]) -> str:
    """Return a choice; refuse one that is not offered."""
    if given not in choices:
        raise ParameterError(name, f"one of {', '.join(choices)}", given)
    return str(given)
