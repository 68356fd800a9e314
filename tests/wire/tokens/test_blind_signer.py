"""Blind signer: the same answer again, nothing too large, no faulty signature."""

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.wire.tokens.blind_rsa import BlindSignatureError
from blender_dp.wire.tokens.blind_signer import BlindSigner, draw_signing_key, read_signing_key

KEY = read_signing_key(draw_signing_key())
N = KEY.public_key().public_numbers().n


def test_the_same_message_gives_the_same_signature() -> None:
    blinded = (N // 3).to_bytes(256)

    assert len({BlindSigner(KEY).sign(blinded) for _ in range(5)}) == 1


def test_a_signature_is_the_eth_root() -> None:
    blinded = (N // 7).to_bytes(256)

    assert pow(int.from_bytes(BlindSigner(KEY).sign(blinded)), 65537, N) == N // 7


@pytest.mark.parametrize("number", [N, N + 1, 2**2048 - 1], ids=["n", "n + 1", "largest"])
def test_a_message_that_is_not_below_the_modulus_is_refused(number: int) -> None:
    with pytest.raises(BlindSignatureError, match="below"):
        BlindSigner(KEY).sign(number.to_bytes(256))


@pytest.mark.parametrize("length", [0, 255, 257])
def test_a_message_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(BlindSignatureError):
        BlindSigner(KEY).sign(bytes(length))


def test_a_fault_in_one_half_reveals_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong root modulo one prime would give the key away: gcd(s^e - m, n) is the other prime."""
    monkeypatch.setattr(BlindSigner, "_root", lambda _self, masked: masked)

    with pytest.raises(BrokenInvariantError):
        BlindSigner(KEY).sign((N // 5).to_bytes(256))


@pytest.mark.parametrize("bits", [1024, 3072])
def test_a_key_of_another_size_is_no_key_for_tokens(bits: int) -> None:
    key: RSAPrivateKey = generate_private_key(public_exponent=65537, key_size=bits)
    encoded = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(BrokenInvariantError, match="2048"):
        read_signing_key(encoded)
