"""Output files of a reproduction: pictures, tables, a page, a document."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from blender_dp.core.errors import InputError
from blender_dp.evaluation.reproduction.document import Shown, document_of, points_of
from blender_dp.evaluation.reproduction.figures.drawing.figure import Table
from blender_dp.evaluation.reproduction.figures.drawing.page import render_page
from blender_dp.evaluation.reproduction.published import Mark
from blender_dp.evaluation.reproduction.reproduction import TRIALS, Reproduced
from blender_dp.evaluation.reproduction.series import MeasuredPanel
from blender_dp.evaluation.reproduction.verdicts import Answer
from blender_dp.wire.documents.staging import staged_file

PAGE = "index.html"
DOCUMENT = "reproduction.json"


def require_ours(folder: Path) -> None:
    """Make the folder, or refuse one with other files than those of an earlier reproduction."""
    folder.mkdir(parents=True, exist_ok=True)
    names = sorted(path.name for path in folder.iterdir())
    if names and TRIALS not in names:
        raise InputError(
            folder, f"holds {names[0]}, which is not part of a reproduction; choose another name"
        )


def write_outputs(reproduced: Reproduced, shown: Sequence[Shown], command: str) -> bool:
    """Write the missing files; tell whether any was missing."""
    folder = reproduced.folder
    document = document_of(reproduced, shown)
    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if _is_drawn(folder, text, shown):
        return False
    for one in shown:
        _write_figure(folder, one)
    with staged_file(folder / PAGE) as partial:
        partial.write_text(render_page(reproduced, shown, command), encoding="utf-8")
    with staged_file(folder / DOCUMENT) as partial:  # last: it marks the rest as complete
        partial.write_text(text, encoding="utf-8")
    return True


def _is_drawn(folder: Path, text: str, shown: Sequence[Shown]) -> bool:
    """Tell whether the files in the folder already show these numbers."""
    names = [PAGE, DOCUMENT, *(name for one in shown for name in one.files)]
    if not all((folder / name).is_file() for name in names):
        return False
    return (folder / DOCUMENT).read_text(encoding="utf-8") == text


def _write_figure(folder: Path, one: Shown) -> None:
    # Imported here, because only drawing needs the extra.
    from blender_dp.evaluation.reproduction.figures.drawing.drawing import draw_panels, draw_table  # noqa: PLC0415

    title, stem = one.figure.heading, folder / one.figure.stem
    if isinstance(one.content, Table):
        draw_table(one.content, title=title, caption=one.caption, stem=stem)
        _write_table(folder, one, one.content)
    else:
        draw_panels(one.content, _marks(one), title=title, caption=one.caption, stem=stem)
        _write_points(folder, one, one.content)


def _write_points(folder: Path, one: Shown, panels: Sequence[MeasuredPanel]) -> None:
    rows = [
        {"data": one.kind, "panel": panel.panel.title, "line": series.label, **point}
        for panel in panels
        for series in panel.series
        for point in points_of(series)
    ]
    _write_csv(folder / f"{one.figure.stem}.csv", list(rows[0]), [list(r.values()) for r in rows])


def _marks(one: Shown) -> list[Mark]:
    """Return the paper's statements about this data set."""
    return [
        judged.statement.mark
        for judged in one.judged
        if judged.statement.mark and judged.verdict.answer is not Answer.ELSEWHERE
    ]


def _write_table(folder: Path, one: Shown, table: Table) -> None:
    cells = [[cell.text for cell in row] for row in table.rows]
    _write_csv(folder / f"{one.figure.stem}.csv", list(table.header), cells)
    marked = [[f"**{c.text}**" if c.is_marked else c.text for c in row] for row in table.rows]
    lines = [f"# {one.figure.heading}", "", _markdown_row(table.header)]
    lines += ["|" + "---|" * len(table.header), *(_markdown_row(row) for row in marked), ""]
    lines += [part for part in (table.note, one.caption) if part]
    with staged_file(folder / f"{one.figure.stem}.md") as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    with staged_file(path) as partial:
        partial.write_text(text.getvalue(), encoding="utf-8")
