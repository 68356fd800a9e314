"""HTML page of a reproduction, which opens offline: the verdicts, then every figure.

Pictures are embedded in the page. Names of queries may be user input, so every text is escaped.
"""

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from blender_dp.evaluation.reproduction.document import Shown, provenance
from blender_dp.evaluation.reproduction.figures.drawing.figure import Table
from blender_dp.evaluation.reproduction.reproduction import Judged, Reproduced
from blender_dp.evaluation.reproduction.verdicts import Answer

_CLASSES = {
    Answer.HOLDS: "holds",
    Answer.FAILS: "fails",
    Answer.OPEN: "open",
    Answer.ELSEWHERE: "elsewhere",
}


def render_page(reproduced: Reproduced, shown: Sequence[Shown], command: str) -> str:
    """Return the page; the pictures must be in the folder already."""
    style = _shared_style() + _asset("reproduction.css")
    judged = sorted(
        (one for figure in shown for one in figure.judged),
        key=lambda one: (not one.claim.is_headline, one.verdict.answer is Answer.ELSEWHERE),
    )
    return Template(_asset("reproduction.html")).substitute(
        policy=_policy(style),
        style=style,
        shape=escape(reproduced.setup.shape),
        provenance=escape(provenance(reproduced)),
        kind="synthetic" if reproduced.data.is_synthetic else "real",
        trials=reproduced.repetitions,
        command=escape(command),
        time=escape(_measured_time(reproduced)),
        summary=escape(_summary(judged)),
        verdicts="".join(_verdict_row(one) for one in judged),
        contents="".join(
            f'<li><a href="#{one.figure.stem}">{escape(one.figure.heading)}</a></li>'
            for one in shown
        ),
        figures="".join(_section(one, reproduced.folder) for one in shown),
    )


def _measured_time(reproduced: Reproduced) -> str:
    """Return a sentence with the time that the trials took; empty if it was not measured."""
    if reproduced.time is None:
        return ""
    trials, seconds = reproduced.time
    minutes, rest = divmod(round(seconds), 60)
    return f"{trials:,} trials took {minutes} min {rest} s on this machine (measured)."


def _asset(name: str) -> str:
    return (
        files("blender_dp.evaluation.reproduction.figures.drawing") / "assets" / name
    ).read_text(encoding="utf-8")


def _shared_style() -> str:
    """Return the style sheet of all offline pages, read as data without importing a module."""
    return (files("blender_dp") / "pages" / "assets" / "style" / "page.css").read_text("utf-8")


def _policy(style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'"


def _summary(judged: Sequence[Judged]) -> str:
    answers = [one.verdict.answer for one in judged]
    counted = [f"{_IN_WORDS[a]}: {answers.count(a)}" for a in Answer if a in answers]
    return f"Of {len(answers)} statements of the paper, " + "; ".join(counted) + "."


_IN_WORDS = {
    Answer.HOLDS: "hold here",
    Answer.FAILS: "do not hold here",
    Answer.OPEN: "undecided",
    Answer.ELSEWHERE: "about the paper's other log",
}


def _verdict_row(one: Judged) -> str:
    answer = one.verdict.answer
    why = f'<span class="why">{escape(one.why)}</span>' if one.why else ""
    source = escape(f"{one.statement.where}; {one.statement.read}")
    return (
        f'<tr class="{_CLASSES[answer]}"><td><b class="answer">{answer}</b></td>'
        f'<td>{escape(one.statement.says)} <span class="where">{source}</span></td>'
        f"<td>{escape(one.verdict.ours)}{why}</td>"
        f'<td class="number"><a href="#{one.figure.stem}">{one.figure.number}</a></td></tr>'
    )


def _section(one: Shown, folder: Path) -> str:
    if isinstance(one.content, Table):
        table = _table(one.content, one.figure.heading)
        body = f'{table}<p class="caption">{escape(one.caption)}</p>'
    else:  # the caption is part of the picture
        body = _picture(folder / f"{one.figure.stem}.svg", one.figure.heading)
    links = " ".join(f'<a href="{name}">{name.rpartition(".")[2]}</a>' for name in one.files)
    return (
        f'<section class="card" id="{one.figure.stem}"><h2>{escape(one.figure.heading)}</h2>{body}'
        f'<p class="files">{links}</p></section>'
    )


def _picture(path: Path, name: str) -> str:
    encoded = base64.b64encode(path.read_bytes()).decode()
    picture = f'<img alt="{escape(name)}" src="data:image/svg+xml;base64,{encoded}">'
    return f'<div class="wide picture" {_scrolled(name)}>{picture}</div>'


def _scrolled(name: str) -> str:
    """Return the attributes with which the keyboard reaches what is wider than the window."""
    return f'tabindex="0" role="region" aria-label="{escape(name)}"'


def _table(table: Table, name: str) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.header)
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td class="regression">{escape(cell.text)}</td>'
            if cell.is_marked
            else f"<td>{escape(cell.text)}</td>"
            for cell in row
        )
        + "</tr>"
        for row in table.rows
    )
    note = f"<p>{escape(table.note)}</p>" if table.note else ""
    return (
        f'<div class="wide" {_scrolled(f"Table: {name}")}><table class="data">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}"
    )
