"""BlendProbabilities: each group weighed by the other's variance, on records and on queries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from blender_dp.core.blend_probabilities.paper import blend_probabilities
from blender_dp.core.estimation.estimates import Blend, Estimate, GroupEstimates
from blender_dp.core.head_list.cells import FloatArray

SIZE = 6
probabilities = arrays(np.float64, SIZE, elements=st.floats(-0.5, 1.5))
variances = arrays(np.float64, SIZE, elements=st.floats(1e-9, 1))


def group(cells: Estimate, queries: Estimate | None = None) -> GroupEstimates:
    return GroupEstimates(
        cells=cells,
        queries=queries or cells,
        counts=np.zeros(len(cells.probability), dtype=np.int64),
        total=1,
    )


def estimate(probability: list[float] | FloatArray, variance: list[float] | FloatArray) -> Estimate:
    return Estimate(probability=np.array(probability), variance=np.array(variance))


def blended(opt_in: Estimate, clients: Estimate) -> Blend:
    return blend_probabilities(group(opt_in), group(clients)).cells


def test_two_estimates_by_hand() -> None:
    """w = 0.04/(0.01 + 0.04) = 0.8: 0.8·0.3 + 0.2·0.5 = 0.34, 0.64·0.01 + 0.04·0.04 = 0.008."""
    blend = blended(estimate([0.3, 0.7], [0.01, 0.01]), estimate([0.5, 0.5], [0.04, 0.04]))
    assert blend.opt_in_weight.tolist() == pytest.approx([0.8, 0.8])
    assert blend.raw.probability.tolist() == pytest.approx([0.34, 0.66])
    assert blend.raw.variance.tolist() == pytest.approx([0.008, 0.008])
    assert blend.projected.tolist() == pytest.approx([0.34, 0.66])


@given(p_o=probabilities, var_o=variances, p_c=probabilities, var_c=variances)
def test_no_other_weight_has_less_variance(
    p_o: FloatArray, var_o: FloatArray, p_c: FloatArray, var_c: FloatArray
) -> None:
    """``theorem:weighting-scheme``, against a grid of other weights."""
    blend = blended(estimate(p_o, var_o), estimate(p_c, var_c))
    assert blend.opt_in_weight == pytest.approx(var_c / (var_o + var_c))
    for w in np.linspace(0, 1, 21):
        assert (blend.raw.variance <= w**2 * var_o + (1 - w) ** 2 * var_c + 1e-15).all()
    assert (blend.raw.variance <= np.minimum(var_o, var_c) * (1 + 1e-12)).all()


@given(p_o=probabilities, var_o=variances, p_c=probabilities, var_c=variances)
def test_the_blend_lies_between_the_groups_and_is_projected(
    p_o: FloatArray, var_o: FloatArray, p_c: FloatArray, var_c: FloatArray
) -> None:
    blend = blended(estimate(p_o, var_o), estimate(p_c, var_c))
    low, high = np.minimum(p_o, p_c), np.maximum(p_o, p_c)
    assert (blend.raw.probability >= low - 1e-12).all()
    assert (blend.raw.probability <= high + 1e-12).all()
    assert blend.projected.sum() == pytest.approx(1)
    assert (blend.projected >= 0).all()


def test_where_the_opt_in_users_say_nothing_the_clients_estimate_stands() -> None:
    """⟨q,⋆⟩ has no opt-in estimate (flaw F3)."""
    blend = blended(
        estimate([0.3, np.nan, 0.6], [0.01, np.nan, 0.01]),
        estimate([0.2, 0.1, 0.7], [0.01, 0.02, 0.01]),
    )
    assert blend.opt_in_weight.tolist() == [0.5, 0.0, 0.5]
    assert blend.raw.probability[1] == 0.1
    assert blend.raw.variance[1] == 0.02
    assert np.isfinite(blend.projected).all()


def test_a_negative_variance_pushes_the_weight_above_one() -> None:
    """Flaw F1, kept: w = 0.03/(-0.01 + 0.03) = 1.5, and the blend leaves the two estimates."""
    blend = blended(estimate([-0.1, 1.1], [-0.01, 0.01]), estimate([0.1, 0.9], [0.03, 0.03]))
    assert blend.opt_in_weight[0] == pytest.approx(1.5)
    assert blend.raw.probability[0] == pytest.approx(1.5 * -0.1 - 0.5 * 0.1)
    assert blend.raw.variance[0] == pytest.approx(2.25 * -0.01 + 0.25 * 0.03)
    assert np.isnan(blend.raw.std_error[0])


def test_records_and_queries_are_blended_apart() -> None:
    opt_in = group(estimate([0.1, 0.2, 0.7], [0.01] * 3), estimate([0.3, 0.7], [0.04] * 2))
    clients = group(estimate([0.3, 0.2, 0.5], [0.01] * 3), estimate([0.5, 0.5], [0.01] * 2))
    both = blend_probabilities(opt_in, clients)
    assert both.cells.opt_in_weight.tolist() == pytest.approx([0.5] * 3)
    assert both.cells.raw.probability.tolist() == pytest.approx([0.2, 0.2, 0.6])
    assert both.queries.opt_in_weight.tolist() == pytest.approx([0.2] * 2)
    assert both.queries.raw.probability.tolist() == pytest.approx([0.46, 0.54])


@pytest.mark.parametrize(("p_o", "var_o"), [(1.0, 0.0), (1.02, 1e-4), (0.98, 1e-4)])
def test_an_empty_head_list_is_certain(p_o: float, var_o: float) -> None:
    """The clients know that all is ⟨⋆,⋆⟩, with variance zero, whatever noise the others have."""
    blend = blended(estimate([p_o], [var_o]), estimate([1.0], [0.0]))
    assert blend.raw.probability.tolist() == [1.0]
    assert blend.raw.variance.tolist() == [0.0]
    assert blend.opt_in_weight.tolist() == [0.0]


def test_an_interval_is_cut_to_what_a_probability_can_be() -> None:
    low, high = estimate([0.5, 0.01, 0.99, -0.1], [0.01, 0.01, 0.01, -1.0]).interval()
    assert low.tolist()[:3] == pytest.approx([0.5 - 0.195996398, 0, 0.99 - 0.195996398])
    assert high.tolist()[:3] == pytest.approx([0.5 + 0.195996398, 0.01 + 0.195996398, 1])
    assert np.isnan([low[3], high[3]]).all()
