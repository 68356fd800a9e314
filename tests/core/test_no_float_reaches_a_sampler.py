"""No float on the way to a draw: checked in the text of the code and while it runs.

Display and estimates may use floats; what is left out below is left out by name, with the reason.
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

from blender_dp.core import channel, discrete_laplace, enclosure, exact_binomial, randomness
from blender_dp.core.cells import Cells
from blender_dp.core.create_head_list import paper as create_head_list
from blender_dp.core.discrete_laplace import DiscreteLaplace
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.local_alg import paper as local_alg
from blender_dp.core.mechanism import LocalAlgMechanism
from blender_dp.core.parameters import Parameters
from blender_dp.core.randomness import Randomness

SAMPLING = [
    discrete_laplace,
    enclosure,
    exact_binomial,
    randomness,
    channel,
    create_head_list,
    local_alg,
]
LEFT_OUT = {
    "variance": "display and estimates: nothing is drawn with it",
    "t": "what the server's estimates read; devices compare with the integer threshold",
    "t_q": "the same, for URLs",
    "tight_epsilon": "a figure for people",
}
ALLOWED_FROM_MATH = {"floor"}
"""Exact on fractions; ``sinh`` of ``variance`` and ``log`` of ``tight_epsilon`` are left out."""


def sampling_nodes(module: ModuleType) -> Iterator[ast.AST]:
    """Walk a module without the functions left out."""
    waiting: list[ast.AST] = [ast.parse(inspect.getsource(module))]
    while waiting:
        node = waiting.pop()
        if not (isinstance(node, ast.FunctionDef) and node.name in LEFT_OUT):
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
        if isinstance(node, ast.FunctionDef)
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


PARAMETERS = Parameters(epsilon=0.7, delta=1e-6, records_per_optin_user=3, records_per_client=2)
MECHANISM = LocalAlgMechanism.of(PARAMETERS)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (create_head_list.count_threshold, (PARAMETERS,)),
        (create_head_list.require_provable, (PARAMETERS,)),
        (create_head_list.least_passing_count, (PARAMETERS,)),
        (channel.truth_threshold, (Fraction(7, 10), Fraction(1, 10**6), 5)),
        (channel.LocalAlgChannel.of, (channel.LocalAlgChannel, Cells.of([2, 1]), MECHANISM)),
        (discrete_laplace._exp_of_minus_inverse.__wrapped__, (Fraction(20, 7), 200)),
        (enclosure.exp_enclosure, (Fraction(-1, 3), 200)),
        (Parameters.laplace_scale.fget, (PARAMETERS,)),  # type: ignore[attr-defined]  # a property
    ],
)
def test_every_division_on_the_way_to_a_draw_is_exact(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    rewritten(function)(*arguments)


def test_a_division_that_rounds_would_be_found() -> None:
    with pytest.raises(AssertionError, match="is a float"):
        rewritten(channel.truth_threshold)(Fraction(7, 10), 1e-6, 5)


@pytest.mark.parametrize("scale", [0.5, 1, Fraction(0), Fraction(-1)])
def test_noise_of_a_float_scale_cannot_be_made(scale: Any) -> None:
    with pytest.raises(BrokenInvariantError, match="a positive fraction"):
        DiscreteLaplace(scale)


def test_a_float_threshold_cannot_be_computed() -> None:
    with pytest.raises(AttributeError, match="numerator"):
        channel.truth_threshold(0.5, Fraction(0), 3)  # type: ignore[arg-type]  # wrong on purpose


def test_what_is_drawn_is_an_integer(seed: int) -> None:
    source = Randomness.seeded(seed)
    assert type(DiscreteLaplace(Fraction(2)).draw(source)) is int
    device = channel.LocalAlgChannel.of(Cells.of([2, 1]), MECHANISM)
    assert type(local_alg.privatize(0, device, source)) is int
    assert local_alg.privatize_many(np.zeros(5, dtype=np.int64), device, source).dtype == np.int64
