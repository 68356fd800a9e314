"""Trials of whole collections with imagined users, of any number."""

import numpy as np

from blender_dp.core.blender import no_progress
from blender_dp.core.errors import ParameterError
from blender_dp.evaluation.trials.summary import MeasureSummary, summary_of
from blender_dp.planning.imagined_result import MEASURES, imagined_result
from blender_dp.planning.prediction import MOST_ROWS, Done, Setting
from blender_dp.planning.prior import Prior

DEFAULT_OPT_IN = 0.05
_DEFAULT_ROWS = 2_000_000
"""Default number of opt-in users' records per trial, which take a few seconds."""
_SEEDS = 1_000_003
"""Distance between the seeds of two evaluations, so that they share no users."""


def usual_opt_in(users: int, prior: Prior) -> float:
    """Return the opt-in share to imagine: a twentieth, or less if drawing would take long."""
    return min(DEFAULT_OPT_IN, _DEFAULT_ROWS / (prior.activity.mean_records * max(users, 1)))


def imagined_trials(
    setting: Setting, prior: Prior, *, repetitions: int, seed: int, progress: Done = no_progress
) -> list[MeasureSummary]:
    """Run BLENDER on imagined users ``repetitions`` times and summarise the quality of the results.

    Opt-in users are drawn one by one, with all their records. Clients are drawn as counts of cells,
    and their reports as counts too, with the same distribution as one by one: a thousand million
    clients cost no more than a thousand.
    """
    if repetitions < 1:
        raise ParameterError("repetitions", "at least 1", repetitions)
    if not isinstance(seed, int) or seed < 0:
        raise ParameterError("seed", "0 or more", seed)
    most = MOST_ROWS / (prior.activity.mean_records * setting.users)
    if setting.opt_in > most:
        rule = f"at most {most:.2g}: opt-in users are drawn one by one, with all their records"
        raise ParameterError("opt_in", rule, setting.opt_in)
    results = []
    for trial in range(repetitions):
        population = setting.population(prior, seed * _SEEDS + trial)
        results.append(imagined_result(population, setting.parameters, setting.relay).measures)
        progress((trial + 1) / repetitions)
    columns = [np.array([result[name] for result in results], dtype=float) for name in MEASURES]
    return [
        summary_of(name, values[~np.isnan(values)])
        for name, values in zip(MEASURES, columns, strict=True)
    ]
