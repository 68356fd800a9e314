"""A campaign moves one way, by the steps that are drawn and no others."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.errors import ParameterError
from blender_dp.service.campaign import (
    MADE_BY_JOBS,
    Campaign,
    JobKind,
    Move,
    MoveNotAllowedError,
    Rules,
    State,
    job_after,
)
from campaign_stores import LATER, NOW, a_campaign

ORDER = list(State)
DRAWN: dict[tuple[State, Move], State] = {
    (State.DRAFT, Move.OPEN_OPT_IN): State.OPT_IN_OPEN,
    (State.OPT_IN_OPEN, Move.SEAL_OPT_IN): State.OPT_IN_SEALED,
    (State.OPT_IN_SEALED, Move.PUBLISH_LIST): State.LIST_PUBLISHED,
    (State.LIST_PUBLISHED, Move.OPEN_CLIENTS): State.CLIENTS_OPEN,
    (State.CLIENTS_OPEN, Move.SEAL_CLIENTS): State.CLIENTS_SEALED,
    (State.CLIENTS_SEALED, Move.RELEASE): State.RELEASED,
    **{(state, Move.PURGE): State.PURGED for state in ORDER if state is not State.PURGED},
}


def in_state(state: State, rules: Rules | None = None) -> Campaign:
    return replace(a_campaign(rules=rules or Rules()), state=state)


@pytest.mark.parametrize(("state", "move"), list(product(State, Move)))
def test_a_move_is_made_if_it_is_drawn_and_refused_if_not(state: State, move: Move) -> None:
    campaign = in_state(state)
    if (state, move) in DRAWN:
        assert campaign.moved(move, LATER) == replace(
            campaign, state=DRAWN[state, move], moved_at=LATER
        )
    else:
        with pytest.raises(MoveNotAllowedError, match=f"{move} must come from .*; .* is {state}"):
            campaign.moved(move, LATER)


@given(moves=st.lists(st.sampled_from(Move), max_size=30))
def test_there_is_no_way_back(moves: list[Move]) -> None:
    campaign = in_state(State.DRAFT)
    frozen = replace(campaign, state=State.PURGED, moved_at=NOW)
    for move in moves:
        before = campaign.state
        try:
            campaign = campaign.moved(move, LATER)
        except MoveNotAllowedError:
            assert campaign.state is before
            continue
        assert ORDER.index(campaign.state) > ORDER.index(before)
        assert replace(campaign, state=State.PURGED, moved_at=NOW) == frozen


def test_results_are_stored_by_jobs_and_every_seal_starts_one() -> None:
    assert {Move.PUBLISH_LIST, Move.RELEASE} == MADE_BY_JOBS
    assert {move: job_after(move) for move in Move} == {
        Move.OPEN_OPT_IN: None,
        Move.SEAL_OPT_IN: JobKind.HEAD_LIST,
        Move.PUBLISH_LIST: JobKind.ERASE,
        Move.OPEN_CLIENTS: None,
        Move.SEAL_CLIENTS: JobKind.RELEASE,
        Move.RELEASE: JobKind.ERASE,
        Move.PURGE: JobKind.ERASE,
    }


@pytest.mark.parametrize(
    ("rules", "state", "move"),
    [
        (Rules(opt_in_until=NOW), State.OPT_IN_OPEN, Move.SEAL_OPT_IN),
        (Rules(opt_in_enough=5, open_hours=0), State.OPT_IN_OPEN, Move.SEAL_OPT_IN),
        (Rules(clients_from=NOW), State.LIST_PUBLISHED, Move.OPEN_CLIENTS),
        (Rules(clients_until=NOW), State.CLIENTS_OPEN, Move.SEAL_CLIENTS),
        (Rules(clients_enough=7, open_hours=None), State.CLIENTS_OPEN, Move.SEAL_CLIENTS),
    ],
)
def test_a_rule_is_due_from_its_time_or_number_on(rules: Rules, state: State, move: Move) -> None:
    campaign = in_state(state, rules)
    early = NOW - timedelta(microseconds=1)
    assert campaign.due(contributions=5, reports=7, now=NOW) is move
    assert campaign.due(contributions=4, reports=6, now=early) is None
    for other in State:
        if other is not state:
            waiting = replace(campaign, state=other)
            assert waiting.due(contributions=5, reports=7, now=NOW) is None


@given(
    state=st.sampled_from(State),
    contributions=st.integers(0, 10),
    reports=st.integers(0, 10),
    now=st.datetimes(timezones=st.just(UTC)),
)
def test_what_is_due_is_always_allowed(
    state: State, contributions: int, reports: int, now: datetime
) -> None:
    rules = Rules(opt_in_until=NOW, opt_in_enough=5, clients_from=NOW, clients_enough=5)
    campaign = in_state(state, rules)
    due = campaign.due(contributions=contributions, reports=reports, now=now)
    if due is not None:
        campaign.moved(due, now)
        assert due not in MADE_BY_JOBS


def test_without_rules_nothing_happens_by_itself() -> None:
    for state in State:
        assert in_state(state).due(contributions=10**9, reports=10**9, now=LATER) is None


@pytest.mark.parametrize(
    ("state", "is_open_to_all", "waits"),
    [
        (State.CLIENTS_OPEN, False, True),
        (State.OPT_IN_OPEN, True, True),
        (State.OPT_IN_OPEN, False, False),
    ],
    ids=["reports", "contributions of anybody", "contributions by token"],
)
def test_a_number_that_anybody_can_reach_seals_only_after_some_hours(
    state: State, is_open_to_all: bool, waits: bool
) -> None:
    rules = Rules(opt_in_enough=5, clients_enough=5, open_hours=3)
    campaign = replace(in_state(state, rules), open_enrolment=is_open_to_all, moved_at=NOW)
    for hours, is_due in ((0, not waits), (2.99, not waits), (3, True)):
        now = NOW + timedelta(hours=hours)
        due = campaign.due(contributions=10**6, reports=10**6, now=now)
        assert (due is not None) == is_due
        assert campaign.due(contributions=4, reports=4, now=now) is None


def test_a_deadline_does_not_wait_for_the_hours() -> None:
    rules = Rules(opt_in_until=NOW, clients_until=NOW, open_hours=1000)
    for state in (State.OPT_IN_OPEN, State.CLIENTS_OPEN):
        assert in_state(state, rules).due(contributions=0, reports=0, now=NOW) is not None


BEFORE, AFTER = NOW - timedelta(hours=1), NOW + timedelta(hours=1)


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        (Rules(opt_in_until=NOW), "opt_in_until must be later than now"),
        (Rules(opt_in_until=BEFORE), "opt_in_until must be later than now"),
        (Rules(clients_until=BEFORE), "clients_until must be later than now"),
        (
            Rules(opt_in_until=AFTER, clients_until=AFTER),
            "clients_until must be later than opt_in_until",
        ),
        (
            Rules(clients_from=AFTER, clients_until=AFTER),
            "clients_until must be later than clients_from",
        ),
    ],
)
def test_a_side_that_would_be_over_before_it_began_is_refused(rules: Rules, sentence: str) -> None:
    campaign = in_state(State.DRAFT, rules)
    with pytest.raises(ParameterError, match=sentence):
        campaign.require_possible_rules(NOW)


def test_rules_in_their_order_are_possible() -> None:
    times = [NOW + timedelta(hours=hours) for hours in (1, 2, 3)]
    rules = Rules(opt_in_until=times[0], clients_from=times[1], clients_until=times[2])
    in_state(State.DRAFT, rules).require_possible_rules(NOW)
    early = Rules(opt_in_until=times[1], clients_from=times[0])  # opens when the list is there
    in_state(State.DRAFT, early).require_possible_rules(NOW)


def test_enough_is_at_least_one() -> None:
    with pytest.raises(ParameterError, match="opt_in_enough must be 1 or more; got 0"):
        Rules(opt_in_enough=0)
    with pytest.raises(ParameterError, match="clients_enough must be 1 or more; got 0"):
        Rules(clients_enough=0)
    with pytest.raises(ParameterError, match="open_hours must be 0 or more; got -1"):
        Rules(open_hours=-1)


def test_fewer_than_no_clients_are_refused() -> None:
    with pytest.raises(ParameterError, match="expected_clients must be 0 or more; got -1"):
        replace(a_campaign(), expected_clients=-1)
