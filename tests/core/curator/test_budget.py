"""Every line of the ledger together is the promise, exactly."""

from dataclasses import replace
from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.curator.budget import Branch, Budget, with_usual_share
from blender_dp.core.parameters import Parameters, exact


@given(
    epsilon=st.floats(1e-6, 1e3),
    delta=st.floats(1e-12, 0.5),
    branch=st.sampled_from(get_args(Branch)),
    share=st.none() | st.floats(0.01, 0.9),
)
def test_the_lines_add_up_to_the_promise(
    epsilon: float, delta: float, branch: Branch, share: float | None
) -> None:
    budget = Budget.of(Parameters(epsilon=epsilon, delta=delta, estimation_share=share))
    lines = budget.ledger(branch)
    assert sum((line.epsilon for line in lines), Fraction(0)) == exact(epsilon)
    assert sum((line.delta for line in lines), Fraction(0)) == exact(delta)
    assert all(line.epsilon > 0 for line in lines)


@given(epsilon=st.floats(1e-6, 1e3), delta=st.floats(1e-12, 0.5))
def test_declaring_one_record_saves_both_scalars(epsilon: float, delta: float) -> None:
    declared = Budget.of(Parameters(epsilon=epsilon, delta=delta, one_record_each=True))
    lines = declared.ledger("laplace")
    assert [line.release for line in lines] == ["discovery", "sums"]
    assert sum((line.epsilon for line in lines), Fraction(0)) == exact(epsilon)
    assert sum((line.delta for line in lines), Fraction(0)) == exact(delta)


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("branch", get_args(Branch))
def test_the_choice_of_the_list_is_a_line_of_its_own(branch: Branch, declared: bool) -> None:
    """Half of the branch's hundredth; with one record declared, as much from the rest."""
    parameters = Parameters(epsilon=2, delta=1e-5, one_record_each=declared, list_of="auto")
    budget = Budget.of(parameters)
    lines = budget.ledger("laplace" if declared else branch)
    assert lines[0].release == "choice of the list"
    assert budget.list_epsilon == Fraction(1, 100)
    assert budget.branch_epsilon == (0 if declared else Fraction(1, 100))
    assert sum((line.epsilon for line in lines), Fraction(0)) == 2
    assert budget.rest == (Fraction(199, 100) if declared else Fraction(198, 100))


def test_the_shares_by_hand() -> None:
    """ε = 4: the branch 0.04; of the other 3.96 a hundredth, 15 hundredths and the rest."""
    budget = Budget.of(Parameters(epsilon=4, delta=1e-5))
    assert budget.branch_epsilon == Fraction(4, 100)
    assert budget.scalar_epsilon == Fraction("0.0396")
    assert budget.estimation_epsilon == Fraction("0.594")
    assert budget.discovery_epsilon == Fraction("3.3264")
    assert [line.release for line in budget.ledger("laplace")] == [
        "choice of the branch",
        "discovery",
        "sums",
        "scalars",
    ]


@pytest.mark.parametrize("branch", get_args(Branch))
def test_delta_is_spent_once(branch: Branch) -> None:
    lines = Budget.of(Parameters(epsilon=1, delta=1e-6)).ledger(branch)
    assert [line.delta for line in lines if line.delta] == [Fraction(1, 10**6)]


@pytest.mark.parametrize(("relay_clients", "share"), [(0, None), (99, None), (100, 0.05)])
def test_many_relay_clients_leave_more_of_the_budget_to_discovery(
    relay_clients: int, share: float | None
) -> None:
    parameters = Parameters(epsilon=4, delta=1e-5)
    usual = with_usual_share(parameters, opt_in_users=100, relay_clients=relay_clients)
    assert usual == replace(parameters, estimation_share=share)


def test_a_share_that_was_named_stays_and_the_paper_has_none() -> None:
    named = Parameters(epsilon=4, delta=1e-5, estimation_share=0.15)
    paper = Parameters(epsilon=4, delta=1e-5, preset="paper")
    for parameters in (named, paper):
        assert with_usual_share(parameters, opt_in_users=1, relay_clients=10**6) is parameters
