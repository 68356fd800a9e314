"""The blend of the sharp preset: against plain least squares, edge cases, coverage."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from core.blend_probabilities.plain_blend import PlainBlend
from core.sharp_cases import Groups, InOrOut, draw_groups, falling, keep_queries
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp.core.blend_probabilities.popularity_prior import PopularityPrior
from blender_dp.core.blend_probabilities.rare_records import rare_records
from blender_dp.core.blend_probabilities.sharp import combine
from blender_dp.core.curator.budget import Branch
from blender_dp.core.estimation.client_views import ClientView, ClientViews
from blender_dp.core.estimation.estimates import Blend, BlendedEstimates, Estimate
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.head_list.cells import Cells, FloatArray

VECTORS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "sharp_vectors.json").read_text(encoding="utf-8")
)["cases"]
BRANCHES: list[tuple[Branch, bool]] = [("laplace", True), ("laplace", False), ("gauss", False)]


def opt_in_of(level: Blend) -> Estimate:
    assert level.groups is not None
    return level.groups[0]


def clients_of(level: Blend) -> Estimate:
    assert level.groups is not None
    return level.groups[1]


class Vector:
    """One case of the file, its list trimmed."""

    def __init__(self, name: str) -> None:
        case = VECTORS[name]
        fields = dict(case["release"])
        whole = Cells.of(case["listed_urls"])
        fields["values"] = np.array([np.nan if d is None else d for d in fields["values"]])
        fields["sums"] = np.array(fields["sums"])
        fields["sum_variance"] = np.full(whole.cell_count, fields["sum_variance"])
        views = OptInViews(cells=whole, **fields).among(case["users"])
        kept = views.largest_queries(case["most_queries"] or len(case["listed_urls"]))
        self.kept = kept.tolist()
        self.views = keep_queries(views, kept)
        self.cells = self.views.cells
        said = case["clients"]
        self.clients = ClientViews(
            records=ClientView(
                estimate=np.array(said["records"]),
                channel=InOrOut(*said["record_channel"]),
                reports=said["record_reports"],
            ),
            queries=ClientView(
                estimate=np.array(said["queries"]),
                channel=InOrOut(*said["query_channel"]),
                reports=said["query_reports"],
            ),
        )
        self.robust, self.expected = case["robust"], case["expected"]
        self.expected_kept = case["kept"]

    def combined(self) -> BlendedEstimates:
        return combine(self.views, self.clients, robust=self.robust)


@pytest.fixture(params=VECTORS, ids=lambda name: name)
def vector(request: pytest.FixtureRequest) -> Vector:
    return Vector(request.param)


def assert_close(found: FloatArray | float, expected: FloatArray | list[float] | float) -> None:
    assert np.asarray(found) == pytest.approx(np.asarray(expected), rel=1e-9, abs=1e-15)


def test_the_opt_in_views_are_those_of_the_simulation(vector: Vector) -> None:
    expected, constants = vector.expected, vector.views.whole_list
    assert vector.kept == vector.expected_kept
    assert_close(constants.record_concentration, expected["conc"])
    assert_close(constants.query_concentration, expected["concq"])
    assert_close(constants.value_ratio, expected["kap"])
    assert_close(constants.ratio_variance, expected["om2"])
    assert_close(vector.views.scaled_threshold, expected["threshold"])


def test_the_rare_records_are_those_of_the_simulation(vector: Vector) -> None:
    if vector.views.branch == "gauss":
        pytest.skip("the simulation took the weights of users for shares")
    rare = rare_records(vector.views, PopularityPrior.of(vector.views, 1.75))
    assert rare.cells.tolist() == vector.expected["rare_cells"]
    assert_close(rare.mean, vector.expected["rare_mean"])
    assert_close(rare.variance, vector.expected["rare_variance"])


def relay_view(vector: Vector, reports: int) -> ClientView:
    """Relay clients who agree with the local ones, in a fixed draw."""
    channel = InOrOut.of(vector.cells.cell_count, 8.0)
    p = vector.views.start()
    error = np.random.default_rng(5).normal(0, np.sqrt(p / reports))
    return ClientView(estimate=p + error - error.mean(), channel=channel, reports=reports)


@pytest.fixture(params=["records", "both", "relay", "all"])
def clients(request: pytest.FixtureRequest, vector: Vector) -> ClientViews:
    """Clients of some kinds; some of them always report the record."""
    said, kind = vector.clients, request.param
    return ClientViews(
        records=said.records if kind != "relay" else None,
        queries=said.queries if kind in ("both", "all") else None,
        relayed=relay_view(vector, said.reports // 2) if kind in ("relay", "all") else None,
    )


def test_the_blend_is_least_squares_over_all_measurements(
    vector: Vector, clients: ClientViews
) -> None:
    found = combine(vector.views, clients, robust=vector.robust)
    plain = PlainBlend(vector.views, clients, robust=vector.robust)
    assert_close(found.cells.raw.probability, plain.p)
    assert_close(found.cells.raw.variance, plain.cell_variance)
    assert_close(found.cells.interval()[0], plain.cell_interval()[0])
    assert_close(found.cells.interval()[1], plain.cell_interval()[1])
    assert_close(found.cells.opt_in_weight, plain.opt_in_weight)
    assert_close(opt_in_of(found.cells).probability, plain.opt_in)
    assert_close(found.queries.raw.variance, plain.query_variance)
    assert_close(found.queries.opt_in_weight, plain.query_weight)
    assert found.drift
    assert_close(found.drift.statistic, plain.drift_statistic)
    assert_close(found.drift.between_group_variance, plain.tau2)


def test_the_start_is_least_squares_over_the_opt_in_users(vector: Vector) -> None:
    assert_close(vector.views.start(), PlainBlend(vector.views, vector.clients).start())


def test_what_a_group_says_alone_varies_around_the_mean_of_all_users(vector: Vector) -> None:
    """Its variance in a wider population, minus what the mean of all users varies by there."""
    found = vector.combined()
    plain = PlainBlend(vector.views, vector.clients, robust=vector.robust)
    least = vector.views.least_concentrations
    target = plain.target(plain.p, least[0])
    assert_close(opt_in_of(found.cells).variance, plain.opt_in_variance - target)
    assert_close(clients_of(found.cells).variance, plain.said[0][1] - target)
    target = plain.target(plain.by_query @ plain.p, least[1])
    assert_close(clients_of(found.queries).variance, plain.client_totals(plain.said)[1] - target)


def blended(groups: Groups, *, robust: bool = True) -> BlendedEstimates:
    return combine(groups.release.among(groups.users), groups.clients, robust=robust)


def assert_sound(result: BlendedEstimates, cells: Cells) -> None:
    """A distribution, its query totals, and finite intervals around it."""
    p = result.cells.raw.probability
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert result.queries.raw.probability == pytest.approx(cells.by_query(p), abs=1e-15)
    for level in (result.cells, result.queries):
        assert (level.raw.variance >= 0).all()
        assert (level.interval()[0] >= 0).all()
        assert (level.interval()[1] <= 1).all()
        assert (level.interval()[0] <= level.raw.probability + 1e-15).all()
        assert (level.interval()[1] >= level.raw.probability - 1e-15).all()
        assert (level.opt_in_weight >= 0).all()
        assert (level.opt_in_weight <= 1 + 1e-12).all()


@settings(max_examples=50)
@given(
    urls=st.lists(st.integers(1, 5), min_size=1, max_size=10),
    seed=st.integers(0, 10**6),
    epsilon=st.floats(0.1, 10),
    opt_in=st.integers(1, 10**5),
    clients=st.integers(2, 10**6),
    kind=st.sampled_from(BRANCHES),
)
def test_any_two_groups_give_a_sound_answer(
    urls: list[int],
    seed: int,
    epsilon: float,
    opt_in: int,
    clients: int,
    kind: tuple[Branch, bool],
) -> None:
    groups = draw_groups(
        urls,
        seed,
        epsilon=epsilon,
        opt_in=opt_in,
        clients=clients,
        branch=kind[0],
        one_record_each=kind[1],
    )
    assert_sound(blended(groups), groups.cells)


@pytest.mark.parametrize(("branch", "one_record_each"), BRANCHES)
def test_opt_in_users_alone_are_enough(branch: Branch, one_record_each: bool) -> None:
    groups = draw_groups([2, 1, 3], 0, branch=branch, one_record_each=one_record_each)
    result = combine(groups.release.among(groups.release.users), None)
    assert_sound(result, groups.cells)
    assert result.drift is None
    assert result.cells.opt_in_weight == pytest.approx(1.0)
    assert np.isnan(clients_of(result.cells).probability).all()
    assert np.isnan(clients_of(result.queries).variance).all()
    frequent = groups.truth * groups.release.users > 500
    assert result.cells.raw.probability[frequent] == pytest.approx(groups.truth[frequent], rel=0.2)


@pytest.mark.parametrize("missing", ["records", "queries"])
def test_reports_of_one_kind_are_enough(missing: str) -> None:
    groups = draw_groups([2, 1, 3], 0)
    one_kind = (
        ClientViews(queries=groups.clients.queries)
        if missing == "records"
        else ClientViews(records=groups.clients.records)
    )
    result = combine(groups.release.among(groups.users), one_kind)
    assert_sound(result, groups.cells)
    assert result.drift
    assert result.drift.degrees > 0
    assert np.isnan(clients_of(result.cells).probability).all() == (missing == "records")
    assert np.isfinite(clients_of(result.queries).probability).all()


@pytest.mark.parametrize("with_clients", [False, True])
@pytest.mark.parametrize("branch", ["laplace", "gauss"])
def test_an_empty_list_is_certain(branch: Branch, with_clients: bool) -> None:
    groups = draw_groups([1], 0, branch=branch)
    release = replace(
        groups.release,
        cells=Cells.of([]),
        values=np.array([np.nan]),
        sums=np.array([19_990.0]),
        sum_variance=np.array([80.0]),
    )
    alone = ClientView(estimate=np.ones(1), channel=InOrOut(1.0, 0.0), reports=10)
    clients = ClientViews(records=alone) if with_clients else None
    result = combine(release.among(groups.users), clients)
    for level in (result.cells, result.queries):
        assert level.raw.probability.tolist() == [1.0]
        assert level.raw.variance.tolist() == [0.0]
        assert level.interval()[0].tolist() == level.interval()[1].tolist() == [1.0]


def test_more_reports_weigh_more() -> None:
    few, many = (
        blended(draw_groups([2, 1, 3], 0, clients=clients)) for clients in (2_000, 2_000_000)
    )
    for level in ("cells", "queries"):
        assert (getattr(few, level).opt_in_weight > getattr(many, level).opt_in_weight).all()


def test_groups_that_differ_are_noticed_and_the_opt_in_users_then_count_for_less() -> None:
    cells = Cells.of([1] * 12)
    p = falling(cells)
    other = p * np.where(cells.query_of_cell % 2, 1.5, 0.5)
    other[-1] += 1 - other.sum()
    groups = draw_groups([1] * 12, 0, epsilon=4.0, opt_in=50_000, opt_in_truth=other)
    trusting, robust = blended(groups, robust=False), blended(groups)
    assert trusting.drift
    assert robust.drift
    assert robust.drift.p_value < 1e-6
    assert trusting.drift.between_group_variance == 0
    assert robust.drift.between_group_variance == pytest.approx(0.25, rel=0.7)
    assert (robust.queries.opt_in_weight < trusting.queries.opt_in_weight)[:6].all()
    error, trusting_error = (
        np.abs(result.queries.raw.probability - cells.by_query(p)).sum()
        for result in (robust, trusting)
    )
    assert error < 0.7 * trusting_error


def covered(kind: tuple[Branch, bool], runs: int = 60) -> tuple[float, float]:
    """Return how many listed records and queries have the truth in their interval, fixed draws.

    The truth is the distribution both groups are drawn from, so n is taken to be large.
    """
    cells_hit, queries_hit = [], []
    for seed in range(runs):
        groups = draw_groups(
            [2, 1, 3, 1, 1, 2], seed, epsilon=2.0, branch=kind[0], one_record_each=kind[1]
        )
        result = combine(groups.release.among(10**9), groups.clients)
        truth = groups.cells.by_query(groups.truth)
        hit = (result.cells.interval()[0] <= groups.truth) & (
            groups.truth <= result.cells.interval()[1]
        )
        cells_hit.append(hit[groups.cells.listed].mean())
        queries_hit.append(
            ((result.queries.interval()[0] <= truth) & (truth <= result.queries.interval()[1]))[
                :-1
            ].mean()
        )
    return float(np.mean(cells_hit)), float(np.mean(queries_hit))


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    records, queries = covered(("laplace", True))
    assert 0.92 < records < 0.99
    assert 0.91 < queries < 0.99


def test_the_answer_does_not_depend_on_the_callers_arrays_afterwards() -> None:
    """Nothing that came in is changed."""
    groups = draw_groups([2, 1, 3], 0)
    before = [groups.release.values.copy(), groups.release.sums.copy()]
    blended(groups)
    assert groups.release.sums.tolist() == before[1].tolist()
    assert np.array_equal(groups.release.values, before[0], equal_nan=True)


def test_equal_inputs_give_equal_answers() -> None:
    first, second = (blended(draw_groups([3, 1, 2], 4)) for _ in range(2))
    assert first.cells.raw.probability.tolist() == second.cells.raw.probability.tolist()
    assert first.drift == second.drift
