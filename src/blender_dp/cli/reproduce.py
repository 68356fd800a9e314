"""``blender-dp reproduce``: repeats the paper's figures and tables, and checks its statements."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from blender_dp.cli.log_options import LogOptions, MachineOptions
from blender_dp.cli.options import Flag
from blender_dp.cli.terminal import RESULTS, StepProgress, print_json, say, shown_progress
from blender_dp.core.errors import MissingExtraError, ParameterError, is_installed
from blender_dp.core.parameters import Preset
from blender_dp.engine.duckdb.readers import LogFormat
from blender_dp.engine.synthetic import Shape
from blender_dp.evaluation.reproduction.data_sets import DataSet, real_data, synthetic_data
from blender_dp.evaluation.reproduction.document import Shown, contents, document_of, provenance
from blender_dp.evaluation.reproduction.figures import FIGURES, Figure
from blender_dp.evaluation.reproduction.files import PAGE, require_ours, write_outputs
from blender_dp.evaluation.reproduction.reproduction import (
    QUICK_REPETITIONS,
    REPETITIONS,
    Plan,
    run_missing,
)
from blender_dp.evaluation.reproduction.sweeps import SETUPS, DataShape
from blender_dp.evaluation.trials.worker_pool import checked_workers

KEPT = "interrupted; finished trials are stored, and the same command continues from there"


def reproduce(
    figure: Annotated[list[str] | None, Parameter(negative="")] = None,
    /,
    *,
    shape: DataShape | None = None,
    quick: Flag = False,
    log: Annotated[list[str] | None, Parameter(negative="")] = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    preset: Preset = "paper",
    workers: int | None = None,
    memory_limit: str | None = None,
    log_options: LogOptions = LogOptions(),  # noqa: B008 - frozen
    json: Flag = False,
) -> None:
    """Reproduce the paper's figures and tables, and tell which of its statements hold.

    Runs on a synthetic log of the shape of AOL's or Yandex's, or on a real one. Every trial is
    stored: the same command continues after an interruption, and does not repeat finished trials.
    Not private: it
    compares with raw records. Exit status: 0 when done, 2 for a wrong argument or bad input.

    Parameters
    ----------
    figure
        Numbers as printed (8 to 19) or names such as budget-split; all if left out.
    shape
        Parameters of the paper to use, and without --log the synthetic log: aol or yandex. Default:
        by the format of the log, otherwise aol.
    quick
        Few trials per point: minutes instead of an hour, with wider intervals.
    log
        A real log: files, folders or patterns. Default: a synthetic log.
    output
        Directory for figures, tables, index.html and the trials. Default: reproduction-aol or
        similar, in the current directory.
    preset
        Variants of the five steps; paper is the algorithm as printed.
    workers
        Number of processes. Default: the number of processors.
    memory_limit
        Most memory for reading a log, such as 2GB; the rest goes to disk. Default: half of the
        machine's memory.
    json
        Print all numbers for a program instead of the verdicts.
    """
    if not is_installed("matplotlib"):
        raise MissingExtraError("evaluation", "reproduce")
    if log_options.group is not None:
        raise ParameterError("group", "left out: trials draw the opt-in users", log_options.group)
    figures, workers = _choose_figures(figure or []), checked_workers(workers)
    shape = shape or ("yandex" if log_options.format is LogFormat.YANDEX else "aol")
    folder = output or Path(_default_name(shape, preset, is_real=log is not None))
    command = _command(figure or [], shape, preset, quick=quick, log=log, options=log_options)
    require_ours(folder)
    with shown_progress(time_left=True) as progress, _keep_trials_when_interrupted():
        machine = MachineOptions(memory_limit=memory_limit)
        plan = Plan(
            data=_open_data(shape, log, log_options, machine, progress),
            setup=replace(SETUPS[shape], preset=preset),
            figures=figures,
            repetitions=QUICK_REPETITIONS if quick else REPETITIONS[shape],
        )
        reproduced = run_missing(
            plan, folder, workers=workers, step=progress.step, share=progress.share
        )
        progress.step("draw")
        shown = contents(reproduced, command)
        wrote = write_outputs(reproduced, shown, command)
    say(_describe_trials(reproduced.trials_run, wrote=wrote))
    if json:
        print_json({"output": str(folder), **document_of(reproduced, shown)})
        return
    RESULTS.print(provenance(reproduced))
    _print_verdicts(shown)
    RESULTS.print(f"page: {folder / PAGE}")


@contextmanager
def _keep_trials_when_interrupted() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(KEPT) from None


def _choose_figures(wanted: Sequence[str]) -> tuple[Figure, ...]:
    """Return the figures of these numbers or names, in the order of the paper."""
    known = {str(figure.number): figure for figure in FIGURES if figure.number is not None}
    known |= {figure.name: figure for figure in FIGURES}
    if unknown := [name for name in wanted if name not in known]:
        first, last = FIGURES[0].number, max(figure.number or 0 for figure in FIGURES)
        names = ", ".join(figure.name for figure in FIGURES)
        raise ParameterError("figure", f"{first} to {last}, or one of {names}", unknown[0])
    chosen = {known[name].name for name in wanted}
    return tuple(figure for figure in FIGURES if not wanted or figure.name in chosen)


def _default_name(shape: DataShape, preset: Preset, *, is_real: bool) -> str:
    parts = ["reproduction", shape, *(["log"] if is_real else [])]
    return "-".join([*parts, *([preset] if preset != SETUPS[shape].preset else [])])


def _open_data(
    shape: DataShape,
    log: list[str] | None,
    options: LogOptions,
    machine: MachineOptions,
    progress: StepProgress,
) -> DataSet:
    if log is None:
        return synthetic_data(Shape(shape))
    return real_data(options.log(log), machine.workspace(None, progress))


def _command(
    figures: Sequence[str],
    shape: DataShape,
    preset: Preset,
    *,
    quick: bool,
    log: list[str] | None,
    options: LogOptions,
) -> str:
    """Return the command that repeats this reproduction."""
    words = ["blender-dp", "reproduce", *figures, "--shape", shape]
    for path in log or []:
        words += ["--log", path]
    if log is not None:
        words += ["--format", options.format]
    words += ["--preset", preset, *(["--quick"] if quick else [])]
    return shlex.join(words)


def _describe_trials(trials: int, *, wrote: bool) -> str:
    if trials:
        return f"{trials:,} trials were run; they are stored."
    return "All trials had been run before." + ("" if wrote else " Nothing was left to do.")


def _print_verdicts(shown: Sequence[Shown]) -> None:
    for one in (judged for figure in shown for judged in figure.judged):
        RESULTS.print(f"\nFig. {one.figure.number}: {one.verdict.answer}")
        RESULTS.print(f"  paper: {one.statement.says} ({one.statement.where})")
        RESULTS.print(f"  here:  {one.verdict.ours}")
        if one.why:
            RESULTS.print(f"  why:   {one.why}")
    RESULTS.print("")
