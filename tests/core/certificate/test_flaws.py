"""The six flaws of the algorithm as printed, each recomputed by hand on one small result."""

import math
from dataclasses import replace

import pytest
from core.small_result import empty_result, small_result

from blender_dp.core.blender import BlenderResult
from blender_dp.core.certificate.flaws import (
    Flaw,
    count_flaws,
    negative_variances,
    tight_client_epsilon,
)
from blender_dp.core.channels.local_alg import LocalAlgMechanism

A = math.exp(-2)  # b = 2/ε = 1/2, a = e^(-1/b)
NOISE_VARIANCE = 2 * A / (1 - A) ** 2


def flaw(name: str, result: BlenderResult | None = None) -> Flaw:
    found = {flaw.id: flaw for flaw in count_flaws(result or small_result())}
    return found[name]


def test_all_six_are_reported_in_order() -> None:
    assert [flaw.id for flaw in count_flaws(small_result())] == ["F1", "F2", "F3", "F4", "F5", "F6"]
    assert all(flaw.sentence.endswith(".") for flaw in count_flaws(small_result()))


def test_an_empty_head_list_has_no_flaws_to_count() -> None:
    assert count_flaws(empty_result()) == []


def test_negative_variances_are_counted_among_the_cells_that_have_an_estimate() -> None:
    """⟨a,2⟩ has -3 of 100: (-0.03)(1.03)/99 + 0.362/9900 < 0; three others are positive.

    ⟨a,⋆⟩ and ⟨b,⋆⟩ have no opt-in estimate: four remain.
    """
    assert -0.03 * 1.03 / 99 + NOISE_VARIANCE / 9900 < 0
    assert negative_variances(small_result()) == 1
    assert flaw("F1").size == 1 / 4


def test_weights_outside_zero_to_one_are_counted() -> None:
    """Only ⟨a,2⟩, whose opt-in variance is negative."""
    weights = small_result().blended.cells.opt_in_weight
    assert [not 0 <= w <= 1 for w in weights] == [False, True, False, False, False, False]
    assert flaw("F1").sentence == (
        "1 of 4 opt-in variance estimates are negative, and 1 blend weights "
        "of records and 0 of queries lie outside 0 to 1."
    )


def test_the_weights_that_depend_on_what_they_weigh_are_compared() -> None:
    """The opt-in users say less of ⟨a,1⟩ and ⟨b,1⟩ than the clients, and more of ⟨a,2⟩.

    The weight of ⟨a,2⟩ is 1.75, which counts as 1.
    """
    result = small_result()
    less: list[float] = []
    more: list[float] = []
    for cell in (0, 1, 3):
        weight = min(max(float(result.blended.cells.opt_in_weight[cell]), 0.0), 1.0)
        opt_in = float(result.curated.opt_in.cells.probability[cell])
        clients = float(result.clients.cells.probability[cell])
        (less if opt_in < clients else more).append(weight)
    assert (len(less), more) == (2, [1.0])
    expected = sum(less) / len(less) - sum(more) / len(more)
    assert flaw("F2").size == pytest.approx(expected)


def test_the_mass_that_the_groups_count_differently_is_the_clients() -> None:
    result = small_result()
    mass = result.clients.cells.probability[2] + result.clients.cells.probability[4]
    assert flaw("F3").size == pytest.approx(mass)
    assert f"{mass:.2%}" in flaw("F3").sentence


def test_the_draws_of_noise_in_everything_else_are_counted() -> None:
    """Five candidates, three listed: ⟨⋆,⋆⟩ holds 1 + 2 draws and its variance counts one."""
    used = 0.53 * 0.47 / 99 + NOISE_VARIANCE / 9900
    right = used + 2 * NOISE_VARIANCE / 9900
    assert flaw("F4").size == pytest.approx(1 - used / right)
    assert "adds up 3 draws" in flaw("F4").sentence


def test_without_trimming_the_variance_counts_what_there_is() -> None:
    result = small_result()
    untrimmed = replace(result, curated=replace(result.curated, candidate_records=3))
    assert flaw("F4", untrimmed).size == 0


def test_the_users_who_only_name_records_are_counted() -> None:
    assert flaw("F5").size == 0.95
    assert "95% of the opt-in users" in flaw("F5").sentence


def test_the_budget_that_buys_nothing_is_measured() -> None:
    """k = 3: the worst column is a listed cell of a, whose k_q is 3.

    t·t_q over (1-t)/(2·3), with the δ of the formula.
    """
    delta_q, delta_u = 0.85e-5, 0.15e-5
    t = (math.exp(3.4) + delta_q / 2 * 2) / (math.exp(3.4) + 2)
    t_q = (math.exp(0.6) + delta_u / 2 * 2) / (math.exp(0.6) + 2)
    tight = math.log(t * t_q / ((1 - t) / 6))
    assert tight_client_epsilon(small_result()) == pytest.approx(tight, rel=1e-9)
    assert flaw("F6").size == pytest.approx(4 - tight, rel=1e-8)


def test_several_reports_of_a_client_add_up() -> None:
    """m_C = 2 halves ε and δ for each of two reports."""
    result = small_result()
    mechanism = LocalAlgMechanism.of(replace(result.parameters, records_per_client=2))
    head_list = replace(result.head_list, mechanism=mechanism)
    twice = replace(result, curated=replace(result.curated, head_list=head_list))
    t = (math.exp(1.7) + 0.425e-5 / 2 * 2) / (math.exp(1.7) + 2)
    t_q = (math.exp(0.3) + 0.075e-5 / 2 * 2) / (math.exp(0.3) + 2)
    tight = math.log(t * t_q / ((1 - t) / 6))
    assert tight_client_epsilon(twice) == pytest.approx(2 * tight, rel=1e-9)
