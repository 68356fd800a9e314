"""Curve of a plan: predictions for several values of one parameter."""

from collections.abc import Callable, Sequence
from typing import Literal

from blender_dp.core.errors import ParameterError
from blender_dp.planning.prediction import Prediction, Setting, predict
from blender_dp.planning.prior import Prior
from blender_dp.planning.targets import EPSILONS, MOST_OPT_IN, Varied, varying

Curve = Literal["none", "opt_in", "epsilon", "relay"]
_FACTORS = (0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0)
_SHARES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
"""Relay shares of a curve; at 0 nobody uses the relay."""
_DRAWS = 3

Step = Callable[[str, float], None]
"""Called with the current step and the share of it that is done."""


def curve_along(
    prior: Prior, setting: Setting, curve: Curve, *, seed: int, progress: Step
) -> tuple[tuple[Prediction, ...], tuple[Prediction, ...]]:
    """Return the predictions along a curve, and those of the same users without a relay."""
    if curve == "none":
        return (), ()
    if curve not in ("opt_in", "epsilon", "relay"):
        raise ParameterError("curve", "none, opt_in, epsilon or relay", curve)
    there = [varying(setting, curve, value) for value in _values(setting, curve)]
    compared = setting.relay_clients > 0 and curve != "relay"
    every = [*there, *(point.without_relay() for point in there if compared)]
    found = []
    for number, point in enumerate(every, start=1):
        found.append(predict(prior, point, draws=_DRAWS, seed=seed))
        progress("draw the curve", number / len(every))
    points, others = tuple(found[: len(there)]), tuple(found[len(there) :])
    return points, points[:1] if curve == "relay" else others


def _values(setting: Setting, curve: Varied) -> Sequence[float]:
    """Return the values of the parameter along which a curve goes."""
    if curve == "relay":
        return _SHARES
    now, most = (
        (setting.opt_in, MOST_OPT_IN)
        if curve == "opt_in"
        else (setting.parameters.epsilon, EPSILONS[1])
    )
    most = max(most, now)
    return sorted({float(f"{min(now * factor, most):.3g}") for factor in _FACTORS})
