"""Wrong types: every public call refuses them in one sentence, without repeating a record."""

from collections.abc import Callable
from typing import Any

import pytest
from analysis.conftest import PARAMETERS, log_of

import blender_dp

bdp: Any = blender_dp  # so that mistakes can be made
LOG = log_of({"weather": 30, "news": 20})


def device(result: Any) -> Any:
    return bdp.LocalRandomizer(result.head_list, randomness=bdp.Randomness.seeded(1))


def run(**settings: Any) -> Any:
    return bdp.run(LOG, PARAMETERS, **({"opt_in": 0.5} | settings))


def plan(**settings: Any) -> Any:
    return bdp.plan(users=1000, epsilon=4, delta=1e-5, draws=2, **settings)


CALLS: dict[str, tuple[Callable[[Any], object], str]] = {
    "report": (lambda r: device(r).report(5, 6), "query must be a text, or None without a re"),
    "url": (lambda r: device(r).report("a", 6), "url must be a text, or None without a record"),
    "device": (lambda _: bdp.LocalRandomizer("list"), "head_list must be a head list; got 'str'"),
    "log": (lambda _: bdp.run(5, PARAMETERS, opt_in=0.5), "log must be paths, or a table of"),
    "parameters": (lambda _: bdp.run(LOG, {"epsilon": 4}), "parameters must be Parameters; got"),
    "epsilon": (lambda _: bdp.Parameters(epsilon="4", delta=0.1), "epsilon must be a finite num"),
    "delta": (lambda _: bdp.Parameters(epsilon=4, delta=None), "delta must be .*; got None"),
    "size": (
        lambda _: bdp.Parameters(epsilon=4, delta=0.1, head_list_size="5"),
        "head_list_size must be .*; got '5'",
    ),
    "opt_in": (lambda _: run(opt_in="half"), "opt_in must be .*; got 'half'"),
    "relay": (lambda _: run(relay="x"), "relay must be a share from 0 to 1; got 'x'"),
    "known": (lambda _: run(known="x"), "known must be what read_known returns, or a KnownList"),
    "queries": (
        lambda _: run(known=bdp.KnownList.of([bdp.Record("weather", "-")])),
        "known must be records with URLs, not queries alone, .*; got 'a known list'",
    ),
    "seed": (lambda _: run(seed="x"), "seed must be a whole number; got 'x'"),
    "engine": (lambda _: run(engine="x"), "engine must be one of auto, duckdb, spark; got 'x'"),
    "column": (lambda _: run(user=5), "user must be the name of a column; got 5"),
    "search": (lambda _: bdp.LocalSearch(5), "release must be a release, or the result of a run"),
    "typed": (lambda r: bdp.LocalSearch(r).suggest(5), "typed must be a text; got 'int'"),
    "trends": (lambda r: bdp.trends(r, 5), "earlier must be a release, or the result of a run"),
    "certify": (lambda _: bdp.certify("x"), "head_list must be a head list, or the result of a"),
    "like": (lambda _: bdp.plan(like=5), "like must be a release, or the result of a run; got"),
    "users": (lambda _: bdp.plan(users="x", epsilon=4, delta=0.1), "users must be .*; got 'x'"),
    "preset": (lambda _: plan(preset="x"), "preset must be one of sharp, paper; got 'x'"),
    "no preset": (lambda _: plan(preset=""), "preset must be one of sharp, paper; got ''"),
    "seed of a plan": (lambda _: plan(seed="x"), "seed must be 0 or more; got 'x'"),
    "seed of trials": (
        lambda _: bdp.evaluate(LOG, PARAMETERS, seed="x"),
        "seed must be .*; got 'x'",
    ),
    "shape": (lambda _: bdp.synthesize("x"), "shape must be one of aol, .*; got 'x'"),
    "people": (lambda _: bdp.synthesize("aol", users="x"), "users must be .*; got 'x'"),
    "log of trials": (lambda _: bdp.evaluate(5, PARAMETERS), "log must be paths, or a table of"),
    "trials": (lambda _: bdp.evaluate(LOG, PARAMETERS, repetitions="x"), "repetitions must be .*x"),
    "path": (lambda _: bdp.read_release(5), "path must be a path; got 'int'"),
    "list path": (lambda _: bdp.read_head_list(None), "path must be a path; got 'NoneType'"),
    "axes": (lambda r: r.plot(axes=5), "axes must be axes of matplotlib; got 'int'"),
    "result path": (lambda r: r.write(5), "directory must be a path; got 'int'"),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_type_is_refused_in_one_sentence(call: str, result: Any) -> None:
    ask, sentence = CALLS[call]
    with pytest.raises(bdp.BlenderError, match=sentence):
        ask(result)
