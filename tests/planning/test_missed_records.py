"""Missed records: listed and missed ones together are expected to give the list that was found."""

import numpy as np
import pytest
from core.curator.test_listing_rule import COUNTS, WEIGHTS

from blender_dp.core.curator.listing_rule import ListingRule
from blender_dp.core.estimation.release import ReleasedDiscovery
from blender_dp.planning.missed_records import QueryRecords, whole_numbers, with_missed


def found_on(rule: ListingRule, urls: int, queries: int, seed: int) -> QueryRecords:
    """List queries with equally popular URLs; return what is listed.

    Popularities go from far below the threshold to far above it.
    """
    rng = np.random.default_rng(seed)
    half = rule.reached(0.5)
    p = np.repeat(half * np.geomspace(4, 0.5, queries), urls)
    query = np.repeat(np.arange(queries), urls)
    listed = rng.random(len(p)) < rule.listed(p)
    kept = np.unique(query[listed])
    number = np.searchsorted(kept, query[listed])
    of_query = np.array(np.bincount(query, weights=p)[kept], dtype=np.float64)
    rest = of_query - np.array(np.bincount(number, weights=p[listed]), dtype=np.float64)
    return QueryRecords(query=number, probability=p[listed], rest=rest)


@pytest.mark.parametrize("discovery", [COUNTS, WEIGHTS])
@pytest.mark.parametrize("urls", [1, 3, 40])
def test_a_list_is_expected_to_be_as_long_as_it_was(
    discovery: ReleasedDiscovery, urls: int
) -> None:
    rule = ListingRule.of(discovery)
    found = found_on(rule, urls, 200, seed=5)
    every = with_missed(found, rule)
    there = every.listed(rule)
    expected = float((every.summed(rule.listed(every.probability)) / there).sum())
    assert expected == pytest.approx(len(found.probability), rel=0.05)


@pytest.mark.parametrize("urls", [3, 40])
def test_the_number_of_urls_is_found_back(urls: int) -> None:
    """Of queries that are surely listed: within a tenth, 400 queries."""
    rule = ListingRule.of(COUNTS)
    found = found_on(rule, urls, 400, seed=6)
    every = with_missed(found, rule)
    sure = np.flatnonzero(every.listed(rule) > 0.99)
    number = np.bincount(every.query, minlength=len(every.rest))[sure]
    assert number.mean() == pytest.approx(urls, rel=0.1)


def test_a_query_with_nothing_besides_gets_no_further_record() -> None:
    found = QueryRecords(
        query=np.array([0, 1]), probability=np.array([1e-3, 2e-4]), rest=np.zeros(2)
    )
    assert len(with_missed(found, ListingRule.of(COUNTS)).probability) == 2


def test_no_probability_is_added_to_a_query() -> None:
    rule = ListingRule.of(COUNTS)
    found = found_on(rule, 40, 100, seed=7)
    assert with_missed(found, rule).totals == pytest.approx(found.totals)


def test_whole_numbers_keep_every_sum() -> None:
    expected = np.random.default_rng(1).exponential(0.4, 500)
    assert np.abs(np.cumsum(whole_numbers(expected)) - np.cumsum(expected)).max() <= 0.5
