"""``blender-dp evaluate --users``: predicts the quality for any number of users."""

from dataclasses import asdict, dataclass

from blender_dp.cli.measures import print_measures
from blender_dp.cli.terminal import print_json, say, shown_progress
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.parameters import Parameters
from blender_dp.evaluation.trials.summary import summary_table
from blender_dp.planning.imagined_trials import imagined_trials, usual_opt_in
from blender_dp.planning.prediction import Setting
from blender_dp.planning.prior import prior_like

DEFAULT_REPETITIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ImaginedTrials:
    """Simulated data set and number of trials; None for an option that was not given."""

    users: int
    opt_in: float | None
    relay: RelayRules
    repetitions: int | None
    seed: int


def evaluate_imagined(
    parameters: Parameters, asked: ImaginedTrials, *, like: str, as_json: bool
) -> None:
    """Measure whole collections of simulated users, and print the quality."""
    prior, users, seed = prior_like(like), asked.users, asked.seed
    share = usual_opt_in(users, prior) if asked.opt_in is None else asked.opt_in
    setting = Setting(users=users, opt_in=share, parameters=parameters, relay=asked.relay)
    count = DEFAULT_REPETITIONS if asked.repetitions is None else asked.repetitions
    with shown_progress() as progress:
        progress.step("imagine, run and measure")
        measures = imagined_trials(
            setting, prior, repetitions=count, seed=seed, progress=progress.share
        )
    say(
        f"Imagined: {setting.opted_in:,} opt-in users and {users - setting.opted_in:,} clients"
        f"{_of_them_relayed(setting)} with records like {prior.source}."
    )
    if as_json:
        numbers = summary_table(measures).to_pylist()
        print_json(
            {
                "imagined": like,
                "users": users,
                "opt_in": share,
                **({"relay": asdict(asked.relay)} if asked.relay.share else {}),
                "repetitions": count,
                "seed": seed,
                "parameters": parameters.document(),
                "measures": {row.pop("measure"): row for row in numbers},
            }
        )
    else:
        print_measures(measures)


def _of_them_relayed(setting: Setting) -> str:
    return f" ({setting.relay_clients:,} behind a relay)" if setting.relay_clients else ""
