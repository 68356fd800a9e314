"""The arithmetic of a certificate, and that nothing goes on above a promise."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from blender_dp.core.certificate.certificate import (
    Account,
    Certificate,
    Part,
    least_epsilon,
    require_kept,
)
from blender_dp.core.certificate.certify import certify_plan
from blender_dp.core.errors import BrokenPromiseError
from blender_dp.core.parameters import Parameters
from blender_dp.engine import run as engine_run
from blender_dp.engine.log import Log

HALF, NOTHING = Fraction(1, 2), Fraction(0)


def part(epsilon: Fraction = HALF, delta: Fraction = NOTHING) -> Part:
    return Part(
        release="something",
        method="by hand",
        promised_epsilon=epsilon,
        promised_delta=Fraction(1, 100),
        epsilon=epsilon,
        delta=delta,
        is_tight=True,
        constants={},
    )


def account(*parts: Part) -> Account:
    return Account(
        to="somebody",
        model="local",
        promised_epsilon=Fraction(1),
        promised_delta=Fraction(1, 100),
        parts=parts,
    )


def test_parts_add_up() -> None:
    both = account(part(delta=Fraction(1, 200)), part(delta=Fraction(1, 300)))
    assert both.epsilon == 1
    assert both.delta == Fraction(1, 120)
    assert both.tight_epsilon == 1
    assert both.is_kept


@pytest.mark.parametrize(
    "parts",
    [
        [part(), part(), part(Fraction(1, 10**30))],
        [part(delta=Fraction(1, 100)), part(delta=Fraction(1, 10**30))],
    ],
)
def test_the_least_bit_above_a_promise_breaks_it(parts: list[Part]) -> None:
    certificate = Certificate(accounts=(account(), account(*parts)))
    assert not certificate.is_kept
    with pytest.raises(BrokenPromiseError, match="The promise to somebody is broken"):
        require_kept(certificate)


def test_a_part_far_above_its_promise_says_so() -> None:
    far = replace(part(delta=Fraction(1)), epsilon=None)
    assert account(part(), far).tight_epsilon is None
    assert "needs far more" in Certificate(accounts=(account(far),)).sentence


def test_the_least_epsilon_is_found_from_above() -> None:
    """δ(ε) = 1 - ε, whose answer is known."""
    found = least_epsilon(lambda at: 1 - at, Fraction(1, 3), promised=Fraction(1))
    assert found is not None
    assert Fraction(2, 3) <= found < Fraction(2, 3) + Fraction(1, 2**29)


@pytest.mark.parametrize(("needed", "found"), [(0, 0), (1, 1), (50, 50), (65, None)])
def test_it_may_be_nothing_or_more_than_was_promised(needed: int, found: int | None) -> None:
    least = least_epsilon(lambda at: Fraction(at < needed), NOTHING, promised=Fraction(1))
    assert least == (None if found is None else pytest.approx(found, abs=1e-8))


@pytest.mark.parametrize("near", [0.0, 1e-9, 0.1, 2 / 3 - 1e-6, 2 / 3 + 1e-6, 0.9, 1.0, 5.0])
@pytest.mark.parametrize("power", [1, 9])
def test_the_least_epsilon_is_the_same_wherever_the_search_begins(near: float, power: int) -> None:
    def spent(at: Fraction) -> Fraction:
        return max(1 - at, NOTHING) ** power

    delta = Fraction(1, 3**power)
    found = least_epsilon(spent, delta, Fraction(1), steps=1 << 14, near=near)
    assert (
        found == least_epsilon(spent, delta, Fraction(1), steps=1 << 14) == Fraction(10923, 1 << 14)
    )


@pytest.mark.parametrize("preset", ["paper", "sharp"])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.01, 1e-9), (0.5, 1e-2), (4.0, 1e-9), (20.0, 1e-2)]
)
def test_every_plan_keeps_its_promise(preset: str, epsilon: float, delta: float) -> None:
    parameters = Parameters(preset=preset, epsilon=epsilon, delta=delta)  # type: ignore[arg-type]
    for group in certify_plan(parameters).accounts:
        assert group.is_kept
        assert group.epsilon == group.promised_epsilon  # nothing of ε is left unused


def broken(_: object) -> Certificate:
    return Certificate(accounts=(account(part(), part(), part()),))


def test_a_run_above_its_promise_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log does not even exist: it is not looked for."""
    monkeypatch.setattr(engine_run, "certify_plan", broken)
    with pytest.raises(BrokenPromiseError):
        engine_run.run(Log.of(tmp_path / "no.csv"), Parameters(epsilon=1.0, delta=1e-3), opt_in=0.5)


def test_nor_does_its_result_get_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_run, "certify_curated", broken)
    log = tmp_path / "log.csv"
    log.write_text("user,query,url\n" + "".join(f"{i},q,u\n" for i in range(50)))
    with pytest.raises(BrokenPromiseError):
        engine_run.run(Log.of(log), Parameters(epsilon=4.0, delta=1e-2), opt_in=0.5)
