"""Trials: one experiment repeated on all processors, each result compared with the truth."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from blender_dp.core.blender import (
    PRESETS,
    BlenderResult,
    blender,
    no_progress,
    require_known,
    require_relay_preset,
)
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.errors import ParameterError, is_number
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.known_list import NOTHING_KNOWN, KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.engine.population.group_sizes import opt_in_users, require_both_groups
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedPopulation, coins_of_trial
from blender_dp.evaluation.trials.scores import Scores, score
from blender_dp.evaluation.trials.worker_pool import checked_workers, work_on

Done = Callable[[int], None]
"""Called with the number of trials that are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Parameters, opt-in share, number and seed of the trials."""

    parameters: Parameters
    opt_in: float = 0.05
    """Share of the users who opt in; they are drawn again in every trial."""
    relay: RelayRules = field(default_factory=RelayRules)
    """Share of the clients who use a relay, and its rules."""
    known: KnownList = NOTHING_KNOWN
    """Records of the log that are public already."""
    repetitions: int = 20
    seed: int = 0
    """Decides every trial, whatever the number of workers."""

    def __post_init__(self) -> None:
        opt_in_users(1, self.opt_in)  # its range is checked there
        if not (is_number(self.repetitions) and self.repetitions >= 1):
            raise ParameterError("repetitions", "at least 1", self.repetitions)
        if not (is_number(self.seed) and self.seed >= 0):
            raise ParameterError("seed", "0 or more", self.seed)
        for name in ("records_per_optin_user", "records_per_client"):
            if getattr(self.parameters, name) != 1:
                raise ParameterError(name, "1 in an evaluation", getattr(self.parameters, name))
        PRESETS[self.parameters.preset].require_provable(self.parameters)
        require_relay_preset(self.parameters, self.relay.share)
        require_known(self.parameters, self.known)

    def trial(self, log: CodedLog, number: int) -> Scores:
        """Run once and measure the result."""
        result = self.result(log, number)
        true_cells = log.true_cells(result.head_list)
        return score(result, true_cells, log.query_truth(result.head_list))

    def result(self, log: CodedLog, number: int) -> BlenderResult:
        """Draw groups and records, and run BLENDER."""
        groups, noise = coins_of_trial(self.seed, number)
        randomness = Randomness.seeded(noise)
        population = CodedPopulation.draw(
            log, opt_in=self.opt_in, relay=self.relay.share, seed=groups, randomness=randomness
        )
        return blender(population, self.parameters, randomness, relay=self.relay, known=self.known)


def run_trials(
    log: CodedLog,
    experiment: Experiment,
    *,
    workers: int | None = None,
    progress: Done = no_progress,
) -> list[Scores]:
    """Return the scores of every trial, in order; equal for any number of workers.

    Args:
        log: The log to run on.
        experiment: The run to repeat, and how often.
        workers: Processes; as many as there are processors if None. See :func:`work_on`.
        progress: Called with the number of trials that are done.
    """
    opted_in = opt_in_users(log.users, experiment.opt_in)
    workers = checked_workers(workers)
    require_both_groups(opted_in, log.users - opted_in)
    scores: dict[int, Scores] = {}

    def finished(number: int, outcome: Scores) -> None:
        scores[number] = outcome
        progress(len(scores))

    jobs = [partial(experiment.trial, number=i) for i in range(experiment.repetitions)]
    work_on(log, jobs, workers=workers, finished=finished)
    return [scores[number] for number in range(experiment.repetitions)]
