"""Quantiles of Student's t against a printed table and against the normal distribution."""

import pytest

from blender_dp.core.estimation.estimates import Z
from blender_dp.evaluation.trials.student import student_quantile


@pytest.mark.parametrize(
    ("degrees", "printed"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (19, 2.093), (30, 2.042)],
)
def test_quantiles_are_those_of_the_printed_table(degrees: int, printed: float) -> None:
    """NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, column 0.975."""
    assert student_quantile(0.95, degrees) == pytest.approx(printed, abs=5e-4)


def test_many_degrees_give_the_normal_quantile() -> None:
    assert student_quantile(0.95, 10_000) == pytest.approx(Z, abs=3e-4)
