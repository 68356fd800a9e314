"""Audit: many draws of the running code, and the lower bound on ε that they prove.

An audit proves that the code spends at least some ε; at most a share α of all audits proves a wrong
bound. It does not prove that the code keeps its promise: a pass means that these attacks
with these draws found nothing. ``certify`` computes an upper bound on the cost of the mechanism.
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
"""Share of a target's draws that choose the neighbours and the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Bound that the draws of one target prove."""

    target: str
    epsilon: float
    delta: float
    """δ of the promise."""
    shown: float
    """Proved lower bound on ε, at that δ."""
    alpha: float
    """Bound on the probability that the proof is wrong."""
    draws: int
    neighbours: str
    """The pair of neighbours that showed the largest ε."""
    seconds: float

    @property
    def is_kept(self) -> bool:
        """Whether no loss above the promise was proved."""
        return self.shown <= self.epsilon


def audit(
    targets: Sequence[Target],
    randomness: Randomness,
    *,
    draws: int,
    alpha: float,
    progress: Done = no_progress,
) -> list[Finding]:
    """Attack every target; return the bounds that are proved.

    Args:
        targets: The parts of the code to attack.
        randomness: Source of random bits of the attacked code.
        draws: Draws of each neighbour for the fastest target; slower ones get a share of them.
        alpha: Probability that any of the proofs is wrong; divided among the targets.
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
