"""The same experiment many times, on all processors, held against the truth each time."""

import os
import signal
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, fields
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from blender_dp.core.blender import PRESETS, blender
from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.core.parameters import Parameters
from blender_dp.core.randomness import Randomness
from blender_dp.engine.group_sizes import opt_in_users, require_both_groups
from blender_dp.evaluation.coded_log import CodedLog, CodedPopulation
from blender_dp.evaluation.scores import Scores, score

Done = Callable[[int], None]
"""Is told how many trials are done."""


def uncounted(done: int) -> None:
    """Take no note of how many trials are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """What is repeated."""

    parameters: Parameters
    opt_in: float = 0.05
    """The share of the users who opt in, drawn anew in every trial."""
    repetitions: int = 20
    seed: int = 0
    """Decides every trial, whatever the number of workers."""

    def __post_init__(self) -> None:
        opt_in_users(1, self.opt_in)  # its range is checked there
        if self.repetitions < 1:
            raise ParameterError("repetitions", "at least 1", self.repetitions)
        if self.seed < 0:
            raise ParameterError("seed", "0 or more", self.seed)
        for name in ("records_per_optin_user", "records_per_client"):
            if getattr(self.parameters, name) != 1:
                raise ParameterError(name, "1 in an evaluation", getattr(self.parameters, name))
        PRESETS[self.parameters.preset].require_provable(self.parameters)

    def trial(self, log: CodedLog, number: int) -> Scores:
        """Draw groups and records, run BLENDER and measure the result."""
        coins = np.random.SeedSequence((self.seed, number))
        groups, noise = (int(word) for word in coins.generate_state(2, np.uint64))
        randomness = Randomness.seeded(noise)
        population = CodedPopulation.draw(
            log, opt_in=self.opt_in, seed=groups, randomness=randomness
        )
        result = blender(population, self.parameters, randomness)
        true_cells = log.true_cells(result.head_list)
        return score(result, true_cells, log.query_truth(result.head_list))


def checked_workers(workers: int | None) -> int:
    """Return how many processes are meant: as many as there are processors if None."""
    if workers is None:
        return os.cpu_count() or 1
    if workers < 1:
        raise ParameterError("workers", "at least 1", workers)
    return workers


def run_trials(
    log: CodedLog,
    experiment: Experiment,
    *,
    workers: int | None = None,
    progress: Done = uncounted,
) -> list[Scores]:
    """Return the scores of every trial, in order; the same ones for any number of workers.

    Args:
        log: What is known of everybody.
        experiment: What to repeat, and how often.
        workers: Processes; as many as there are processors if None. One runs in this process.
            Several are started afresh, so a script that calls this needs the usual
            ``if __name__ == "__main__":``.
        progress: Is told how many trials are done.
    """
    workers = min(checked_workers(workers), experiment.repetitions)
    opted_in = opt_in_users(log.users, experiment.opt_in)
    require_both_groups(opted_in, log.users - opted_in)
    if workers > 1:
        return _in_processes(log, experiment, workers, progress)
    scores = []
    for number in range(experiment.repetitions):
        scores.append(experiment.trial(log, number))
        progress(number + 1)
    return scores


def _in_processes(
    log: CodedLog, experiment: Experiment, workers: int, progress: Done
) -> list[Scores]:
    """Share the log through files that every worker maps into its memory: no copies."""
    with tempfile.TemporaryDirectory(prefix="blender-dp-") as name:
        directory = Path(name)
        for field in fields(CodedLog):
            np.save(directory / f"{field.name}.npy", getattr(log, field.name))
        pool = ProcessPoolExecutor(
            workers,
            # A fork would copy locks that threads of this process hold.
            mp_context=get_context("spawn"),
            initializer=_start_worker,
            initargs=(directory, experiment),
        )
        try:
            trials = [pool.submit(_trial_in_worker, i) for i in range(experiment.repetitions)]
            for done, trial in enumerate(as_completed(trials), start=1):
                trial.result()
                progress(done)
            return [trial.result() for trial in trials]
        except BrokenProcessPool:
            raise BlenderError(
                "a worker process was ended, perhaps for lack of memory; try fewer --workers"
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


_worker: list[tuple[CodedLog, Experiment]] = []
"""What this process works on, if it is a worker: set once, when it starts."""


def _start_worker(directory: Path, experiment: Experiment) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    columns = {
        field.name: np.load(directory / f"{field.name}.npy", mmap_mode="r")
        for field in fields(CodedLog)
    }
    _worker.append((CodedLog(**columns), experiment))


def _trial_in_worker(number: int) -> Scores:
    log, experiment = _worker[0]
    try:
        return experiment.trial(log, number)
    except BlenderError as error:
        # Some of its kinds cannot travel between processes; their sentence can.
        raise BlenderError(str(error)) from None
