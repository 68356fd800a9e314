"""Trends, plans and evaluations, as they print and draw themselves."""

import matplotlib as mpl
import pytest
from analysis.conftest import PARAMETERS, log_of

import blender_dp as bdp

mpl.use("agg")


def test_trends_print_and_draw_themselves(
    result: bdp.RunResult, later_result: bdp.RunResult
) -> None:
    from matplotlib import pyplot  # noqa: PLC0415 - after the choice of its backend

    found = bdp.trends(later_result, result)
    assert isinstance(found, bdp.Trends)
    assert repr(found).startswith("<TrendsResult: 3 queries; 1 of 3 queries rose, 1 fell; made")
    assert "&lt;img" in found._repr_html_()
    assert "<img" not in found._repr_html_()
    assert found.to_pandas()["query"][0] == "news"
    assert set(found.to_polars("changes")["verdict"].to_list()[:2]) == {"rose", "fell"}
    assert found.plot().get_title() == "1 of 3 queries rose, 1 fell"
    assert found.plot("ranking", most=2).get_title() == "The 2 most popular of 3 queries"
    alone = bdp.trends(result)
    assert "1 to" in alone._repr_html_()
    with pytest.raises(bdp.BlenderError, match="no changes without an earlier release"):
        alone.to_pandas("changes")
    pyplot.close("all")


def test_a_plan_prints_and_draws_its_curve() -> None:
    from matplotlib import pyplot  # noqa: PLC0415 - after the choice of its backend

    plan = bdp.plan(users=20_000, epsilon=4, delta=1e-4, like="zipf", draws=3, curve="epsilon")
    assert isinstance(plan, bdp.Plan)
    found = plan.prediction.measures["queries"]
    assert repr(plan).startswith(f"<PlanResult: about {found.mean:.0f} queries (")
    assert "; 20,000 users like " in repr(plan)
    assert "NDCG" in plan._repr_html_()
    axes = plan.plot("queries")
    assert (axes.get_xlabel(), len(axes.get_lines())) == ("ε", 1)
    with pytest.raises(bdp.BlenderError, match="measure must be one of queries, records, ndcg"):
        plan.plot("beauty")  # type: ignore[arg-type]  # the mistake
    pyplot.close("all")


def test_a_plan_without_a_curve_draws_none() -> None:
    plan = bdp.plan(users=20_000, epsilon=4, delta=1e-4, like="zipf", draws=3)
    with pytest.raises(bdp.BlenderError, match="this plan has no curve; make it with curve="):
        plan.plot()
    with pytest.raises(bdp.BlenderError, match="users must be given, unless an earlier release"):
        bdp.plan(epsilon=4, delta=1e-4)


def test_an_evaluation_has_its_measures_and_trials() -> None:
    log = log_of({"weather": 900, "news": 600})
    found = bdp.evaluate(log, PARAMETERS, opt_in=0.3, repetitions=2, seed=3)
    assert repr(found).startswith("<Evaluation: 2 runs on a log of 1,500 users, 0.3 of them opted")
    assert found.trials.num_rows == 2
    measures = found.to_pandas().set_index("measure")
    assert measures.loc["queries", "mean"] == 2
    assert found.to_polars("trials")["ndcg"].to_list() == [1.0, 1.0]
    assert "<td><bdi>ndcg</bdi></td>" in found._repr_html_()
