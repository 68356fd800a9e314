"""Prediction of a collection: the algorithm itself, run a few times on imagined users."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from blender_dp.core.blender import PRESETS, no_progress, require_relay_preset
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.curator.budget import Branch
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.known_list import NOTHING_KNOWN
from blender_dp.core.parameters import Parameters
from blender_dp.engine.population.group_sizes import (
    FEWEST_CLIENTS,
    FEWEST_OPT_IN,
    opt_in_users,
    relay_users,
)
from blender_dp.planning.imagined_known import known_from_earlier
from blender_dp.planning.imagined_result import MEASURES, ImaginedResult, imagined_result
from blender_dp.planning.imagined_users import ImaginedPopulation
from blender_dp.planning.prior import Prior

MODEL_ERROR = {
    **dict.fromkeys(("queries", "records"), 0.03),
    "ndcg": 0.001,
    **dict.fromkeys(("query_l1", "record_l1", "query_interval", "record_interval"), 0.05),
}
"""Relative error of a prediction beyond its standard error, if records are as assumed.

Chance explains the differences in benchmarks/planning.md; a bias of this size could have stayed
hidden there."""
MOST_ROWS = 6_000_000
"""Most records of opt-in users drawn at a time: some seconds and some hundred megabytes."""
MOST_USERS = 10**10
_ROWS_OF_A_PLAN = 2_000_000
_FEWEST_DRAWS, _MOST_DRAWS = 3, 20
_SEEDS = 1_000
_NINE_OF_TEN = 1.645

Done = Callable[[float], None]
"""Called with the share of the work that is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One collection that might be made."""

    users: int
    opt_in: float
    parameters: Parameters
    relay: RelayRules = field(default_factory=RelayRules)
    """Share of the clients who use a relay, and its rules."""
    known: bool = False
    """Whether the list of an earlier collection of the same kind is known."""

    def __post_init__(self) -> None:
        if not isinstance(self.users, int) or not 1 <= self.users <= MOST_USERS:
            raise ParameterError("users", f"a whole number from 1 to {MOST_USERS:,}", self.users)
        if self.opted_in < FEWEST_OPT_IN or self.users - self.opted_in < FEWEST_CLIENTS:
            raise ParameterError(
                "opt_in",
                f"so that at least {FEWEST_OPT_IN} of the {self.users:,} users opt in and "
                f"{FEWEST_CLIENTS} do not",
                self.opt_in,
            )
        PRESETS[self.parameters.preset].require_provable(self.parameters)
        require_relay_preset(self.parameters, self.relay.share)
        if self.known and not PRESETS[self.parameters.preset].takes_known_list:
            rule = f"left out with the preset {self.parameters.preset}"
            raise ParameterError("known", rule, self.known)
        for name in ("records_per_optin_user", "records_per_client"):
            if getattr(self.parameters, name) != 1:
                raise ParameterError(name, "1 in a plan", getattr(self.parameters, name))

    @property
    def opted_in(self) -> int:
        """Number of users who opt in."""
        return opt_in_users(self.users, self.opt_in)

    @property
    def relay_clients(self) -> int:
        """Number of clients who use the relay."""
        return relay_users(self.users - self.opted_in, self.relay.share)

    def without_relay(self) -> "Setting":
        """Return the same collection if no client uses a relay."""
        return replace(self, relay=replace(self.relay, share=0.0))

    def population(self, prior: Prior, seed: int) -> ImaginedPopulation:
        """Imagine the users of this collection."""
        return ImaginedPopulation.draw(
            prior,
            opted_in=self.opted_in,
            clients=self.users - self.opted_in,
            relay_clients=self.relay_clients,
            seed=seed,
        )

    def drawable(self, prior: Prior) -> "Setting":
        """Return the same setting with as many users as can be drawn in seconds."""
        rows = self.opted_in * prior.activity.mean_records
        if rows <= MOST_ROWS:
            return self
        return replace(self, users=int(self.users * MOST_ROWS / rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """One measure."""

    mean: float
    error: float
    """Error of the mean, at 95 %: two standard errors of the draws plus the model's error."""
    low: float
    """Lower end of the range of nine in ten collections."""
    high: float
    """Upper end of that range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Predicted results of collections in one setting."""

    setting: Setting
    draws: int
    measures: dict[str, Predicted]
    top_error: float
    """L1 of all records of the 50 most popular queries, listed or not."""
    known_queries: int
    """Queries whose 95 % interval reaches at most half their probability to each side."""
    branch: Branch | None
    """Branch of discovery that most draws took; None in ``paper``, which has only one."""
    client_mechanism: str
    """How clients report, for people."""
    query_share: float | None
    """φ, the share of clients that report only the query: median over the draws."""
    report_epsilon: float | None
    """ε0 of a relay client's report: median over the draws; None without a relay."""
    imagined_users: int
    """Number of imagined users; below ``setting.users`` if drawing all would take too long."""

    @property
    def lists_only_queries(self) -> bool:
        """Whether something is listed, and never a record."""
        return self.measures["queries"].mean > 0 and self.measures["records"].mean == 0


def predict(
    prior: Prior,
    setting: Setting,
    *,
    draws: int | None = None,
    seed: int = 0,
    progress: Done = no_progress,
) -> Prediction:
    """Run the algorithm on imagined users and summarise the results.

    Args:
        prior: The assumed distribution of records.
        setting: The collection.
        draws: Number of runs; 3 to 20 if left out, fewer if one takes long.
        seed: Seed of the imagined users; the same seed gives the same answer.
        progress: Called with the share of the work that is done.
    """
    if not isinstance(seed, int) or seed < 0:
        raise ParameterError("seed", "0 or more", seed)
    drawn = setting.drawable(prior)
    draws = _draws(prior, drawn) if draws is None else draws
    if not 2 <= draws <= _SEEDS // 2:
        raise ParameterError("draws", f"from 2 (an error needs two) to {_SEEDS // 2}", draws)
    results = []
    for number in range(draws):
        population = drawn.population(prior, seed_of(seed, number))
        known = NOTHING_KNOWN
        if setting.known:
            earlier = drawn.population(prior, seed_of(seed, number + _SEEDS // 2))
            known = known_from_earlier(earlier, population, setting.parameters)
        results.append(imagined_result(population, setting.parameters, setting.relay, known))
        progress((number + 1) / draws)
    return summarised(setting, results, imagined_users=drawn.users, is_prior_fitted=prior.is_fitted)


def seed_of(seed: int, number: int) -> int:
    """Return the seed of one draw; a negative number counts from the end of the range."""
    return seed * _SEEDS + number % _SEEDS


def summarised(
    setting: Setting,
    results: Sequence[ImaginedResult],
    *,
    imagined_users: int,
    is_prior_fitted: bool = False,
) -> Prediction:
    """Return the means of several results, and the spread of single results.

    Args:
        setting: The collection.
        results: What came out of imagined collections.
        imagined_users: Number of their users.
        is_prior_fitted: Whether the prior comes from a collection: then chance is in it, too.
    """
    branches = [one.branch for one in results]
    # With too many users to draw, errors are scaled from fewer users by 1/√users.
    shrink = math.sqrt(imagined_users / setting.users)
    return Prediction(
        setting=setting,
        draws=len(results),
        measures={
            name: _predicted(
                name, [one.measures[name] for one in results], shrink, fitted=is_prior_fitted
            )
            for name in MEASURES
        },
        top_error=float(np.mean([one.top_error for one in results])),
        known_queries=round(float(np.median([one.known_queries for one in results]))),
        branch=max(branches, key=branches.count),
        client_mechanism=results[0].client_mechanism,
        query_share=_median([one.query_share for one in results]),
        report_epsilon=_median([one.report_epsilon for one in results]),
        imagined_users=imagined_users,
    )


def _median(values: Sequence[float | None]) -> float | None:
    known = sorted(value for value in values if value is not None)
    return known[len(known) // 2] if known else None


def _draws(prior: Prior, setting: Setting) -> int:
    rows = setting.opted_in * prior.activity.mean_records
    return max(_FEWEST_DRAWS, min(_MOST_DRAWS, round(_ROWS_OF_A_PLAN / rows)))


def _predicted(name: str, seen: Sequence[float], shrink: float, *, fitted: bool) -> Predicted:
    values = np.array(seen)[~np.isnan(seen)]
    if name.endswith(("_l1", "_interval")):
        values = values * shrink
    if len(values) < 2:
        return Predicted(mean=math.nan, error=math.nan, low=math.nan, high=math.nan)
    mean, spread, n = float(values.mean()), float(values.std(ddof=1)), len(values)
    model = MODEL_ERROR[name] * mean
    # A collection that a prior was fitted to varies like the collection that is predicted.
    of_mean = 1 / n + (1 if fitted else 0)
    reach = _NINE_OF_TEN * spread * math.sqrt(1 + of_mean) + model
    return Predicted(
        mean=mean,
        error=2 * spread * math.sqrt(of_mean) + model,
        low=max(mean - reach, 0.0),
        high=min(mean + reach, 1.0) if name == "ndcg" else mean + reach,
    )
