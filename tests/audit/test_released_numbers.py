"""Numbers that the curator releases once: the audit passes them, and catches them without noise.

Every bound is wrong with probability at most 1e-9. What a broken build shows is far above the
promise: without noise a user is seen for certain.
"""

from collections.abc import Callable

import pytest

from blender_dp.audit.black_box import Finding, attack
from blender_dp.audit.number_targets import (
    branch_scalar,
    gaussian_scalars,
    laplace_scalars,
    paper_everything_else,
)
from blender_dp.audit.targets import Target
from blender_dp.core.create_head_list import sharp as sharp_discovery
from blender_dp.core.curator.budget import Branch, Budget
from blender_dp.core.estimate_optin_probabilities import paper as paper_optin
from blender_dp.core.estimate_optin_probabilities import sharp as sharp_optin
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.parameters import Parameters
from exact_tests import FALSE_ALARM

PAPER = Parameters(preset="paper", epsilon=1.0, delta=1e-3)
SHARP = Parameters(epsilon=4.0, delta=1e-3)
GENEROUS = Parameters(epsilon=40.0, delta=1e-3)
"""Of which the scalars have 0.4: the smaller the ε, the more draws it takes to see another."""
DRAWS = 1_000
MAKERS: dict[str, Callable[[], Target]] = {
    "everything else": lambda: paper_everything_else(PAPER),
    "branch": lambda: branch_scalar(SHARP),
    "laplace scalars": lambda: laplace_scalars(SHARP),
    "gauss scalars": lambda: gaussian_scalars(SHARP),
}


def shown(target: Target, seed: int) -> Finding:
    return attack(target, Randomness.seeded(seed), draws=DRAWS, alpha=FALSE_ALARM)


@pytest.mark.parametrize("name", MAKERS)
def test_the_code_as_it_is_passes(name: str, seed: int) -> None:
    assert shown(MAKERS[name](), seed).is_kept


class Silent:
    """No noise, from some draw of a run on."""

    def __init__(self, heard: int = 0) -> None:
        self.heard = heard

    def draw(self, randomness: Randomness) -> int:
        self.heard -= 1
        return DiscreteLaplace(PAPER.laplace_scale).draw(randomness) if self.heard >= 0 else 0


@pytest.mark.parametrize("name", MAKERS)
def test_a_number_without_noise_is_caught(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    noises = sharp_optin.noises

    def without(branch: Branch, budget: Budget) -> tuple[sharp_optin.Noise, sharp_optin.Noise]:
        return noises(branch, budget)[0], Silent()

    monkeypatch.setattr(paper_optin, "sum_noise", lambda _: Silent(heard=1))
    monkeypatch.setattr(sharp_discovery, "branch_noise", lambda _: Silent())
    monkeypatch.setattr(sharp_optin, "noises", without)
    assert not shown(MAKERS[name](), seed).is_kept


def test_scalars_with_the_noise_of_sums_are_caught(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They spend 5.9 then, where 0.4 is promised."""
    noises = sharp_optin.noises

    def narrow(branch: Branch, budget: Budget) -> tuple[sharp_optin.Noise, sharp_optin.Noise]:
        of_sums, _ = noises(branch, budget)
        return of_sums, of_sums

    monkeypatch.setattr(sharp_optin, "noises", narrow)
    assert not shown(laplace_scalars(GENEROUS), seed).is_kept
