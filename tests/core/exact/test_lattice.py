"""Weights on the lattice: as large as they may be, and never longer than one user."""

from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.exact.lattice import UNIT, weights


@given(k=st.integers(1, 2_000))
def test_k_weights_have_a_norm_of_at_most_one_user_and_no_larger_ones_do(k: int) -> None:
    weight = int(weights(k)[k])
    assert k * weight**2 <= UNIT**2 < k * (weight + 1) ** 2


def test_a_user_without_records_adds_nothing_and_one_with_a_single_record_adds_all() -> None:
    assert weights(4).tolist() == [0, UNIT, 759_250_124, 619_925_131, UNIT // 2]
