"""What may be shown: only what the clients alone confirm, and the groups do not dispute."""

from dataclasses import replace
from typing import Any

import pytest

from blender_dp.core.errors import ParameterError
from blender_dp.local_search.search import LocalSearch
from blender_dp.local_search.serving import ServingRule, served
from releases import query_row, record_row, release_of, without_interval

RULE = ServingRule(fewest_users=0)


def is_served(rule: ServingRule = RULE, **changed: Any) -> bool:
    """Tell whether a record with these numbers is served."""
    row = record_row("a", "a.example", 0.01, **changed)
    release = release_of([query_row("a", 0.02)], [row])
    return bool(served(release, rule).records["a"])


@pytest.mark.parametrize(("z", "expected"), [(3.01, True), (2.99, False), (-5.0, False)])
def test_the_clients_alone_must_be_sure(z: float, expected: bool) -> None:
    """However sure the opt-in users are, and so the blend."""
    opt_in: dict[str, Any] = {
        "opt_in_probability": z * 0.001,
        "opt_in_std_error": 1e-6,
        "error": 1e-6,
    }
    found = is_served(client_probability=z * 0.001, client_std_error=0.001, **opt_in)
    assert found is expected


def test_the_significance_can_be_chosen() -> None:
    numbers = {"client_probability": 0.004, "client_std_error": 0.001, "opt_in_probability": 0.004}
    assert is_served(replace(RULE, significance=3.9), **numbers)
    assert not is_served(replace(RULE, significance=4.1), **numbers)


def test_enough_clients_must_have_it() -> None:
    """0.003 of 493,403 clients are 1,480; a thousand more than 480 are 3 errors of 0.0007."""
    numbers = {"client_probability": 0.003, "client_std_error": 0.0007, "opt_in_probability": 0.003}
    assert is_served(replace(RULE, fewest_users=400), **numbers)
    assert not is_served(replace(RULE, fewest_users=500), **numbers)


@pytest.mark.parametrize("client_std_error", [None, 0.0])
def test_what_has_no_error_is_not_served(client_std_error: float | None) -> None:
    assert not is_served(client_std_error=client_std_error)


def test_what_no_client_was_asked_is_not_served() -> None:
    assert not is_served(client_probability=None, client_std_error=None)


@pytest.mark.parametrize(("opt_in", "expected"), [(0.01, True), (0.03, False), (0.0, True)])
def test_groups_that_contradict_each_other_are_not_believed(opt_in: float, expected: bool) -> None:
    """With 1,298 users the opt-in error at 0.01 is 0.0028, however small it says it is."""
    assert is_served(opt_in_probability=opt_in, opt_in_std_error=0.0005) is expected


def test_an_opt_in_group_that_says_nothing_contradicts_nobody() -> None:
    assert is_served(opt_in_probability=None, opt_in_std_error=None)


def test_opt_in_users_may_see_less_of_a_query_than_clients_do_but_not_more() -> None:
    """They count listed URLs only (flaw F3)."""
    rows = [
        query_row("less", 0.05, opt_in_probability=0.001),
        query_row("more", 0.04, opt_in_probability=0.09, opt_in_std_error=0.008),
    ]
    assert [row.query for row in served(release_of(rows), RULE).queries] == ["less"]


def test_a_spoilt_blend_gives_way_to_the_clients() -> None:
    spoilt = without_interval(0.9, client_probability=0.01, opt_in_probability=0.01)
    rows = [query_row("sound", 0.02), query_row("spoilt", **spoilt)]
    found = LocalSearch(release_of(rows)).suggest("")
    assert [(row.query, row.probability) for row in found] == [("sound", 0.02), ("spoilt", 0.01)]


def test_a_query_may_be_served_without_its_records_but_no_record_without_its_query() -> None:
    unsure = {"client_probability": 0.001, "opt_in_probability": 0.001}
    rows = [query_row("a", 0.02), query_row("b", 0.02, **unsure)]
    records = [record_row("a", "a.example", 0.01, **unsure), record_row("b", "b.example", 0.01)]
    found = served(release_of(rows, records), RULE)
    assert [row.query for row in found.queries] == ["a"]
    assert found.records == {"a": []}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("significance", -1.0),
        ("significance", float("nan")),
        ("widest_difference", float("inf")),
        ("fewest_users", -1),
    ],
)
def test_a_rule_that_is_none_is_refused(name: str, value: float) -> None:
    with pytest.raises(ParameterError, match=name):
        ServingRule(**{name: value})  # type: ignore[arg-type]


PUSHED = {"client_probability": 0.004, "client_std_error": 0.001, "opt_in_std_error": 0.001}


@pytest.mark.parametrize(("push", "expected"), [(0.0, True), (0.0004, True), (0.0006, False)])
def test_what_a_push_could_have_made_does_not_count(push: float, expected: bool) -> None:
    """Four standard errors; 0.0006 of the clients, each counting for two, take off 1.2."""
    row = record_row("a", "a.example", 0.01, opt_in_probability=0.002, **PUSHED)
    release = replace(release_of([query_row("a", 0.02)], [row]), fake_weight=2.0)
    rule = ServingRule(fewest_users=0, push=push)
    assert bool(served(release, rule).records["a"]) is expected


def test_opt_in_users_who_rule_a_push_out_are_believed() -> None:
    """They say as much as the clients, and precisely: there is no room for a push."""
    row = record_row(
        *("a", "a.example", 0.01),
        client_probability=0.004,
        client_std_error=0.0001,
        opt_in_probability=0.0041,
        opt_in_std_error=0.0001,
    )
    query = query_row("a", 0.02, error=1e-6)
    release = replace(release_of([query], [row]), opt_in_users=10**9, fake_weight=2.0)
    rule = ServingRule(fewest_users=0, push=0.001)
    assert served(release, replace(rule, push=0.5)).records["a"]
    few = replace(release, opt_in_users=100)
    assert served(few, rule).records["a"]
    assert not served(few, replace(rule, push=0.0019)).records["a"]


def test_an_older_release_takes_nothing_off() -> None:
    assert is_served(ServingRule(fewest_users=0, push=1.0), opt_in_probability=0.01)
