"""Relay clients: what they report with, and that the certificate catches a report too precise."""

from dataclasses import replace
from fractions import Fraction
from math import nan

import numpy as np
import pytest
from core.small_result import small_result

from blender_dp.core.blender import finish, with_relay
from blender_dp.core.certificate.certificate import require_kept
from blender_dp.core.certificate.certify import certify
from blender_dp.core.channels.local_alg import WORD
from blender_dp.core.channels.relayed import RelayMechanism, RelayRules
from blender_dp.core.channels.subset_selection import SubsetChannel, SubsetSelectionMechanism
from blender_dp.core.errors import BrokenInvariantError, BrokenPromiseError, ParameterError
from blender_dp.core.head_list.cells import Cells
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.parameters import Parameters, exact
from blender_dp.core.population import ReportCounts, ReportingClients

PARAMETERS = Parameters(epsilon=1.0, delta=1e-5)
CELLS = Cells.of([1] * 24)
LIST = HeadList.of(
    [Record(f"q{i:02}", "u") for i in range(24)],
    mechanism=SubsetSelectionMechanism(epsilon=1.0, query_share=0.0),
    private=True,
)


def chosen(clients: int = 25_000, **rules: float) -> RelayMechanism:
    return RelayMechanism.of(CELLS, PARAMETERS, clients=clients, rules=RelayRules(**rules))


class Overstated(RelayMechanism):
    """A twin whose reports are uniform 2 % less often than stated."""

    def channel(self, cells: Cells) -> SubsetChannel:
        stated = RelayMechanism.channel(self, cells)
        return replace(stated, threshold=WORD - (WORD - stated.threshold) * 98 // 100)


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        ({"share": -0.1}, "relay"),
        ({"share": 1.1}, "relay"),
        ({"share": nan}, "relay"),
        ({"epsilon_cap": 0.0}, "relay_cap"),
        ({"epsilon_cap": nan}, "relay_cap"),
        ({"dishonest": 1.0}, "relay_dishonest"),
        ({"dishonest": nan}, "relay_dishonest"),
    ],
)
def test_rules_out_of_range_are_refused(rules: dict[str, float], name: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        RelayRules(**rules)
    assert refusal.value.name == name


def test_a_batch_counts_its_honest_reports_only() -> None:
    assert chosen(25_001, dishonest=0.2).honest == 20_000
    assert chosen(25_000, dishonest=0.5).report_epsilon < chosen(25_000).report_epsilon
    with pytest.raises(ParameterError, match="at least one honest client"):
        chosen(1)


def test_the_report_is_as_precise_as_the_promise_and_the_cap_allow() -> None:
    free, capped = chosen(epsilon_cap=20.0), chosen(epsilon_cap=2.5)
    assert capped.report_epsilon == 2.5
    assert 6.3 < free.report_epsilon < 6.6
    for mechanism in (free, capped):
        require_kept(certify(replace(LIST, relay=mechanism)))
    wider = replace(free, report_epsilon=free.report_epsilon + 0.001)
    with pytest.raises(BrokenPromiseError, match="unless relay and collector collude is broken"):
        require_kept(certify(replace(LIST, relay=wider)))


@pytest.mark.parametrize("cap", [2.5, 20.0])
def test_a_twin_with_two_per_cent_less_uniform_reports_is_refused(cap: float) -> None:
    stated = chosen(epsilon_cap=cap)
    fields = ("epsilon", "delta", "report_epsilon", "least_batch", "dishonest")
    twin = Overstated(**{name: getattr(stated, name) for name in fields})
    with pytest.raises(BrokenPromiseError):
        require_kept(certify(replace(LIST, relay=twin)))


def test_both_promises_to_relay_clients_are_certified() -> None:
    relay = chosen(epsilon_cap=4.0)
    certificate = certify(replace(LIST, relay=relay), PARAMETERS)
    *_, unless, then = certificate.accounts
    assert unless.to == "relay clients, unless relay and collector collude"
    assert (unless.promised_epsilon, unless.promised_delta) == (Fraction(1), Fraction(1, 100_000))
    assert then.to == "relay clients, if relay and collector collude"
    assert (then.promised_epsilon, then.promised_delta) == (Fraction(4), Fraction(0))
    assert then.tight_epsilon is not None
    assert 0 < 4 - then.tight_epsilon < Fraction(1, 10**12)


@pytest.mark.parametrize("larger", [(3.0, 1e-5), (1.0, 1e-3)])
def test_a_larger_promise_than_that_of_the_list_is_not_what_clients_are_held_to(
    larger: tuple[float, float],
) -> None:
    relay, parameters = chosen(epsilon_cap=4.0), Parameters(epsilon=larger[0], delta=larger[1])
    certificate = certify(replace(LIST, relay=relay), parameters)
    *_, clients, unless, _ = certificate.accounts
    assert (clients.promised_epsilon, clients.promised_delta) == (Fraction(1), Fraction(0))
    assert (unless.promised_epsilon, unless.promised_delta) == (Fraction(1), Fraction(1, 100_000))
    assert certificate.is_kept
    wider = replace(relay, report_epsilon=chosen(epsilon_cap=20.0).report_epsilon + 0.1)
    assert not certify(replace(LIST, relay=wider), parameters).is_kept


def test_a_larger_promise_of_the_list_than_was_made_is_broken() -> None:
    listed = replace(LIST, relay=replace(chosen(epsilon_cap=4.0), epsilon=2.0, delta=1e-3))
    *_, clients, unless, _ = certify(listed, replace(PARAMETERS, epsilon=0.5)).accounts
    assert (unless.promised_epsilon, unless.promised_delta) == (Fraction(1, 2), exact(1e-5))
    assert not clients.is_kept


def test_a_batch_below_the_least_is_refused() -> None:
    listed = replace(LIST, relay=chosen(25_000))
    assert listed.for_batch(25_000).mechanism is listed.relay
    with pytest.raises(BrokenPromiseError, match=r"had 24,999 reports, .* at least 25,000"):
        listed.for_batch(24_999)


def test_no_result_is_made_of_a_batch_below_the_least() -> None:
    curated = small_result().curated
    curated = replace(curated, head_list=replace(curated.head_list, relay=chosen(25_000)))
    cells = curated.head_list.cells
    reports = np.full(cells.cell_count, 10)
    clients = ReportingClients(
        counts=ReportCounts.one_cell_each(reports, cells), records_per_client=1
    )
    with pytest.raises(BrokenPromiseError, match="a batch had 60 reports"):
        finish(curated, clients, relayed=clients)


def test_a_list_as_relay_clients_see_it_has_their_mechanism() -> None:
    relay = chosen()
    seen = replace(LIST, relay=relay).for_relay()
    assert seen.mechanism is relay
    assert seen.relay is None
    assert seen.queries == LIST.queries
    with pytest.raises(BrokenInvariantError, match="has no relay"):
        LIST.for_relay()


def test_only_sharp_takes_relay_clients() -> None:
    with pytest.raises(ParameterError, match="relay must be left out with the preset paper"):
        with_relay(small_result().curated, clients=1000, rules=RelayRules())


@pytest.mark.parametrize(("cells", "weight"), [(150, 1.050), (430, 1.144)])
def test_a_fake_report_counts_for_little_more_than_an_honest_one(cells: int, weight: float) -> None:
    """One more report that names a cell adds (1 - pout)/(pin - pout) clients to its estimate."""
    channel = SubsetChannel.naming_one(cells, Fraction(8))
    counts, reports = np.full(cells, 10), 10 * cells
    before = channel.estimate(counts, reports)[0] * reports
    counts[0] += 1
    after = channel.estimate(counts, reports + 1)[0] * (reports + 1)
    assert after - before == pytest.approx(weight, abs=0.001)
    assert after - before == pytest.approx(1 / (channel.pin - channel.pout), rel=0.001)


def test_a_device_keeps_what_the_certificate_keeps() -> None:
    largest = chosen()
    for step, is_kept in ((0.0, True), (0.001, False)):
        mechanism = replace(largest, report_epsilon=largest.report_epsilon + step)
        promise = exact(mechanism.epsilon), exact(mechanism.delta)
        assert mechanism.keeps(CELLS, *promise) is is_kept
        assert mechanism.certify(CELLS, *promise).is_kept is is_kept
