"""Audit: many draws of the running code, and the ε that they prove to be spent.

An audit proves that the code spends more than some ε; at most a share α of all audits proves
something wrong. It does not prove that the code keeps its promise: a pass means that these attacks
with these draws found nothing. ``certify`` computes an upper bound on what the mechanism spends.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from blender_dp.audit.attacks import Attack
from blender_dp.audit.events import best_event, shown_epsilon
from blender_dp.audit.targets import Target
from blender_dp.core.blender import no_progress
from blender_dp.core.errors import ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray

Done = Callable[[str, float], None]
"""Called with the target, and with the share of the audit that is done, from 0 to 1."""
_EXPLORING = 0.4
"""The share of a target's draws by which neighbours and event are chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the draws of one target prove."""

    target: str
    epsilon: float
    delta: float
    """The promise."""
    shown: float
    """The ε that is proved to be spent, at that δ."""
    alpha: float
    """Bound on the probability that the proof is wrong."""
    draws: int
    neighbours: str
    """The pair of neighbours that showed the largest ε."""
    seconds: float

    @property
    def is_kept(self) -> bool:
        """Whether nothing above the promise was proved."""
        return self.shown <= self.epsilon


def audit(
    targets: Sequence[Target],
    randomness: Randomness,
    *,
    draws: int,
    alpha: float,
    progress: Done = no_progress,
) -> list[Finding]:
    """Attack every target; return what each attack proves.

    Args:
        targets: What to attack.
        randomness: Where the coins of the attacked code come from.
        draws: How many draws of each neighbour the fastest target gets; others get their share.
        alpha: How often any of the proofs may be wrong; shared out among the targets.
        progress: Called with the target and the share of the audit that is done.
    """
    if draws < 1000:
        raise ParameterError("draws", "at least 1000", draws)
    if not 0 < alpha < 1:
        raise ParameterError("alpha", "strictly between 0 and 1", alpha)
    findings = []
    for number, target in enumerate(targets):
        progress(target.name, number / len(targets))
        each = max(int(draws * target.effort), 100)
        findings.append(attack(target, randomness, draws=each, alpha=alpha / len(targets)))
    progress("", 1.0)
    return findings


def attack(target: Target, randomness: Randomness, *, draws: int, alpha: float) -> Finding:
    """Choose neighbours and event on some draws, and bound the event on fresh ones."""
    began = time.perf_counter()
    exploring = max(int(draws * _EXPLORING / len(target.attacks)), 1)
    fresh = max(draws - exploring * len(target.attacks), 1)
    tried = []
    for one in target.attacks:
        first, second = _both(one, exploring, randomness)
        event = best_event(first, second, delta=target.delta, draws=fresh)
        tried.append((event, one, int(first.sum())))
    event, chosen, _ = max(tried, key=lambda attempt: attempt[0].promise)
    first, second = _both(chosen, fresh, randomness)
    return Finding(
        target=target.name,
        epsilon=target.epsilon,
        delta=target.delta,
        shown=shown_epsilon(event, first, second, delta=target.delta, alpha=alpha),
        alpha=alpha,
        draws=sum(explored for _, _, explored in tried) + int(first.sum()),
        neighbours=chosen.name,
        seconds=time.perf_counter() - began,
    )


def _both(one: Attack, draws: int, randomness: Randomness) -> tuple[IntArray, IntArray]:
    return (
        one.draw(draws, randomness, is_swapped=False),
        one.draw(draws, randomness, is_swapped=True),
    )
