"""Relay clients in the blend: weights, variances of a finite population, and drift."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from core.sharp_cases import Groups, draw_groups
from scipy.stats import chi2

from blender_dp.core.blend_probabilities.sharp import combine
from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.estimation.client_views import ClientView, ClientViews
from blender_dp.core.estimation.estimates import BlendedEstimates
from blender_dp.core.estimation.target import around_target, target_variance
from blender_dp.core.head_list.cells import FloatArray

RELAYED = 300_000
URLS = [3, 1, 2, 1, 4, 1, 1]


def relay_view(groups: Groups, truth: FloatArray, seed: int, epsilon: int = 8) -> ClientView:
    channel = SubsetChannel.naming_one(groups.cells.cell_count, Fraction(epsilon))
    rng = np.random.default_rng(seed)
    held = rng.multinomial(RELAYED, truth)
    named = rng.multinomial(RELAYED, held / RELAYED * channel.gain + channel.pout)
    return ClientView(estimate=channel.estimate(named, RELAYED), channel=channel, reports=RELAYED)


def blended(groups: Groups, clients: ClientViews) -> BlendedEstimates:
    return combine(groups.release.among(groups.users + RELAYED), clients)


def test_the_weights_of_all_groups_add_up(seed: int) -> None:
    groups = draw_groups(URLS, seed)
    views = replace(groups.clients, relayed=relay_view(groups, groups.truth, seed))
    cells = blended(groups, views).cells
    assert cells.relay_weight is not None
    assert cells.relayed is not None
    local = 1 - cells.opt_in_weight - cells.relay_weight
    for weight in (cells.opt_in_weight, cells.relay_weight, local):
        assert ((weight > 0) & (weight < 1)).all()
    assert np.median(cells.relay_weight) > 0.9
    assert np.abs(cells.projected - cells.relayed.probability).max() < 0.001


def test_without_local_clients_the_relay_clients_speak_alone(seed: int) -> None:
    groups = draw_groups(URLS, seed)
    relayed = relay_view(groups, groups.truth, seed)
    views = groups.release.among(groups.release.users + RELAYED)
    result = combine(views, ClientViews(relayed=relayed))
    assert result.cells.groups is not None
    assert np.isnan(result.cells.groups[1].probability).all()
    assert result.relay_drift is None
    assert result.drift is not None
    assert np.abs(result.cells.projected - groups.truth).max() < 0.003


def test_a_difference_between_relay_and_local_clients_is_found(seed: int) -> None:
    groups = draw_groups(URLS, seed)
    other = groups.truth.copy()
    other[0], other[-1] = other[0] * 0.8, other[-1] + other[0] * 0.2
    found = {}
    for name, truth in (("same", groups.truth), ("other", other)):
        views = replace(groups.clients, relayed=relay_view(groups, truth, seed))
        drift = blended(groups, views).relay_drift
        assert drift is not None
        found[name] = drift
    assert found["other"].p_value < 1e-9 < found["same"].p_value
    assert found["other"].sentence.startswith("Relay clients and local clients differ")
    assert "between relay clients and local clients was found" in found["same"].sentence


@pytest.mark.parametrize("is_right", [True, False], ids=["right", "twin"])
def test_the_variance_is_that_of_a_finite_population(seed: int, *, is_right: bool) -> None:
    """Users hold two records each. The twin takes them to hold one, and must be caught.

    The statistic is a sum of squared errors that are normal to within the central limit; a right
    variance is refused with a probability of 1e-6.
    """
    users, reports, trials = 2_000, 1_800, 2_000
    rng = np.random.default_rng(seed)
    channel = SubsetChannel.naming_one(5, Fraction(4))
    shares = rng.binomial(2, 0.3, size=users) / 2  # of one cell
    truth, c = shares.mean(), (shares**2).sum() / shares.sum()
    errors = np.empty(trials)
    for trial in range(trials):
        drawn = rng.random(reports) < rng.permutation(shares)[:reports]
        named = rng.random(reports) < np.where(drawn, channel.pin, channel.pout)
        errors[trial] = channel.estimate(np.array([named.sum()]), reports)[0] - truth
    view = ClientView(estimate=np.array([truth]), channel=channel, reports=reports)
    p = np.array([truth])
    wider = view.variance(p) - p**2 / reports  # of one cell alone; Σp = 1 does this in the blend
    variance = around_target(wider, target_variance(p, c if is_right else 1.0, users))[0]
    statistic = (errors**2).sum() / variance
    tail = 2 * min(chi2.cdf(statistic, trials), chi2.sf(statistic, trials))
    assert (tail > 1e-6) == is_right
