"""``blender-dp synth``: writes synthetic logs for tests and examples."""

from typing import Annotated, Literal

from cyclopts import Parameter

from blender_dp.cli.options import Output
from blender_dp.cli.terminal import RESULTS, shown_progress
from blender_dp.engine.synthetic import (
    Shape,
    ShapeOptions,
    synthesize,
    write_aol,
    write_log,
    write_yandex,
)


def synth(
    *,
    output: Output,
    shape: Shape = Shape.AOL,
    users: int | None = None,
    seed: int = 0,
    layout: Literal["columns", "aol", "yandex"] = "columns",
    options: Annotated[ShapeOptions, Parameter(name="*", group="Shape")] = ShapeOptions(),  # noqa: B008 - frozen
) -> None:
    """Write a synthetic search log; the same log for the same seed.

    Parameters
    ----------
    output
        File to write: .tsv, .csv, .parquet or .tsv.gz.
    shape
        Shape of the log: aol, yandex, zipf, flat, or the benchmark workloads aol-single, aol-multi.
    users
        Number of users; the paper's number for the shape if left out.
    seed
        Seed that chooses one of the many logs of this shape.
    layout
        columns (user, query, url), or the layout of the logs that AOL or Yandex released.
    """
    with shown_progress() as progress:
        progress.step("draw the log")
        log = synthesize(shape, users, seed, options=options, progress=progress.share)
        progress.step("write it")
        {"columns": write_log, "aol": write_aol, "yandex": write_yandex}[layout](log, output)
    RESULTS.print(f"{output}: {len(log):,} records of {log.users:,} users")
