"""Lines of figures: which points they have, and where they stop."""

import math
from typing import Any

import pytest
from evaluation.reproduction.made_up_series import UNREACHED, series, spread

from blender_dp.evaluation.reproduction.series import Axis, Line, Panel, measured
from blender_dp.evaluation.reproduction.sweeps import SETUPS, Setting


@pytest.mark.parametrize(("reached", "is_shown"), [(0, False), (4, False), (5, True), (9, True)])
def test_a_line_stops_where_fewer_than_half_of_the_trials_reach_the_size(
    reached: int, is_shown: bool
) -> None:
    values = [0.9] * reached + [math.nan] * (9 - reached)
    line = series({1: UNREACHED, 2: values, 3: spread(0.9)})
    assert line.at(2).reached == reached
    assert line.at(2).is_shown == is_shown
    assert [point.x for point in line.shown()] == ([2, 3] if is_shown else [3])


def test_exactly_half_is_enough_and_no_trial_is_not() -> None:
    assert series({1: [0.5, math.nan]}).at(1).is_shown
    assert not series({1: []}).at(1).is_shown


def test_a_panel_is_filled_from_the_trials_of_its_settings() -> None:
    setup = SETUPS["aol"]
    settings = tuple((e, setup.setting(epsilon=e, head_list_size=10)) for e in (1.0, 2.0))

    def outcomes(setting: Setting) -> list[dict[str, Any]]:
        """At ε = 1 two of three trials list too few queries, and one has no value."""
        if setting.parameters.epsilon == 1:
            return [{"queries": n, "ndcg": 0.5 + n / 100} for n in (8, 9, 10)]
        return [{"queries": 10, "ndcg": value} for value in (0.7, 0.9, None)]

    line = Line(label="ten", measure="ndcg", role="size", settings=settings)
    axis = Axis(label="ε", place="ε = {:g}")
    panel = measured(Panel(title="", x=axis, y=Axis(label="NDCG"), lines=(line,)), outcomes)
    found = panel["ten"]
    assert [point.reached for point in found.points] == [1, 2]
    assert [point.is_shown for point in found.points] == [False, True]
    assert found.at(1.0).median.value == 0.6
    assert found.at(2.0).median.value == pytest.approx(0.8)
    assert found.where(2.0) == "ε = 2"
