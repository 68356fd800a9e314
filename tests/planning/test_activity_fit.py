"""How many records users have, from two noisy scalars."""

from dataclasses import replace

import numpy as np
import pytest
from core.curator.test_listing_rule import COUNTS

from blender_dp.core.estimation.release import ReleasedDiscovery
from blender_dp.engine.synthetic.laws import ONE_RECORD
from blender_dp.planning.activity_fit import activity_of

LISTED = np.array([0.02, 0.01, 0.005])


def scalars(rows: np.ndarray, error: float) -> ReleasedDiscovery:
    """Return what a release would say of users with these numbers of distinct records."""
    popular = float((LISTED**2).sum() / LISTED.sum())
    alone = float((1 / rows).mean())
    return replace(
        COUNTS,
        average_weight=max(float(np.sqrt(np.minimum(rows, 32)).mean()), 1.0),
        average_weight_error=error,
        record_concentration=min(alone + (1 - alone) * popular + error, 1.0),
        concentration_error=error,
    )


@pytest.mark.parametrize("records", [2, 10, 25])
def test_equal_users_are_recognised(records: int) -> None:
    activity = activity_of(scalars(np.full(1, records), 0.05), LISTED)
    drawn = activity.counts(2_000, np.random.default_rng(0))
    assert drawn.mean() == pytest.approx(records, rel=0.1)
    assert drawn.std() < 0.35 * records


def test_unequal_users_are_recognised() -> None:
    rows = np.ceil(np.random.default_rng(1).lognormal(1.5, 1.2, 5_000))
    activity = activity_of(scalars(rows, 0.01), LISTED)
    drawn = activity.counts(5_000, np.random.default_rng(2))
    assert np.sqrt(drawn).mean() == pytest.approx(np.sqrt(rows).mean(), rel=0.05)
    assert (1 / drawn).mean() == pytest.approx((1 / rows).mean(), rel=0.1)


def test_noise_alone_does_not_make_several_records() -> None:
    noisy = replace(scalars(np.ones(1), 0.15), average_weight=1.2)
    assert activity_of(noisy, LISTED) == ONE_RECORD


def test_without_scalars_there_is_one_record() -> None:
    silent = replace(COUNTS, average_weight=None, record_concentration=None)
    assert activity_of(silent, LISTED) == ONE_RECORD
