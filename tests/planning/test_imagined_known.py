"""A plan with a known list: what an earlier imagined collection found needs no threshold."""

from dataclasses import replace

import pytest

from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.head_list import NO_URL
from blender_dp.core.parameters import Parameters
from blender_dp.planning.imagined_known import known_from_earlier
from blender_dp.planning.prediction import Setting, predict
from blender_dp.planning.prior import prior_like

PARAMETERS = Parameters(epsilon=2.0, delta=1e-5)
SETTING = Setting(users=20_000, opt_in=0.2, parameters=PARAMETERS)
PRIOR = prior_like("zipf:0.9", records_per_user=2)


def test_a_known_list_lets_more_records_be_listed() -> None:
    """Ten to thirty per cent more are measured; the same users are imagined."""
    alone, informed = (
        predict(PRIOR, replace(SETTING, known=known), draws=3) for known in (False, True)
    )
    assert informed.measures["records"].mean > 1.05 * alone.measures["records"].mean


def test_the_known_records_are_those_of_the_same_names_in_the_prior() -> None:
    """Popular queries of one imagined log are the popular ones of another, whatever their codes."""
    earlier, population = (SETTING.population(PRIOR, seed) for seed in (1, 2))
    known = known_from_earlier(earlier, population, PARAMETERS)
    numbers = population.imagined.query_number[[int(record.query) for record in known.records]]
    assert len(known) > 10
    assert set(numbers[numbers < 5].tolist()) == set(range(5))


def test_a_list_of_queries_knows_queries() -> None:
    earlier, population = (SETTING.population(PRIOR, seed) for seed in (1, 2))
    parameters = replace(PARAMETERS, list_of="queries")
    known = known_from_earlier(earlier, population, parameters)
    assert len(known) > 10
    assert known.of_queries
    assert {record.url for record in known.records} == {NO_URL}
    setting = replace(SETTING, parameters=parameters)
    alone, informed = (predict(PRIOR, replace(setting, known=k), draws=3) for k in (False, True))
    assert informed.measures["queries"].mean > 1.05 * alone.measures["queries"].mean


def test_the_paper_has_no_known_list() -> None:
    with pytest.raises(ParameterError, match="known must be left out with the preset paper"):
        replace(SETTING, parameters=replace(PARAMETERS, preset="paper"), known=True)
