"""No float on the way to a draw: checked in the text of the code and while it runs.

Display and estimates may use floats; what is left out below is left out by name, with the reason.
"""

import ast
import dataclasses
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

from blender_dp.core import exact
from blender_dp.core.certificate import shuffle
from blender_dp.core.channels import local_alg as channel
from blender_dp.core.channels import relayed, subset_selection
from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.relayed import RelayMechanism, RelayRules
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.create_head_list import paper as create_head_list
from blender_dp.core.create_head_list import released_counts, released_weights, survivors
from blender_dp.core.curator import gaussian_plan, laplace_plan
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact import (
    asymmetric_laplace,
    binomial_law,
    discrete_gaussian,
    discrete_laplace,
    enclosure,
    exponential_coins,
    lattice,
    normal_tail,
    randomness,
)
from blender_dp.core.exact import binomial as exact_binomial
from blender_dp.core.exact.asymmetric_laplace import AsymmetricLaplace
from blender_dp.core.exact.discrete_gaussian import DiscreteGaussian
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import Cells
from blender_dp.core.local_alg import counted_subsets, many_subsets, sharp
from blender_dp.core.local_alg import paper as local_alg
from blender_dp.core.parameters import Parameters

SAMPLING = [
    asymmetric_laplace,
    binomial_law,
    discrete_laplace,
    discrete_gaussian,
    enclosure,
    exact_binomial,
    exponential_coins,
    randomness,
    channel,
    create_head_list,
    laplace_plan,
    released_counts,
    survivors,
    lattice,
    normal_tail,
    gaussian_plan,
    released_weights,
    local_alg,
    subset_selection,
    sharp,
    many_subsets,
    counted_subsets,
    shuffle,
    relayed,
]
LEFT_OUT = {
    "variance": "display and estimates: nothing is drawn with it",
    "mean": "the same",
    "half": "the same",
    "_require_range": "the float is in the message of an error",
    "t": "what the server's estimates read; devices compare with the integer threshold",
    "t_q": "the same, for URLs",
    "tight_epsilon": "a figure for people",
    "_require_ranges": "numbers in messages for people",
    "_too_small": "the same",
    "pin": "what the server's estimates read; devices compare with the integer threshold",
    "pout": "the same, for what is not true",
    "gain": "the same, for their difference",
    "fake_weight": "the same, for what fake reports do to estimates",
    "estimate": "display and estimates: nothing is drawn with it",
    "LocalAlgMechanism": "numbers as a person wrote them; channels are made from their fractions",
    "SubsetSelectionMechanism": "the same",
    "RelayMechanism": "the same; its divisions are checked below",
    "RelayRules": "the same",
}
ALLOWED_FROM_MATH = {"floor", "isqrt"}
"""Exact on fractions and integers; ``sinh`` of ``variance`` and ``log`` of ``tight_epsilon`` are
left out.

``laplace_plan`` asks ``laplace_search``, which is all floats, for a proposal, and then proves it;
``gaussian_plan`` likewise ``gaussian_search``.
"""


def sampling_nodes(module: ModuleType) -> Iterator[ast.AST]:
    """Walk a module without the functions left out."""
    waiting: list[ast.AST] = [ast.parse(inspect.getsource(module))]
    while waiting:
        node = waiting.pop()
        if not (isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in LEFT_OUT):
            yield node
            waiting.extend(ast.iter_child_nodes(node))


def floats_in(nodes: Iterator[ast.AST]) -> list[str]:
    """Return what in the text makes a float, whatever it is given."""
    used_from_math = {"exp", "log", "sinh", "sqrt", "pow", "expm1", "log1p", "log2", "ldexp"}
    found = []
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            found.append(f"line {node.lineno}: literal {node.value}")
        if isinstance(node, ast.Name) and node.id in {"float", "FloatArray", "random"}:
            found.append(f"line {node.lineno}: {node.id}")
        if isinstance(node, ast.Attribute) and node.attr.startswith(("float", "longdouble")):
            found.append(f"line {node.lineno}: {node.attr}")
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            owner = getattr(getattr(called, "value", None), "id", "")
            by_math = owner in {"math", "np"} or isinstance(called, ast.Name)
            if by_math and name in used_from_math - ALLOWED_FROM_MATH:
                found.append(f"line {node.lineno}: call of {name}")
    return found


def test_every_module_of_exact_noise_is_checked() -> None:
    folder = {module.name for module in pkgutil.iter_modules(exact.__path__, f"{exact.__name__}.")}
    assert folder == {m.__name__ for m in SAMPLING if m.__name__.startswith(exact.__name__)}


@pytest.mark.parametrize("module", SAMPLING, ids=lambda module: module.__name__)
def test_the_text_of_a_sampler_makes_no_float(module: ModuleType) -> None:
    assert floats_in(sampling_nodes(module)) == []


@pytest.mark.parametrize(
    "text",
    ["x = 0.5", "x: float = 1", "x = float(y)", "x = math.exp(-y)", "x = sinh(y)", "np.float64(1)"],
)
def test_a_float_in_the_text_would_be_found(text: str) -> None:
    assert floats_in(iter(ast.walk(ast.parse(text))))


def test_what_is_left_out_exists() -> None:
    names = {
        node.name
        for module in SAMPLING
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert set(LEFT_OUT) <= names


class CheckedDivisions(ast.NodeTransformer):
    """Rewrites ``a / b`` so that a quotient that is no fraction stops the run."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div):
            return node
        call = ast.Call(ast.Name("_exact_quotient", ast.Load()), [node.left, node.right], [])
        return ast.copy_location(call, node)


def _exact_quotient(a: Any, b: Any) -> Fraction:
    quotient = a / b
    assert type(quotient) is Fraction, f"{a!r} / {b!r} is a {type(quotient).__name__}"
    return quotient


def rewritten(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, or class method, with every division checked."""
    bare = getattr(function, "__func__", function)
    lines = inspect.cleandoc("\n" + inspect.getsource(bare))
    tree = CheckedDivisions().visit(ast.parse(lines))
    definition = tree.body[0]
    definition.decorator_list = []
    space = {**bare.__globals__, "_exact_quotient": _exact_quotient}
    exec(compile(ast.fix_missing_locations(tree), "<rewritten>", "exec"), space)  # noqa: S102 (our own source)
    made = space[definition.name]
    assert isinstance(made, FunctionType)
    return made


PARAMETERS = Parameters(
    preset="paper", epsilon=0.7, delta=1e-6, records_per_optin_user=3, records_per_client=2
)
MECHANISM = LocalAlgMechanism.of(PARAMETERS)
NOISE = AsymmetricLaplace(right=Fraction(7, 4), left=Fraction(2, 7))
PLAN = laplace_plan.LaplacePlan(threshold=7, noise=NOISE)
GAUSSIAN = gaussian_plan.gaussian_plan(Fraction(7, 10), Fraction(1, 10**6))
SUBSETS = SubsetSelectionMechanism(epsilon=0.7, query_share=0.25)
SUBSET = subset_selection.SubsetChannel.of(3, Fraction(7, 10))
ONE_OF_FIVE = subset_selection.SubsetChannel.naming_one(5, Fraction(3))
RELAY = RelayMechanism(epsilon=0.7, delta=1e-5, report_epsilon=2.1, least_batch=300, dishonest=0.3)
TABLES = many_subsets.SubsetTables(SUBSET, 3, Randomness.seeded(0))
COINS = counted_subsets.SecureCoins(Randomness.seeded(0))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (create_head_list.count_threshold, (PARAMETERS,)),
        (create_head_list.require_provable, (PARAMETERS,)),
        (create_head_list.least_passing_count, (PARAMETERS,)),
        (channel.truth_threshold, (Fraction(7, 10), Fraction(1, 10**6), 5)),
        (channel.LocalAlgChannel.of, (channel.LocalAlgChannel, Cells.of([2, 1]), MECHANISM)),
        (enclosure.decay_enclosure.__wrapped__, (Fraction(7, 20), 200)),
        (subset_selection._threshold, (Fraction(1, 3), 4, 232)),
        (subset_selection.SubsetChannel.of, (subset_selection.SubsetChannel, 9, Fraction(7, 10))),
        (subset_selection.SubsetSelectionMechanism.channels, (SUBSETS, Cells.of([2, 1]))),
        (subset_selection.SubsetChannel.truthful_share, (SUBSET,)),
        (subset_selection.SubsetChannel.exact_pout.fget, (SUBSET,)),  # type: ignore[attr-defined]  # a property
        (counted_subsets.count_subsets, (np.array([3, 0, 9]), SUBSET, COINS)),
        (sharp.choose_subset, (1, SUBSET, Randomness.seeded(0))),
        (many_subsets.SubsetTables.draw, (TABLES, np.array([0, 1, 2]))),
        (many_subsets._coins, (9, 3, 16)),
        (
            exact_binomial.binomial_each,
            (np.array([9, 9000]), np.array([1, 2]), np.array([3, 3]), Randomness.seeded(0)),
        ),
        (DiscreteLaplace._decay, (DiscreteLaplace(Fraction(20, 7)), 200)),
        (AsymmetricLaplace.tail, (NOISE, -3, 200)),
        (AsymmetricLaplace.draw_at_least, (NOISE, -3, Randomness.seeded(0))),
        (exponential_coins.geometric, (Fraction(7, 4), Randomness.seeded(0))),
        (laplace_plan.laplace_plan.__wrapped__, (Fraction(2), Fraction(1, 10**5))),
        (laplace_plan.is_private, (PLAN, Fraction(1, 10**5))),
        (laplace_plan.enumerated_delta, (PLAN, Fraction(2))),
        (laplace_plan._working_bits, (PLAN, Fraction(2))),
        (normal_tail.gaussian_delta, (Fraction(1, 3), Fraction(7, 10))),
        (normal_tail._density, (Fraction(9, 2), 200)),
        (normal_tail._inverse_mills_ratio, (Fraction(9, 2), 64)),
        (normal_tail._continued_fraction, (Fraction(9, 2), 20, 200)),
        (gaussian_plan.gaussian_plan.__wrapped__, (Fraction(7, 10), Fraction(1, 10**6))),
        (gaussian_plan.total_delta.__wrapped__, (GAUSSIAN,)),
        (gaussian_plan._own_record_stays, (UNIT, GAUSSIAN.discovery_sigma, GAUSSIAN.threshold)),
        (
            DiscreteGaussian.candidate_probability,
            (DiscreteGaussian(GAUSSIAN.discovery_sigma), GAUSSIAN.threshold, 200),
        ),
        (
            DiscreteGaussian.draw_candidate,
            (DiscreteGaussian(9), 20, Randomness.seeded(1)),
        ),
        (shuffle.shuffled_delta, (ONE_OF_FIVE, 300, Fraction(7, 10), Fraction(1, 10**6))),
        (shuffle._least_uniform, (300, Fraction(1, 3), Fraction(1, 10**6))),
        (shuffle._fair_coins, (40, 25)),
        (relayed._honest, (301, Fraction(3, 10))),
        (RelayMechanism.channel, (RELAY, Cells.of([2, 1]))),
        (RelayMechanism.certify, (RELAY, Cells.of([2, 1]), Fraction(7, 10), Fraction(1, 10**5))),
        (RelayMechanism.certify_report, (RELAY, Cells.of([2, 1]))),
        (Parameters.laplace_scale.fget, (PARAMETERS,)),  # type: ignore[attr-defined]  # a property
    ],
)
def test_every_division_on_the_way_to_a_draw_is_exact(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    rewritten(function)(*arguments)


def test_every_division_on_the_way_to_the_epsilon_of_a_relayed_report_is_exact() -> None:
    promise = {"epsilon": Fraction(7, 10), "delta": Fraction(1, 10**5)}
    chosen = rewritten(shuffle.largest_report_epsilon)(5, 300, cap=Fraction(8), **promise)
    assert type(chosen) is Fraction
    rules = RelayRules(share=1.0, dishonest=0.3)
    of = rewritten(RelayMechanism.of)
    parameters = Parameters(epsilon=0.7, delta=1e-5)
    of(RelayMechanism, Cells.of([2, 1]), parameters, clients=300, rules=rules)
    excesses = rewritten(shuffle._mean_excesses)(3 << 126, 1 << 124, 7, 40)
    assert {type(next(excesses)) for _ in range(20)} == {int}


def test_a_division_that_rounds_would_be_found() -> None:
    with pytest.raises(AssertionError, match="is a float"):
        rewritten(channel.truth_threshold)(Fraction(7, 10), 1e-6, 5)


@pytest.mark.parametrize("scale", [0.5, 1, Fraction(0), Fraction(-1)])
def test_noise_of_a_float_scale_cannot_be_made(scale: Any) -> None:
    with pytest.raises(BrokenInvariantError, match="a positive fraction"):
        DiscreteLaplace(scale)


@pytest.mark.parametrize("slope", [0.5, 1, Fraction(0), Fraction(-1)])
def test_noise_of_a_float_slope_cannot_be_made(slope: Any) -> None:
    with pytest.raises(BrokenInvariantError, match="a positive fraction"):
        AsymmetricLaplace(right=slope, left=Fraction(1))
    with pytest.raises(BrokenInvariantError, match="a positive fraction"):
        AsymmetricLaplace(right=Fraction(1), left=slope)


@pytest.mark.parametrize("promise", [(1.0, Fraction(1, 9)), (Fraction(1), 1e-5), (1, 1e-5)])
def test_a_plan_of_floats_cannot_be_made(promise: tuple[Any, Any]) -> None:
    with pytest.raises(BrokenInvariantError, match="from fractions"):
        laplace_plan.laplace_plan(*promise)


@pytest.mark.parametrize("sigma", [2.0, float(lattice.UNIT)])
def test_gaussian_noise_of_a_float_deviation_cannot_be_made(sigma: Any) -> None:
    with pytest.raises(BrokenInvariantError, match="a fraction, at least 1"):
        DiscreteGaussian(sigma)


def test_a_plan_holds_integers_and_fractions() -> None:
    kinds = {type(getattr(GAUSSIAN, each.name)) for each in dataclasses.fields(GAUSSIAN)}
    assert kinds == {int, Fraction}
    assert lattice.weights(32).dtype == np.int64


def test_a_float_threshold_cannot_be_computed() -> None:
    with pytest.raises(AttributeError, match="numerator"):
        channel.truth_threshold(0.5, Fraction(0), 3)  # type: ignore[arg-type]  # wrong on purpose


def test_what_is_drawn_is_an_integer(seed: int) -> None:
    source = Randomness.seeded(seed)
    assert type(DiscreteLaplace(Fraction(2)).draw(source)) is int
    assert {type(NOISE.draw_at_least(y, source)) for y in (-9, 0, 9)} == {int}
    assert type(DiscreteGaussian(GAUSSIAN.discovery_sigma).draw(source)) is int
    assert type(DiscreteGaussian(Fraction(5, 2)).draw(source)) is int
    device = channel.LocalAlgChannel.of(Cells.of([2, 1]), MECHANISM)
    assert type(local_alg.privatize(0, device, source)) is int
    assert local_alg.privatize_many(np.zeros(5, dtype=np.int64), device, source).dtype == np.int64
    assert {type(item) for item in sharp.choose_subset(0, SUBSET, source)} == {int}
    assert sharp.subset_counts(np.array([5000, 3, 0]), SUBSET, source).dtype == np.int64


def test_numbers_on_the_way_to_counts_stay_integers(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every array that the secure coins are given and give back is one of integers."""
    seen: list[np.dtype[Any]] = []

    def watched(*arrays: Any) -> Any:
        drawn = exact_binomial.binomial_each(*arrays)
        seen.extend(array.dtype for array in (*arrays[:3], drawn))
        return drawn

    monkeypatch.setattr(counted_subsets, "binomial_each", watched)
    sharp.subset_counts(np.array([5000, 3, 0]), SUBSET, Randomness.seeded(seed))
    assert set(seen) == {np.dtype(np.int64)}
