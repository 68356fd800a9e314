"""The distributions that logs are drawn from, exactly."""

import math
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from blender_dp.core.errors import ParameterError
from blender_dp.engine.synthetic import Shape, ShapeOptions, query_probabilities
from blender_dp.engine.synthetic.shapes import URL_SHARES

# Avent et al., JPC 9(2) 2019, top-10 table, column "AOL dataset prob": ★ and nine queries.
PUBLISHED_STAR = 0.9121
PUBLISHED_QUERIES = [0.0211, 0.0067, 0.0066, 0.0055, 0.0055, 0.0048, 0.0044, 0.0034, 0.0030]

DRAWN_SHAPES = [Shape.AOL, Shape.YANDEX, Shape.ZIPF]


@cache
def probabilities(shape: Shape) -> NDArray[np.float64]:
    """Return millions of numbers, computed once."""
    return query_probabilities(shape)


@pytest.mark.parametrize("shape", DRAWN_SHAPES)
def test_probabilities_fall_with_rank_and_sum_to_one(shape: Shape) -> None:
    p = probabilities(shape)
    assert p.sum() == pytest.approx(1, abs=1e-9)
    assert np.all(np.diff(p) <= 0)
    assert p[-1] > 0


def test_aol_starts_with_the_published_probabilities() -> None:
    assert probabilities(Shape.AOL)[:9].tolist() == PUBLISHED_QUERIES


def test_aol_has_the_published_mass_outside_the_head_list() -> None:
    p = probabilities(Shape.AOL)
    assert len(p) == 4_800_000
    assert p[50:].sum() == pytest.approx(PUBLISHED_STAR, abs=1e-9)


def test_the_aol_tail_is_one_zipf_law_from_rank_ten() -> None:
    p = probabilities(Shape.AOL)
    ranks = np.arange(10, len(p) + 1)
    slopes = np.diff(np.log(p[9:])) / np.diff(np.log(ranks))
    assert slopes[:10_000] == pytest.approx(np.full(10_000, -0.7908025623))


def test_yandex_has_no_famous_head() -> None:
    p = probabilities(Shape.YANDEX)
    assert len(p) == 13_200_000
    assert p[0] < 0.003
    assert p[0] / p[9] < 2


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
def test_zipf_follows_its_exponent(exponent: float) -> None:
    p = query_probabilities(Shape.ZIPF, ShapeOptions(exponent=exponent, queries=1000))
    assert len(p) == 1000
    assert p[0] / p[99] == pytest.approx(100**exponent)


def test_url_shares_sum_to_one_with_the_first_dominant() -> None:
    assert sum(URL_SHARES) == pytest.approx(1)
    assert URL_SHARES[0] > 0.5


@pytest.mark.parametrize(
    ("name", "value", "requirement"),
    [
        ("queries", 0, "between 1 and 67108864"),
        ("queries", 2**26 + 1, "between 1 and 67108864"),
        ("exponent", -0.1, "a finite number, at least 0"),
        ("exponent", math.nan, "a finite number, at least 0"),
        ("mean_records", 0.5, "between 1 and 100"),
        ("mean_records", math.nan, "between 1 and 100"),
    ],
)
def test_a_bad_option_is_named(name: str, value: float, requirement: str) -> None:
    with pytest.raises(ParameterError) as raised:
        ShapeOptions(**{name: value})  # type: ignore[arg-type]  # the names are those above
    assert str(raised.value) == f"{name} must be {requirement}; got {value!r}"


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        (Shape.AOL, ShapeOptions(queries=1000)),
        (Shape.AOL, ShapeOptions(exponent=1.0)),
        (Shape.YANDEX, ShapeOptions(exponent=1.0)),
        (Shape.AOL_SINGLE, ShapeOptions(mean_records=2)),
        (Shape.AOL_MULTI, ShapeOptions(queries=1000)),
    ],
)
def test_an_option_that_the_shape_fixes_is_refused(shape: Shape, options: ShapeOptions) -> None:
    with pytest.raises(ParameterError, match=f"must be left out for the shape {shape}; got"):
        options.require_for(shape)


def test_a_workload_has_no_drawn_distribution() -> None:
    with pytest.raises(ParameterError, match="shape must be aol, yandex, zipf or flat"):
        query_probabilities(Shape.AOL_MULTI)
