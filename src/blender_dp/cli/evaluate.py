"""``blender-dp evaluate``: measures the quality of many runs against the truth."""

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import pyarrow.csv
import pyarrow.parquet
from cyclopts import Parameter

from blender_dp.cli.imagined_evaluation import ImaginedTrials, evaluate_imagined
from blender_dp.cli.log_options import LogOptions, MachineOptions
from blender_dp.cli.measures import print_measures
from blender_dp.cli.options import Flag, Promise, RelayOptions
from blender_dp.cli.terminal import StepProgress, print_json, say, shown_progress
from blender_dp.core.errors import BlenderError, MissingExtraError, ParameterError, is_installed
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.log_codes import coded
from blender_dp.evaluation.trials.scores import Scores
from blender_dp.evaluation.trials.summary import MeasureSummary, summary, summary_table, trial_table
from blender_dp.evaluation.trials.trials import Experiment, run_trials
from blender_dp.evaluation.trials.worker_pool import checked_workers
from blender_dp.planning.imagined_trials import DEFAULT_OPT_IN
from blender_dp.wire.documents.staging import staged_directory

DEFAULT_REPETITIONS = 20
PLOT = "measures"
FILES = ("trials.parquet", "trials.csv", "summary.csv", f"{PLOT}.svg", f"{PLOT}.png")
WARNING = "Compares with the truth in the log: for experiments, not for release."


def evaluate(
    log: Annotated[list[str] | None, Parameter(negative="")] = None,
    /,
    *,
    parameters: Promise,
    users: int | None = None,
    like: str | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    opt_in: float | None = None,
    relay: RelayOptions = RelayOptions(),  # noqa: B008 - frozen
    repetitions: int | None = None,
    workers: int | None = None,
    seed: int = 0,
    memory_limit: str | None = None,
    log_options: LogOptions = LogOptions(),  # noqa: B008 - frozen
    overwrite: Flag = False,
    json: Flag = False,
) -> None:
    """Run many times on a log of raw records and compare every result with the truth.

    Not private: the measures compare with the raw records. For experiments, not for release.
    Exit status: 0 when measured, 2 for a wrong argument or bad input.

    Parameters
    ----------
    log
        Files, folders or patterns: AOL, Yandex, CSV, TSV or Parquet, also gzipped; or --users.
    users
        Simulate this number of users, such as 1e9, instead of reading a log: clients are drawn as
        counts, so that their number costs nothing.
    like
        Shape of the imagined records: aol (default), yandex, zipf, zipf:s, flat, aol-single or
        aol-multi.
    output
        Directory to make for trials.parquet, trials.csv, summary.csv and a plot of the main
        measures (measures.svg, measures.png); none if left out.
    opt_in
        Share of the users who opt in; they are drawn again in every run. Default: 0.05; less with
        --users if drawing them would take long.
    repetitions
        Number of runs. Default: 20, or 3 with --users.
    workers
        Number of processes. Default: the number of processors.
    seed
        Seed of the runs; the same seed gives the same runs.
    memory_limit
        Most memory for reading the log, such as 2GB; the rest goes to disk. Default: half of the
        machine's memory.
    overwrite
        Replace an earlier evaluation in the same place, once the new one is complete.
    json
        Print the summary for a program instead of the table.
    """
    if users is not None and log is None:
        _require_no_output(output)
        asked = ImaginedTrials(
            users=users, opt_in=opt_in, relay=relay.rules(), repetitions=repetitions, seed=seed
        )
        evaluate_imagined(parameters, asked, like=like or "aol", as_json=json)
        return
    if log is None or users is not None:
        raise BlenderError("give either a log or --users")
    _require_only_a_log(like, log_options.group)
    experiment = Experiment(
        parameters=parameters,
        opt_in=DEFAULT_OPT_IN if opt_in is None else opt_in,
        relay=relay.rules(),
        repetitions=DEFAULT_REPETITIONS if repetitions is None else repetitions,
        seed=seed,
    )
    checked_workers(workers)
    staged = (
        nullcontext()
        if output is None
        else staged_directory(output, overwrite=overwrite, replaceable=FILES)
    )
    with staged as partial, shown_progress() as progress:
        workspace = MachineOptions(memory_limit=memory_limit).workspace(partial, progress)
        coded_log = coded(log_options.log(log), workspace)
        scores = _scores(coded_log, experiment, workers, progress)
        measures = summary(scores)
        if partial is not None:
            _write(partial, scores, measures)
            plotted = _plot(partial, scores, experiment, coded_log.users)
    say(WARNING)
    if output is not None and not plotted:
        say(f"No plot was drawn: {MissingExtraError('evaluation', 'a plot')}")
    if json:
        print_json(_document(experiment, coded_log.users, output, measures))
    else:
        print_measures(measures)


def _require_only_a_log(like: str | None, group: str | None) -> None:
    if like is not None:
        raise ParameterError("like", "left out where a log is given", like)
    if group is not None:
        rule = "left out: an evaluation draws the opt-in users (--opt-in)"
        raise ParameterError("group", rule, group)


def _require_no_output(output: Path | None) -> None:
    if output is not None:
        raise ParameterError("output", "left out with --users", str(output))


def _scores(
    log: CodedLog, experiment: Experiment, workers: int | None, progress: StepProgress
) -> list[Scores]:
    """Run all trials and show the progress."""
    progress.step("run and measure")
    return run_trials(
        log,
        experiment,
        workers=checked_workers(workers),
        progress=lambda done: progress.share(done / experiment.repetitions),
    )


def _write(directory: Path, scores: list[Scores], measures: list[MeasureSummary]) -> None:
    trials = trial_table(scores)
    pyarrow.parquet.write_table(trials, directory / "trials.parquet")
    pyarrow.csv.write_csv(trials, directory / "trials.csv")
    pyarrow.csv.write_csv(summary_table(measures), directory / "summary.csv")


def _plot(directory: Path, scores: list[Scores], experiment: Experiment, users: int) -> bool:
    """Draw the main measures if the extra is installed; return whether it is."""
    if not is_installed("matplotlib"):
        return False
    # Imported here, because it loads more slowly than everything else together.
    from blender_dp.evaluation.reproduction.figures.distributions import draw_distributions  # noqa: PLC0415

    parameters, share = experiment.parameters, experiment.relay.share
    relay = f", {share:g} of the others behind a relay" if share else ""
    caption = (
        f"{len(scores)} runs on a log of {users:,} users, {experiment.opt_in:g} of them opted in"
        f"{relay}; "
        f"ε = {parameters.epsilon:g}, δ = {parameters.delta:g}, preset {parameters.preset}. "
        f"One dot per run, bars at the medians. {WARNING}"
    )
    draw_distributions(scores, caption=caption, stem=directory / PLOT)
    return True


def _document(
    experiment: Experiment, users: int, output: Path | None, measures: list[MeasureSummary]
) -> dict[str, object]:
    """Return the summary for a program; null where a measure has no value."""
    numbers = summary_table(measures).to_pylist()
    relay = {"relay": asdict(experiment.relay)} if experiment.relay.share else {}
    return {
        "output": None if output is None else str(output),
        "private": False,
        "users": users,
        "opt_in": experiment.opt_in,
        **relay,
        "repetitions": experiment.repetitions,
        "seed": experiment.seed,
        "parameters": experiment.parameters.document(),
        "measures": {row.pop("measure"): row for row in numbers},
    }
