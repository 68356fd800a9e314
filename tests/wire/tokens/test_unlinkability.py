"""Issuing and redeeming cannot be linked by their bytes; ``BLENDER_TOKENS`` says how many pairs.

The adversary has every request and every token, in orders that say nothing, and all keys. It sorts
requests by their blinded message and tokens by what can be computed from a token (signature,
encoded message, nonce), and pairs them by rank. If the blinding is perfect, one order is
independent of the other, and the right pairs are the fixed points of a random permutation. By
Markov's inequality, as E[C(X, 12)] = 1/12!, more than 11 come with probability below 3·10⁻⁹ for
each of the three.

It also computes what RSA does not hide of a number, its Jacobi symbol (-1 or 1), of every request
and of the message inside the token. Under a perfect blinding both symbols of a pair agree with
probability 1/2, independently; the test is exact and two-sided.
"""

import os
from uuid import UUID

from scipy.stats import binomtest

from blender_dp.wire.tokens.blind_rsa import Blinding, blind, draw_factor
from blender_dp.wire.tokens.blind_signer import BlindSigner, draw_signing_key, read_signing_key
from blender_dp.wire.tokens.report_token import TokenRules, TokenSecret, blinded_message_in
from blender_dp.wire.tokens.token_key import TokenKey
from exact_tests import FALSE_ALARM

PAIRS = int(os.environ.get("BLENDER_TOKENS", "150"))
PRIVATE = read_signing_key(draw_signing_key())
KEY = TokenKey(PRIVATE.public_key())
RULES = TokenRules(KEY, UUID(int=3))
MOST = 11


def right_pairs(pairs: list[tuple[bytes, bytes]]) -> int:
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


def jacobi(number: int, n: int) -> int:
    """Return the Jacobi symbol of a number modulo an odd n, which needs no secret."""
    symbol, top, bottom = 1, number % n, n
    while top:
        twos = (top & -top).bit_length() - 1
        top >>= twos
        if twos % 2 and bottom % 8 in (3, 5):
            symbol = -symbol
        if top % 4 == bottom % 4 == 3:
            symbol = -symbol
        top, bottom = bottom % top, top
    return symbol


def equal_symbols(pairs: list[tuple[bytes, bytes]]) -> int:
    """Return how many requests have the symbol of the message inside their token."""
    n = KEY.public.public_numbers().n
    # A signature is a root of odd degree, so it has the symbol of the message that it signs.
    return sum(
        jacobi(int.from_bytes(request), n) == jacobi(int.from_bytes(token[-256:]), n)
        for request, token in pairs
    )


def issued(blinding: Blinding | None = None) -> tuple[bytes, bytes]:
    """Return the blinded message that the issuer sees, and the token that it signs."""
    drawn = TokenSecret.draw(KEY)
    secret = drawn if blinding is None else TokenSecret(nonce=drawn.nonce, blinding=blinding)
    blinded = blinded_message_in(RULES.request(secret), KEY)
    return blinded, RULES.token(secret, BlindSigner(PRIVATE).sign(blinded))


def test_the_best_matching_is_no_better_than_chance() -> None:
    pairs = [issued() for _ in range(PAIRS)]
    assert right_pairs(pairs) <= MOST
    assert binomtest(equal_symbols(pairs), PAIRS).pvalue > FALSE_ALARM


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
    assert equal_symbols(pairs) == 40
    assert binomtest(40, 40).pvalue < FALSE_ALARM


def test_every_request_goes_with_every_token() -> None:
    """Blindness is perfect: for any request and any token there is a factor that connects them."""
    n, d = KEY.public.public_numbers().n, PRIVATE.private_numbers().d
    blinded, _ = issued()
    message, salt = RULES.token_input(os.urandom(32)), os.urandom(48)
    plain = int.from_bytes(blind(message, KEY.public, Blinding(salt=salt, factor=1)))
    factor = pow(int.from_bytes(blinded) * pow(plain, -1, n), d, n)
    assert blind(message, KEY.public, Blinding(salt=salt, factor=factor)) == blinded
