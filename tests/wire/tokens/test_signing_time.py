"""The time of a signature tells nothing about the key, nor about what is signed.

What reaches the exponentiation is looked at first, without a clock. Then times are compared: of two
keys and of two messages, chosen so that a signer without blinding needs different times for them.
Each trial measures both, right after each other, in an order that is drawn anew. If the time does
not depend on which of the two it is, the first is faster with probability 1/2 in every trial,
whatever else the machine does. So the number of such trials is binomial, and the test is exact.

Twins that compute with Python's ``pow`` are caught: by two keys although everything is blinded, and
by two messages if the base is not. On a busy machine that takes more trials, so the twin is
measured first, until it is caught, and the signer then in as many trials or more: whatever the
machine does, the test has as much power as it needs. Not shown: smaller differences than those of
the twins, and what caches or power show of a single signature.
"""

import random
import time
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import (
    RSAPrivateKey,
    RSAPrivateNumbers,
    RSAPublicNumbers,
    rsa_crt_iqmp,
)
from gmpy2 import mpz, powmod_sec

from blender_dp.wire.tokens import blind_signer
from blender_dp.wire.tokens.blind_signer import BlindSigner
from exact_tests import FALSE_ALARM, binomial_p_value

TRIALS = 300
"""At least; one of two must be faster in 203 of so many to be called faster."""
MOST, STEP = 5_000, 50
"""Trials after which a twin counts as not caught, and after which it is looked at again.

A signer that does nothing wrong would be caught as a twin with probability 10⁻⁷ at most.
"""
E = 65537


def key_of(d_p: int, k_p: int, d_q: int, k_q: int) -> RSAPrivateKey:
    """Return the key whose private exponents are these: e d - 1 = k (p - 1) gives the prime."""
    p, q = (E * d_p - 1) // k_p + 1, (E * d_q - 1) // k_q + 1
    d = pow(E, -1, (p - 1) * (q - 1))
    public = RSAPublicNumbers(E, p * q)
    iqmp = rsa_crt_iqmp(p, q)
    numbers = RSAPrivateNumbers(p, q, d, d_p, d_q, iqmp, public)
    return numbers.private_key()  # checks that p and q are primes


EDGE = 2**1023 + 1
FEW_ONES = key_of(EDGE + 2**37 + 2**353, 40960, EDGE + 2**367 + 2**678, 34286)
"""Four ones in each private exponent."""
FULL = 2**1023 - 1
"""Ones only."""
MANY_ONES = key_of(FULL - 2**339 - 2**435, 34577, FULL - 2**330 - 2**780, 37639)
KEYS = {"few ones": FEW_ONES, "many ones": MANY_ONES}
ONE = (1).to_bytes(256)
"""Powers of 1 are quickly computed."""
LARGE = (3**1290).to_bytes(256)


class Power(NamedTuple):
    """One exponentiation, as the signer asked for it."""

    base: int
    exponent: int
    modulus: int


@pytest.fixture
def powers(monkeypatch: pytest.MonkeyPatch) -> list[Power]:
    """Return where every exponentiation of the signer is noted; each is done as before."""
    seen: list[Power] = []

    def noted(base: mpz, exponent: mpz, modulus: mpz) -> mpz:
        seen.append(Power(int(base), int(exponent), int(modulus)))
        return powmod_sec(base, exponent, modulus)

    monkeypatch.setattr(blind_signer, "powmod_sec", noted)
    return seen


@pytest.mark.parametrize(("key", "message"), list(product(KEYS, [ONE, LARGE])))
def test_bases_and_exponents_are_new_for_every_signature(
    powers: list[Power], key: str, message: bytes
) -> None:
    numbers = KEYS[key].private_numbers()
    signer = BlindSigner(KEYS[key])
    for _ in range(8):
        signer.sign(message)
    for prime, exponent in ((numbers.p, numbers.dmp1), (numbers.q, numbers.dmq1)):
        private = [power for power in powers if power.modulus == prime]
        assert len(private) == 8
        assert len({power.base for power in private}) == 8
        assert int.from_bytes(message) % prime not in {power.base for power in private}
        assert len({power.exponent for power in private}) == 8
        assert {power.exponent % (prime - 1) for power in private} == {exponent}


def test_exponents_have_one_length_whatever_the_key(powers: list[Power]) -> None:
    for key in KEYS.values():
        for _ in range(8):
            BlindSigner(key).sign(LARGE)
    primes = {prime for key in KEYS.values() for prime in _primes(key)}
    lengths = {power.exponent.bit_length() for power in powers if power.modulus in primes}
    assert lengths == {1024 + 64 + 1}


def _primes(key: RSAPrivateKey) -> tuple[int, int]:
    return key.private_numbers().p, key.private_numbers().q


def faster(first: Callable[[], object], second: Callable[[], object], trials: int) -> int:
    """Return in how many trials the first of two actions is faster."""
    return sum(_is_first_faster(first, second) for _ in range(trials))


def trials_to_catch(first: Callable[[], object], second: Callable[[], object]) -> int:
    """Return how many trials show that two actions do not take the same time."""
    count = 0
    for trials in range(STEP, MOST + 1, STEP):
        count += faster(first, second, STEP)
        if binomial_p_value(count, trials, 0.5) < FALSE_ALARM:
            return trials
    raise AssertionError("the twin takes the same time")


def assert_one_time(first: Callable[[], object], second: Callable[[], object], trials: int) -> None:
    """Fail if two actions take times as different as those of a twin caught in so many trials."""
    trials = max(trials, TRIALS)
    count = faster(first, second, trials)
    assert binomial_p_value(count, trials, 0.5) > FALSE_ALARM, f"faster in {count} of {trials}"


def _is_first_faster(first: Callable[[], object], second: Callable[[], object]) -> bool:
    """Measure both in a random order; equal times are decided by a coin."""
    actions = [first, second]
    order = random.SystemRandom().sample([0, 1], 2)
    times = {which: _cpu_time(actions[which]) for which in order}
    return times[0] < times[1] or (times[0] == times[1] and order[0] == 0)


def _cpu_time(action: Callable[[], object]) -> int:
    began = time.thread_time_ns()
    action()
    return time.thread_time_ns() - began


def signing(key: RSAPrivateKey, message: bytes) -> Callable[[], object]:
    signer = BlindSigner(key)
    return lambda: signer.sign(message)


def computed_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def power(base: mpz, exponent: mpz, modulus: mpz) -> mpz:
        return mpz(pow(int(base), int(exponent), int(modulus)))

    monkeypatch.setattr(blind_signer, "powmod_sec", power)


def test_two_keys_take_the_same_time_and_a_twin_with_pow_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = signing(FEW_ONES, LARGE), signing(MANY_ONES, LARGE)
    with monkeypatch.context() as twin:
        computed_by_python(twin)
        trials = trials_to_catch(*keys)
    assert_one_time(*keys, trials)


def test_two_messages_take_the_same_time_and_a_twin_without_blinding_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    messages = signing(FEW_ONES, ONE), signing(FEW_ONES, LARGE)
    with monkeypatch.context() as twin:
        computed_by_python(twin)
        twin.setattr(blind_signer, "draw_factor", lambda _n: 1)
        trials = trials_to_catch(*messages)
    assert_one_time(*messages, trials)
