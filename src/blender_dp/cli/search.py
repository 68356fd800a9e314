"""``blender-dp search``: suggests queries of a release while a person types."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from blender_dp.cli.keys import HAS_KEYS, typed_so_far
from blender_dp.cli.options import Flag
from blender_dp.cli.terminal import RESULTS, percent, print_json, say
from blender_dp.core.estimation.release import Release
from blender_dp.core.head_list.visible_names import visible
from blender_dp.local_search.coverage import Coverage
from blender_dp.local_search.search import LocalSearch, Suggestion
from blender_dp.local_search.serving import ServingRule
from blender_dp.wire.published.release import read_release


def search(
    release: Path,
    typed: str | None = None,
    /,
    *,
    limit: int = 8,
    significance: float = 3.0,
    fewest_users: int = 50,
    push: float = 0.0001,
    coverage: Flag = False,
    json: Flag = False,
) -> None:
    """Suggest popular queries and their pages for the text typed so far.

    Without TYPED it suggests at every key in a terminal, until Enter, or for every line of standard
    input. Only records confirmed by the private reports are suggested. Nothing is sent from this
    machine.
    Exit status: 0 when done, 2 if the release is invalid.

    Parameters
    ----------
    release
        release.json of run or blend.
    typed
        The beginning of a query or of a word in it, in any script.
    limit
        Most suggestions.
    significance
        Standard errors by which the clients' estimate must exceed --fewest-users.
    fewest_users
        Fewest clients that must have a query or record for it to be shown.
    push
        Share of fake clients that must not be able to make a record appear.
    coverage
        Print the share of all searches that could be answered locally.
    json
        Print one object for a program; with standard input, one object per line.
    """
    rule = ServingRule(significance=significance, fewest_users=fewest_users, push=push)
    found = LocalSearch(read_release(release), rule=rule)
    if not found.release.private:
        say("Made with a seed: an experiment, not private; do not publish it.")
    if not len(found):
        say("The private reports confirm no query of this release; there is nothing to suggest.")
    share = found.coverage() if coverage else None
    if typed is not None or share is not None:
        suggestions = [] if typed is None else found.suggest(typed, limit=limit)
        _answer(typed, suggestions, share, found.release, as_json=json)
    elif sys.stdin.isatty() and RESULTS.is_terminal and HAS_KEYS and not json:
        _suggest_while_typing(found, limit)
    else:
        for line in sys.stdin.buffer:
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            suggestions = found.suggest(text, limit=limit)
            _answer(text, suggestions, None, found.release, as_json=json)
            sys.stdout.flush()  # a program may wait for this answer before its next line


def _answer(
    typed: str | None,
    suggestions: list[Suggestion],
    share: Coverage | None,
    release: Release,
    *,
    as_json: bool,
) -> None:
    if as_json:
        print_json(_document(typed, suggestions, share))
        return
    if suggestions:
        RESULTS.print(_table(suggestions, release))
    elif typed is not None:
        RESULTS.print(_nothing(release))
    if share is not None:
        RESULTS.print(_table_of_coverage(share))


def _document(
    typed: str | None, suggestions: list[Suggestion], share: Coverage | None
) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    if typed is not None:
        typed = typed.encode("utf-8", "replace").decode()  # bytes that are not UTF-8
        answer |= {"typed": typed, "suggestions": [asdict(found) for found in suggestions]}
    return answer if share is None else answer | {"coverage": asdict(share)}


def _nothing(release: Release) -> str:
    return f"no popular {release.query_name or 'query'} starts like this"


def _table(suggestions: list[Suggestion], release: Release) -> Table:
    table = Table(title=None, box=None, pad_edge=False)
    name = release.query_name or "query"
    table.add_column(name, overflow="ellipsis", max_width=40, no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column(release.url_name or "page", overflow="ellipsis", no_wrap=True)
    for found in suggestions:
        pages = [f"{visible(link.shown)}  {percent(link.probability)}" for link in found.links]
        first, *others = pages or ["–"]
        meant = "(perhaps) " if found.is_correction else ""
        table.add_row(meant + visible(found.query), percent(found.probability), first)
        for page in others:
            table.add_row("", "", page)
    return table


def _table_of_coverage(share: Coverage) -> Table:
    table = Table(title=None, box=None, pad_edge=False)
    for heading in ("of all searches", "share", f"{share.confidence:.0%} interval"):
        table.add_column(heading, justify="left" if heading == "of all searches" else "right")
    rows = (
        ("the query is suggested", share.suggested),
        ("the clicked page is suggested too", share.answered),
    )
    for name, part in rows:
        table.add_row(name, percent(part.share), f"{part.low:.3%} to {part.high:.3%}")
    return table


def _suggest_while_typing(found: LocalSearch, limit: int) -> None:
    """Show suggestions below the text while it is typed."""

    def screen(text: str) -> Group:
        suggestions = found.suggest(text, limit=limit)
        release = found.release
        below = _table(suggestions, release) if suggestions else Text(_nothing(release))
        return Group(Text(f"search: {text}▏", style="bold"), below)

    with Live(console=RESULTS, auto_refresh=False) as live:
        for text in typed_so_far():
            live.update(screen(text), refresh=True)
