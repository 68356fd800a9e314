"""Writer of a synthetic log in the layout of Kaggle's Personalized Web Search Challenge."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from blender_dp.core.blender import no_progress
from blender_dp.core.errors import ParameterError
from blender_dp.engine.synthetic.log import SyntheticLog
from blender_dp.engine.synthetic.names import (
    RESULTS_PER_QUERY,
    digits,
    domain_numbers,
    query_numbers,
    url_numbers,
)
from blender_dp.engine.synthetic.output import (
    appearing_whole,
    in_chunks,
    layout_generator,
    require_plain_text,
    shuffled,
)

# ruff: noqa: ANN401 - pyarrow publishes no types

CLICKS_PER_SESSION = 3
"""Most clicks per session; a user's records are spread over as many sessions as needed."""

UNCLICKED_SHARE = 0.25
"""Result pages without a click, per click."""

_SESSIONS_AT_A_TIME = 50_000
_DAYS = 27
_TIME_PER_PAGE = 1000
_TERMS = 4_000_000
_RESULT = np.dtype([("tab", "S1"), ("url", "S10"), ("comma", "S1"), ("domain", "S10")])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sessions:
    """Runs of rows of one user."""

    rows: NDArray[np.int64]
    """Rows of the log, user by user."""
    start: NDArray[np.int64]
    """Index in ``rows`` at which each session starts."""
    length: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pages:
    """Result pages shown, session by session."""

    session: NDArray[np.int64]
    """Index of the session in its chunk."""
    serp: NDArray[np.int64]
    """Number of the page within its session."""
    row: NDArray[np.int64]
    """Row of the log with the page's query and, if there is one, its click."""
    is_clicked: NDArray[np.bool_]


def write_yandex(
    log: SyntheticLog, path: Path, *, progress: Callable[[float], None] = no_progress
) -> None:
    """Write ``log`` as lines of sessions, queries and clicks, separated by tabs.

    A session starts with its line ``SessionID M Day USERID``. Each result page has a line
    ``SessionID TimePassed Q SERPID QueryID Term,Term… URLID,DomainID…`` (ten results), and each
    click on it a line ``SessionID TimePassed C SERPID URLID``. A record is a click. Ids are
    numbers whatever the shape of the log. Sessions of different users are interleaved.
    """
    require_plain_text(path)
    if log.url.max(initial=0) >= RESULTS_PER_QUERY:
        rule = f"of a shape with at most {RESULTS_PER_QUERY} URLs per query for this layout"
        raise ParameterError("shape", rule, str(log.shape))
    rng = layout_generator(log.seed)
    sessions = _split(log.user)
    first = 0
    with appearing_whole(path) as file:
        order = shuffled(len(sessions.start), log.seed)
        for chosen, done in in_chunks(order, _SESSIONS_AT_A_TIME):
            file.write(_text(log, _pages(sessions, chosen, rng), first, rng))
            file.write(b"\n")
            first += len(chosen)
            progress(done)


def _split(user: NDArray[np.int64]) -> _Sessions:
    """Cut each user's rows into sessions."""
    rows = np.argsort(user, kind="stable")
    by_user = user[rows]
    user_start = np.flatnonzero(np.diff(by_user, prepend=-1))
    user_length = np.diff(user_start, append=len(rows))
    place = np.arange(len(rows)) - np.repeat(user_start, user_length)
    start = np.flatnonzero(place % CLICKS_PER_SESSION == 0)
    return _Sessions(rows=rows, start=start, length=np.diff(start, append=len(rows)))


def _pages(sessions: _Sessions, chosen: NDArray[np.int64], rng: np.random.Generator) -> _Pages:
    """Lay out the pages of some sessions: one per click, and some before it without a click."""
    length = sessions.length[chosen]
    place = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    record_row = sessions.rows[np.repeat(sessions.start[chosen], length) + place]
    record_session = np.repeat(np.arange(len(chosen)), length)

    pages_of_record = 1 + (rng.random(len(record_row)) < UNCLICKED_SHARE)
    is_clicked = np.zeros(pages_of_record.sum(), dtype=bool)
    is_clicked[np.cumsum(pages_of_record) - 1] = True
    session = np.repeat(record_session, pages_of_record)
    session_start = np.searchsorted(session, np.arange(len(chosen)))
    return _Pages(
        session=session,
        serp=np.arange(len(session)) - session_start[session],
        row=np.repeat(record_row, pages_of_record),
        is_clicked=is_clicked,
    )


def _text(log: SyntheticLog, pages: _Pages, first: int, rng: np.random.Generator) -> Any:
    """Return the lines of some sessions, numbered from ``first``, as one buffer."""
    clicked = pages.is_clicked
    shown_at = pages.serp * _TIME_PER_PAGE + rng.integers(0, _TIME_PER_PAGE // 2, len(clicked))
    clicked_at = shown_at + rng.integers(1, _TIME_PER_PAGE // 2, len(clicked))
    session, serp = digits(pages.session + first), digits(pages.serp)
    query, url = log.query[pages.row], log.url[pages.row]
    opens = pages.serp == 0
    opening_user = digits(log.user[pages.row[opens]])
    day = digits(rng.integers(1, _DAYS + 1, len(opening_user)))
    mask = pa.array(clicked)
    lines = [
        _line(session.filter(pa.array(opens)), "M", day, opening_user),
        _line(session, digits(shown_at), "Q", serp, _result_pages(query)),
        _line(
            *(session.filter(mask), digits(clicked_at[clicked]), "C", serp.filter(mask)),
            digits(url_numbers(query[clicked], url[clicked])),
        ),
    ]
    # Pages are in file order: page i has place 3i + 1, the opening of its session goes before it
    # and its click after it.
    page = np.arange(len(clicked)) * 3
    order = np.argsort(np.concatenate([page[opens], page + 1, page[clicked] + 2]))
    in_order = pa.concat_arrays(lines).take(pa.array(order))
    whole = pa.ListArray.from_arrays(pa.array([0, len(order)], pa.int32()), in_order)
    return pc.binary_join(whole, "\n")[0].as_buffer()


def _line(*cells: Any) -> Any:
    """Join columns to lines, without their ends."""
    return pc.binary_join_element_wise(*cells, "\t")


def _result_pages(query: NDArray[np.int64]) -> Any:
    """Return id, terms and results of each query."""
    distinct, place = np.unique(query, return_inverse=True)
    pages = _line(digits(query_numbers(distinct)), _terms(distinct), _results(distinct))
    return pages.take(pa.array(place))


def _terms(query: NDArray[np.int64]) -> Any:
    """Return one to four invented term ids of each query, always the same."""
    length = 1 + query % 4
    offsets = np.concatenate([[0], np.cumsum(length)])
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], length)
    term = (np.repeat(query, length) * 7 + place * 1_000_003) % _TERMS
    return pc.binary_join(
        pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), digits(term)), ","
    )


def _results(query: NDArray[np.int64]) -> Any:
    """Return the ten results of each query with their domains, the most clicked first."""
    # Ids of ten digits form a rectangle of characters. numpy fills it several times as fast as it
    # joins strings, and results are most of the file.
    url = np.arange(RESULTS_PER_QUERY)
    cells = np.empty((len(query), RESULTS_PER_QUERY), dtype=_RESULT)
    cells["tab"], cells["comma"] = b"\t", b","
    cells["url"] = _ten_digits(url_numbers(query[:, np.newaxis], url))
    cells["domain"] = _ten_digits(domain_numbers(query[:, np.newaxis], url))
    text = cells.view(np.uint8).reshape(len(query), -1)[:, 1:]
    ends = np.arange(len(query) + 1, dtype=np.int32) * text.shape[1]
    return pa.StringArray.from_buffers(len(query), pa.py_buffer(ends), pa.py_buffer(text.tobytes()))


def _ten_digits(ids: NDArray[np.int64]) -> NDArray[np.bytes_]:
    """Return ten-digit numbers as characters."""
    upper, lower = np.divmod(ids.astype(np.uint32), np.uint32(10**5))
    halves = np.stack([_five_digits().take(upper), _five_digits().take(lower)], axis=-1)
    return halves.view("S10")[..., 0]


@cache
def _five_digits() -> NDArray[np.bytes_]:
    return np.array([f"{number:05}" for number in range(10**5)], dtype="S5")
