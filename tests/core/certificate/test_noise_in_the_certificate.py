"""The certificate accounts for the noise that was drawn: spied on while the steps run."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from core.given_answers import GivenAnswers

from blender_dp.core.blender import PRESETS
from blender_dp.core.certificate import opt_in as certified_opt_in
from blender_dp.core.certificate.certificate import Account
from blender_dp.core.certificate.opt_in import paper_accounts, sharp_accounts
from blender_dp.core.create_head_list import paper as paper_discovery
from blender_dp.core.create_head_list import sharp as sharp_discovery
from blender_dp.core.curator.budget import Branch, Budget
from blender_dp.core.curator.gaussian_plan import GaussianPlan, total_delta
from blender_dp.core.curator.laplace_plan import LaplacePlan
from blender_dp.core.curator.plans import count_plan, weight_plan
from blender_dp.core.estimate_optin_probabilities import paper as paper_optin
from blender_dp.core.estimate_optin_probabilities import sharp as sharp_optin
from blender_dp.core.exact.discrete_gaussian import DiscreteGaussian
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace
from blender_dp.core.exact.enclosure import Enclosure
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.known_list import NOTHING_KNOWN
from blender_dp.core.parameters import Parameters
from blender_dp.core.population import RecordSums

PAPER = Parameters(preset="paper", epsilon=4.0, delta=1e-3)
SHARP = Parameters(epsilon=4.0, delta=1e-3)
USERS = GivenAnswers(counts=(900,), cells=(900, 0, 100))
"""One record that is always found: a list of three cells."""


@pytest.fixture(autouse=True)
def _accounts_computed_anew() -> Iterator[None]:
    certified_opt_in._line.cache_clear()
    yield
    certified_opt_in._line.cache_clear()


class Spy:
    """What noise was used, how often."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.scales: Counter[Fraction] = Counter()
        self.sigmas: Counter[int] = Counter()
        self.tails: set[Fraction] = set()
        self.plans: list[LaplacePlan | GaussianPlan] = []
        of_laplace, of_gaussian = DiscreteLaplace.draw, DiscreteGaussian.draw
        tail = DiscreteLaplace.tail

        def laplace(noise: DiscreteLaplace, randomness: Randomness) -> int:
            self.scales[noise.scale] += 1
            return of_laplace(noise, randomness)

        def gaussian(noise: DiscreteGaussian, randomness: Randomness) -> int:
            self.sigmas[int(noise.sigma)] += 1
            return of_gaussian(noise, randomness)

        def seen_tail(noise: DiscreteLaplace, y: int, bits: int) -> Enclosure:
            self.tails.add(noise.scale)
            return tail(noise, y, bits)

        monkeypatch.setattr(DiscreteLaplace, "draw", laplace)
        monkeypatch.setattr(DiscreteGaussian, "draw", gaussian)
        monkeypatch.setattr(DiscreteLaplace, "tail", seen_tail)
        for name in ("release_counts", "release_weights"):
            self._note_plan(name, monkeypatch)

    def _note_plan(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        release = getattr(sharp_discovery, name)

        def noted(
            sums: RecordSums, plan: LaplacePlan | GaussianPlan, randomness: Randomness
        ) -> object:
            self.plans.append(plan)
            return release(sums, plan, randomness)

        monkeypatch.setattr(sharp_discovery, name, noted)


def drawn(parameters: Parameters, branch: Branch | None, monkeypatch: pytest.MonkeyPatch) -> Spy:
    """Run both steps of the curator, noting what noise they use."""
    spy = Spy(monkeypatch)
    users = USERS if branch != "gauss" else replace(USERS, records_each=32)
    steps, randomness = PRESETS[parameters.preset], Randomness.seeded(2)
    found = steps.create_head_list(users, parameters, randomness, NOTHING_KNOWN)
    assert found.choice is None or found.choice.branch == branch
    steps.estimate_optin_probabilities(users, found, parameters, randomness)
    monkeypatch.undo()
    return spy


def constants(account: Account) -> dict[str, dict[str, int | Fraction]]:
    return {part.release: dict(part.constants) for part in account.parts}


def test_paper_is_certified_with_the_noise_it_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    used = drawn(PAPER, None, monkeypatch)
    finders, counted = map(constants, paper_accounts(PAPER, None))
    assert used.tails == {finders["discovery"]["noise_scale"]}
    assert used.scales == {counted["sums"]["noise_scale"]: 2}  # the record, and ⟨⋆,⋆⟩


def test_the_laplace_branch_is_certified_with_the_noise_it_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = drawn(SHARP, "laplace", monkeypatch)
    (account,) = sharp_accounts(SHARP, "laplace")
    told = constants(account)
    assert used.scales == {
        told["choice of the branch"]["noise_scale"]: 1,
        told["sums"]["noise_scale"]: 3,
        told["scalars"]["noise_scale"]: 2,
    }
    [plan] = used.plans
    assert isinstance(plan, LaplacePlan)
    assert told["discovery"] == {
        "least_released": plan.threshold,
        "right_slope": plan.noise.right,
        "left_slope": plan.noise.left,
    }


def test_the_gaussian_branch_is_certified_with_the_noise_it_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = drawn(SHARP, "gauss", monkeypatch)
    (account,) = sharp_accounts(SHARP, "gauss")
    told = constants(account)
    together = told["discovery, sums and scalars together"]
    assert used.scales[Fraction(told["choice of the branch"]["noise_scale"])] == 1
    assert used.sigmas == {
        together["discovery_sigma"]: 1,
        together["sum_sigma"]: 3,
        together["scalar_sigma"]: 2,
    }
    [plan] = used.plans
    assert isinstance(plan, GaussianPlan)
    assert (together["threshold"], together["most_records"]) == (plan.threshold, plan.most)


@pytest.mark.parametrize("branch", ["laplace", "gauss"])
@pytest.mark.parametrize("narrow", [0, 1])
def test_noise_a_little_too_narrow_breaks_the_certificate(
    branch: Branch, narrow: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By one part in a thousand, of the sums or of the scalars."""
    noises = sharp_optin.noises

    def narrower(branch: Branch, budget: Budget) -> tuple[sharp_optin.Noise, ...]:
        pair = list(noises(branch, budget))
        noise = pair[narrow]
        if isinstance(noise, DiscreteGaussian):
            pair[narrow] = DiscreteGaussian(int(noise.sigma * Fraction(999, 1000)))
        elif isinstance(noise, DiscreteLaplace):
            pair[narrow] = DiscreteLaplace(noise.scale * Fraction(999, 1000))
        return tuple(pair)

    assert all(account.is_kept for account in sharp_accounts(SHARP, branch))
    certified_opt_in._line.cache_clear()
    monkeypatch.setattr(sharp_optin, "noises", narrower)
    assert not all(account.is_kept for account in sharp_accounts(SHARP, branch))


def test_narrower_noise_of_paper_or_of_the_branch_breaks_the_certificate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(paper_optin, "sum_noise", lambda _: DiscreteLaplace(Fraction(499, 1000)))
    monkeypatch.setattr(
        sharp_discovery, "branch_noise", lambda _: DiscreteLaplace(Fraction(UNIT * 249, 10))
    )
    _, counted = paper_accounts(PAPER, None)
    assert not counted.is_kept
    assert not sharp_accounts(SHARP, "laplace")[0].is_kept


def test_a_lower_threshold_or_steeper_noise_breaks_the_certificate_of_discovery(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        certified_opt_in,
        "count_plan",
        lambda budget: replace(count_plan(budget), threshold=count_plan(budget).threshold - 1),
    )
    monkeypatch.setattr(
        certified_opt_in,
        "weight_plan",
        lambda budget: replace(
            weight_plan(budget), threshold=weight_plan(budget).threshold * 99 // 100
        ),
    )
    monkeypatch.setattr(paper_discovery, "name_noise", lambda _: DiscreteLaplace(Fraction(1, 3)))
    for branch in ("laplace", "gauss"):
        assert not sharp_accounts(SHARP, branch)[0].is_kept
    finders, _ = paper_accounts(PAPER, None)
    assert not finders.is_kept


def test_the_proof_of_the_drawn_plan_is_not_computed_again() -> None:
    """One δ is new: that of the next smaller ε, which the plan must need more than δ for."""
    parameters = Parameters(epsilon=3.0625, delta=1e-7)
    PRESETS["sharp"].require_provable(parameters)
    proved = total_delta.cache_info().misses
    sharp_accounts(parameters, "gauss")
    assert total_delta.cache_info().misses == proved + 1
