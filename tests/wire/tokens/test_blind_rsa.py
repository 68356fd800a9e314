"""Blind signatures: the vectors of RFC 9474, and what no signer may answer."""

import json
import secrets
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import (
    RSAPrivateKey,
    RSAPrivateNumbers,
    RSAPublicNumbers,
    generate_private_key,
    rsa_crt_dmp1,
    rsa_crt_dmq1,
    rsa_crt_iqmp,
)

from blender_dp.wire.tokens.blind_rsa import (
    Blinding,
    BlindSignatureError,
    blind,
    is_signed,
    unblind,
)
from blender_dp.wire.tokens.blind_signer import BlindSigner

ROOT = Path(__file__).parents[3]
VECTORS = json.loads((ROOT / "test_vectors" / "rfc9474_blind_rsa.json").read_text(encoding="utf-8"))
KEY = generate_private_key(public_exponent=65537, key_size=2048)
PUBLIC = KEY.public_key()
N = PUBLIC.public_numbers().n


def number(text: str) -> int:
    return int(text, 16)


def private_key(case: dict[str, Any]) -> RSAPrivateKey:
    p, q, d = (number(case[name]) for name in ("p", "q", "d"))
    return RSAPrivateNumbers(
        p=p,
        q=q,
        d=d,
        dmp1=rsa_crt_dmp1(d, p),
        dmq1=rsa_crt_dmq1(d, q),
        iqmp=rsa_crt_iqmp(p, q),
        public_numbers=RSAPublicNumbers(number(case["e"]), number(case["n"])),
    ).private_key()


def random_blinding() -> Blinding:
    return Blinding(salt=secrets.token_bytes(48), factor=secrets.randbelow(N - 1) + 1)


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_the_vectors_of_rfc_9474(case: dict[str, Any]) -> None:
    key = private_key(case)
    public, n = key.public_key(), number(case["n"])
    message, salt = bytes.fromhex(case["input_msg"]), bytes.fromhex(case["salt"])
    blinding = Blinding(salt=salt, factor=pow(number(case["inv"]), -1, n))

    assert blind(message, public, blinding).hex() == case["blinded_msg"]
    answer = BlindSigner(key).sign(bytes.fromhex(case["blinded_msg"]))
    assert answer.hex() == case["blind_sig"]
    assert unblind(message, public, blinding, answer).hex() == case["sig"]
    assert is_signed(message, public, bytes.fromhex(case["sig"]), len(salt))


@pytest.mark.parametrize(
    "change",
    [
        lambda _: bytes(256),
        lambda answer: answer[:-1] + bytes([answer[-1] ^ 1]),
        lambda answer: answer[:-1],
        lambda answer: answer + b"\0",
        lambda answer: (int.from_bytes(answer) + N).to_bytes(257),
        lambda _: b"",
    ],
    ids=["zeros", "one bit", "too short", "too long", "above the modulus", "empty"],
)
def test_an_answer_that_is_not_signed_with_the_key_is_refused(change: Any) -> None:
    blinding = random_blinding()
    answer = BlindSigner(KEY).sign(blind(b"a message", PUBLIC, blinding))

    unblind(b"a message", PUBLIC, blinding, answer)
    with pytest.raises(BlindSignatureError, match="published key"):
        unblind(b"a message", PUBLIC, blinding, change(answer))


def test_a_signature_of_another_key_is_refused() -> None:
    other = generate_private_key(public_exponent=65537, key_size=2048)
    blinding = Blinding(salt=bytes(48), factor=2)
    blinded = blind(b"a message", PUBLIC, blinding)
    smaller = (int.from_bytes(blinded) % other.public_key().public_numbers().n).to_bytes(256)

    with pytest.raises(BlindSignatureError):
        unblind(b"a message", PUBLIC, blinding, BlindSigner(other).sign(smaller))


def test_a_factor_without_an_inverse_is_refused() -> None:
    p = KEY.private_numbers().p

    with pytest.raises(BlindSignatureError, match="small factors"):
        blind(b"a message", PUBLIC, Blinding(salt=bytes(48), factor=p))


def test_a_signature_is_the_same_as_that_of_the_library() -> None:
    """What our signer gives is checked by, and as long as, RSASSA-PSS of `cryptography`."""
    for number_of_message in range(20):
        message, blinding = f"message {number_of_message}".encode(), random_blinding()
        answer = BlindSigner(KEY).sign(blind(message, PUBLIC, blinding))
        assert is_signed(message, PUBLIC, unblind(message, PUBLIC, blinding, answer))
        assert not is_signed(b"another", PUBLIC, unblind(message, PUBLIC, blinding, answer))


def test_a_key_with_a_small_factor_blinds_nothing() -> None:
    """A third of the encodings is a multiple of 3; none of 60 is with probability 3e-11."""
    third = RSAPublicNumbers(65537, 3 * (secrets.randbits(2046) | 1 << 2046 | 1 << 2045 | 1))
    public = third.public_key()
    refused = 0
    for message in range(60):
        try:
            blind(bytes([message]), public, Blinding(salt=secrets.token_bytes(48), factor=1))
        except BlindSignatureError:
            refused += 1
    assert refused > 0
