"""``blender-dp trends``: ranks the queries of a release and compares it with an earlier one."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table

from blender_dp.cli.options import Flag, ReaderWords
from blender_dp.cli.terminal import RESULTS, percent, print_json, say
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.visible_names import visible
from blender_dp.pages.trends_page import render_trends
from blender_dp.pages.words import Words
from blender_dp.search_trends.changes import FALSE_DISCOVERY_RATE, Change
from blender_dp.search_trends.trends import RankedQuery, Trends
from blender_dp.search_trends.trends import trends as trends_of
from blender_dp.wire.documents.staging import staged_file
from blender_dp.wire.published.release import read_release


def trends(
    release: Path,
    earlier: Path | None = None,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    limit: int = 20,
    false_discovery_rate: float = FALSE_DISCOVERY_RATE,
    words: ReaderWords = Words(),  # noqa: B008 - frozen
    json: Flag = False,
) -> None:
    """Rank the queries of a release, and find queries that rose or fell since an earlier one.

    Queries whose difference is not significant share a group. Only significant rises and falls are
    shown. Exit status: 0 when done, 2 if a release is invalid.

    Parameters
    ----------
    release
        release.json of run or blend.
    earlier
        The release.json to compare with.
    output
        HTML page to write, such as trends.html; none if left out.
    limit
        Most rows of each table; the page and --json have all.
    false_discovery_rate
        Largest average share of false findings among the rises and falls.
    json
        Print one object for a program instead of the tables.
    """
    if limit < 1:
        raise ParameterError("limit", "at least 1", limit)
    current = read_release(release)
    words = words.or_those_of(current)
    found = trends_of(
        current,
        None if earlier is None else read_release(earlier),
        false_discovery_rate=false_discovery_rate,
    )
    if output is not None:
        with staged_file(output) as partial:
            partial.write_text(render_trends(found, words), encoding="utf-8")
    _print_remark(found)
    if json:
        print_json(found.document())
        return
    noun = words.query_name or "query"
    _print_ranking(found, limit, noun)
    if found.changes is not None:
        RESULTS.print(
            f"\n{release} ({len(found.ranking)} on its list) compared with {earlier} "
            f"({found.earlier_queries} on its list)"
        )
        _print_changes(found.changes, limit, noun)
    if output is not None:
        RESULTS.print(f"\npage: {output}")


def _print_remark(found: Trends) -> None:
    if not found.private:
        say("Made with a seed: an experiment, not private; do not publish it.")
    if found.without_interval:
        say(
            f"{found.without_interval} queries have no interval, because a variance estimate is "
            "negative (flaw F1): they are neither ranked nor tested."
        )


def _print_ranking(found: Trends, limit: int, noun: str) -> None:
    table = Table(title=None, box=None, pad_edge=False)
    table.add_column("place", justify="right", no_wrap=True)
    table.add_column("true place", justify="right", no_wrap=True)
    table.add_column("group", justify="right", no_wrap=True)
    table.add_column(noun, overflow="ellipsis", max_width=40, no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column(f"{found.confidence:.0%} interval", justify="right", no_wrap=True)
    for row in found.ranking[:limit]:
        table.add_row(*_cells_of(row))
    if not found.ranking:
        RESULTS.print(f"no {noun} is listed")
        return
    RESULTS.print(table)
    if len(found.ranking) > limit:
        RESULTS.print(f"… and {len(found.ranking) - limit} more")


def _cells_of(row: RankedQuery) -> list[str]:
    best, worst = row.best_rank, row.worst_rank
    return [
        "–" if row.rank is None else str(row.rank),
        str(best) if best == worst else f"{best} to {worst}",
        "–" if row.group is None else str(row.group),
        visible(row.query),
        percent(row.probability),
        "none" if row.low is None else f"{row.low:.3%} to {row.high:.3%}",
    ]


def _print_changes(changes: tuple[Change, ...], limit: int, noun: str) -> None:
    table = Table(title=None, box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column(noun, overflow="ellipsis", max_width=40, no_wrap=True)
    for heading in ("before", "now", "p-value"):
        table.add_column(heading, justify="right", no_wrap=True)
    verdicts = [change for change in changes if change.verdict is not None]
    for change in verdicts[:limit]:
        table.add_row(
            change.verdict,
            visible(change.query),
            percent(change.before),
            percent(change.after),
            "" if change.p_value is None else f"{change.p_value:.1g}",
        )
    if verdicts:
        RESULTS.print(table)
    else:
        RESULTS.print("no change is statistically significant")
    if len(verdicts) > limit:
        RESULTS.print(f"… and {len(verdicts) - limit} more changes")
    for listing in ("new on the list", "left the list"):
        names = [visible(change.query) for change in changes if change.listing == listing]
        if names:
            RESULTS.print(f"{listing}: {', '.join(names[:limit])}{_count_more(len(names) - limit)}")
    for listing, why in (
        ("below the other list", "rarer than all on the other list"),
        ("the other list is empty", "because the other list is empty"),
    ):
        alone = sum(change.listing == listing for change in changes)
        if alone:
            RESULTS.print(
                f"on one list only: {alone} more, {why}; whether they are new or gone is not known"
            )


def _count_more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""
