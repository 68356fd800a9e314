"""The audit of relay clients passes the code as it is, and catches it when it is broken a little.

Every bound is wrong with probability at most 1e-9. That a broken build shows is computed from the
exact law of a batch.
"""

from dataclasses import replace
from math import log

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom

from blender_dp.audit import shuffled_batches
from blender_dp.audit.black_box import Finding, attack
from blender_dp.audit.clopper_pearson import lower_bound, upper_bound
from blender_dp.audit.relay_targets import batch_target, own_relay_list, relay_targets
from blender_dp.audit.shuffled_batches import Delivery, forget_order
from blender_dp.core.channels.mechanism import ThroughRelay
from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.local_alg.device import draw_reports
from blender_dp.core.parameters import exact
from exact_tests import FALSE_ALARM

EPSILON, DELTA = 2.0, 1e-3
LIST = own_relay_list(EPSILON, DELTA, private=False)
DRAWS = 20_000
Law = npt.NDArray[np.float64]


def relay() -> ThroughRelay:
    assert LIST.relay is not None
    return LIST.relay


def shown(seed: int, draws: int = DRAWS, deliver: Delivery = forget_order) -> Finding:
    target = batch_target(LIST, deliver)
    return attack(target, Randomness.seeded(seed), draws=draws, alpha=FALSE_ALARM)


def test_the_code_as_it_is_passes(seed: int) -> None:
    draws = {"batches": DRAWS, "many": 200_000, "one": 4_000}
    for target in relay_targets(LIST):
        (wanted,) = (count for word, count in draws.items() if f", {word}" in target.name)
        found = attack(target, Randomness.seeded(seed), draws=wanted, alpha=FALSE_ALARM)
        assert found.is_kept, target.name


def test_a_batch_is_held_to_its_certificate_and_a_report_to_its_own_epsilon() -> None:
    batches, *alone = relay_targets(LIST)
    assert EPSILON - 0.01 < batches.epsilon <= EPSILON
    assert batches.delta == DELTA
    assert {(one.epsilon, one.delta) for one in alone} == {(relay().report_epsilon, 0.0)}
    assert relay().report_epsilon > EPSILON + 1


def test_a_list_for_larger_batches_is_attacked_in_small_ones() -> None:
    """Their certified ε is above the promise of the large ones, and at most that of a report."""
    large = replace(relay(), least_batch=20_000)
    batches, *_ = relay_targets(replace(LIST, relay=replace(large, report_epsilon=6.0)))
    assert batches.name == "relayed-response, batches of 250"
    assert EPSILON < batches.epsilon <= 6.0


def test_a_list_without_a_relay_has_no_batches() -> None:
    with pytest.raises(BrokenInvariantError):
        batch_target(replace(LIST, relay=None))


def test_the_attack_comes_close_to_what_is_spent(seed: int) -> None:
    """Draws without bad luck prove the ε of the best event, which the enumeration knows too."""
    near, far = best_event(relay().channel(LIST.cells), 0.6 * 60_000)
    assert 0.7 < log((near - DELTA) / far) < EPSILON
    assert shown(seed, 60_000).shown > 0.4


# Broken builds


def twin_channel() -> SubsetChannel:
    """Return a channel whose reports are uniform a fifth as often as they should be."""
    twin = SubsetChannel.naming_one(LIST.cells.cell_count, exact(1.5 * relay().report_epsilon))
    assert 4 < relay().channel(LIST.cells).exact_pout / twin.exact_pout < 6
    return twin


def test_too_few_uniform_reports_are_caught(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    twin = twin_channel()
    assert unlucky(*best_event(twin, 0.6 * DRAWS)) > EPSILON
    monkeypatch.setattr(
        shuffled_batches, "draw_reports", lambda true, _, source: draw_reports(true, twin, source)
    )
    assert not shown(seed).is_kept


def test_a_batch_in_the_order_of_the_clients_is_caught(seed: int) -> None:
    channel = relay().channel(LIST.cells)
    assert unlucky(channel.pin, channel.pout) > EPSILON
    assert not shown(seed, deliver=lambda batches: batches).is_kept


def best_event(channel: SubsetChannel, draws: float) -> tuple[float, float]:
    """Return the two probabilities of the event that proves most, by enumeration of batches."""
    first, second = (law_of_batches(channel, victim).ravel() for victim in (0, 1))
    order = np.argsort(-first / second)
    near, far = np.cumsum(first[order]), np.cumsum(second[order])
    spread = 6 * np.sqrt(near / draws), 6 * np.sqrt(far / draws) + 36 / draws
    best = int(np.argmax((near - spread[0] - DELTA) / (far + spread[1])))
    return float(near[best]), float(far[best])


def law_of_batches(channel: SubsetChannel, victim: int) -> Law:
    """Return the law of the reports for two cells if all other clients hold a third."""
    most = np.arange(40)
    first = binom.pmf(most, relay().honest - 1, channel.pout)
    left = relay().honest - 1 - most[:, None]
    others = first[:, None] * binom.pmf(most, left, channel.pout / (1 - channel.pout))
    named = [channel.pout] * 3
    named[victim] = channel.pin
    law = np.full((41, 41), 1e-300)
    law[1:, :-1] += named[0] * others
    law[:-1, 1:] += named[1] * others
    law[:-1, :-1] += named[2] * others
    return law


def unlucky(p: float, q: float) -> float:
    """Return what is shown of an event by counts that are as misleading as one in 2e9 are."""
    draws = int(0.6 * DRAWS)
    near = int(binom.ppf(FALSE_ALARM / 2, draws, p))
    far = int(binom.isf(FALSE_ALARM / 2, draws, q))
    low = lower_bound(near, draws, FALSE_ALARM / 2)
    return log((low - DELTA) / upper_bound(far, draws, FALSE_ALARM / 2))
