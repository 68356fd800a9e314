"""Issuing and redeeming cannot be linked by their bytes; ``BLENDER_TOKENS`` says how many pairs.

The adversary has every request and every token, in orders that say nothing, and all keys. It sorts
requests by their blinded message and tokens by what can be computed from a token (signature,
encoded message, nonce), and pairs them by rank. If the blinding is perfect, one order is
independent of the other, and the right pairs are the fixed points of a random permutation. By
Markov's inequality, as E[C(X, 12)] = 1/12!, more than 11 come with probability below 3·10⁻⁹ for
each of the three.

It also computes what RSA does not hide of a number from somebody who has the private key: its
Legendre symbol (-1 or 1) modulo either prime, of every request and of the message inside the token.
Under a perfect blinding both symbols of a pair agree with probability 1/2, independently; the test
is exact and two-sided, at 10⁻⁹ for either prime.
"""

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from uuid import UUID

import pytest
from scipy.stats import binomtest

from blender_dp.wire.tokens.blind_rsa import Blinding, blind, draw_factor
from blender_dp.wire.tokens.blind_signer import BlindSigner, draw_signing_key, read_signing_key
from blender_dp.wire.tokens.report_token import TokenRules, TokenSecret, blinded_message_in
from blender_dp.wire.tokens.token_key import TokenKey
from exact_tests import FALSE_ALARM

PAIRS = int(os.environ.get("BLENDER_TOKENS", "150"))
SHARE = 250
"""Pairs of one task; more are divided among processes."""
PRIVATE = read_signing_key(draw_signing_key())
SIGNER = BlindSigner(PRIVATE)
PRIMES = (PRIVATE.private_numbers().p, PRIVATE.private_numbers().q)
KEY = TokenKey(PRIVATE.public_key())
RULES = TokenRules(KEY, UUID(int=3))
MOST = 11
Pair = tuple[bytes, bytes]


def right_pairs(pairs: Sequence[Pair]) -> int:
    """Return the most pairs that the adversary finds by ranks."""
    public = KEY.public.public_numbers()

    def ranks(values: list[int]) -> list[int]:
        order = sorted(range(len(values)), key=values.__getitem__)
        return sorted(range(len(order)), key=order.__getitem__)

    asked = ranks([int.from_bytes(request) for request, _ in pairs])
    signatures = [int.from_bytes(token[-256:]) for _, token in pairs]
    seen = (
        signatures,
        [pow(signature, public.e, public.n) for signature in signatures],
        [int.from_bytes(token[2:34]) for _, token in pairs],
    )
    return max(sum(a == b for a, b in zip(asked, ranks(view), strict=True)) for view in seen)


def symbol(number: int, prime: int) -> int:
    """Return the Legendre symbol of a number modulo a prime, by quadratic reciprocity."""
    sign, top, bottom = 1, number % prime, prime
    while top:
        twos = (top & -top).bit_length() - 1
        top >>= twos
        if twos % 2 and bottom % 8 in (3, 5):
            sign = -sign
        if top % 4 == bottom % 4 == 3:
            sign = -sign
        top, bottom = bottom % top, top
    return sign


def equal_symbols(pairs: Sequence[Pair], prime: int) -> int:
    """Return how many requests have the symbol of the message inside their token."""
    # A signature is a root of odd degree, so it has the symbol of the message that it signs.
    return sum(
        symbol(int.from_bytes(request), prime) == symbol(int.from_bytes(token[-256:]), prime)
        for request, token in pairs
    )


def issued(blinding: Blinding | None = None) -> Pair:
    """Return the blinded message that the issuer sees, and the token that it signs."""
    drawn = TokenSecret.draw(KEY)
    secret = drawn if blinding is None else TokenSecret(nonce=drawn.nonce, blinding=blinding)
    blinded = blinded_message_in(RULES.request(secret), KEY)
    return blinded, RULES.token(secret, SIGNER.sign(blinded))


def issued_share(count: int) -> tuple[list[Pair], list[int]]:
    """Return pairs, and their equal symbols for each prime."""
    pairs = [issued() for _ in range(count)]
    return pairs, [equal_symbols(pairs, prime) for prime in PRIMES]


@pytest.fixture(scope="module")
def shares() -> list[tuple[list[Pair], list[int]]]:
    """Return all pairs; many are made in several processes, which have the keys of this one."""
    whole, rest = divmod(PAIRS, SHARE)
    if not whole:
        return [issued_share(rest)]
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork")) as pool:
        return list(pool.map(issued_share, [*repeat(SHARE, whole), rest]))


def test_the_best_matching_is_no_better_than_chance(
    shares: list[tuple[list[Pair], list[int]]],
) -> None:
    pairs = [pair for share, _ in shares for pair in share]
    found = right_pairs(pairs)
    print(f"{len(pairs)} pairs, {found} right")  # noqa: T201 - for whoever asks
    assert len(pairs) == PAIRS
    assert found <= MOST


@pytest.mark.parametrize("prime", [0, 1])
def test_symbols_agree_no_more_often_than_by_chance(
    shares: list[tuple[list[Pair], list[int]]], prime: int
) -> None:
    equal = sum(symbols[prime] for _, symbols in shares)
    print(f"{equal} equal symbols of {PAIRS}")  # noqa: T201 - for whoever asks
    assert binomtest(equal, PAIRS).pvalue > FALSE_ALARM


def test_a_twin_with_a_broken_blinding_is_caught() -> None:
    """A factor of 1 hides nothing: the encoded message itself is sent."""
    found = right_pairs([issued(Blinding(salt=os.urandom(48), factor=1)) for _ in range(40)])
    assert found == 40


def test_a_twin_whose_factors_are_squares_is_caught() -> None:
    """Such factors keep the symbol. Ranks see nothing of it; 40 equal symbols come once in 2^39."""
    n = KEY.public.public_numbers().n

    def square() -> Blinding:
        return Blinding(salt=os.urandom(48), factor=pow(draw_factor(n), 2, n))

    pairs = [issued(square()) for _ in range(40)]
    assert right_pairs(pairs) <= MOST
    assert [equal_symbols(pairs, prime) for prime in PRIMES] == [40, 40]
    assert binomtest(40, 40).pvalue < FALSE_ALARM


def test_every_request_goes_with_every_token() -> None:
    """Blindness is perfect: for any request and any token there is a factor that connects them."""
    n, d = KEY.public.public_numbers().n, PRIVATE.private_numbers().d
    blinded, _ = issued()
    message, salt = RULES.token_input(os.urandom(32)), os.urandom(48)
    plain = int.from_bytes(blind(message, KEY.public, Blinding(salt=salt, factor=1)))
    factor = pow(int.from_bytes(blinded) * pow(plain, -1, n), d, n)
    assert blind(message, KEY.public, Blinding(salt=salt, factor=factor)) == blinded
