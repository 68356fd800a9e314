"""Report tokens: the vectors of RFC 9578, and the tokens of campaigns."""

import hashlib
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from blender_dp.core.errors import InputError
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.reports.service_report import report_id_of
from blender_dp.wire.service.signed_head_list import read_signed_head_list
from blender_dp.wire.tokens.blind_rsa import Blinding, BlindSignatureError, is_signed, unblind
from blender_dp.wire.tokens.blind_signer import BlindSigner, draw_signing_key, read_signing_key
from blender_dp.wire.tokens.report_token import (
    TOKEN_BYTES,
    TokenRules,
    TokenSecret,
    blinded_message_in,
    challenge_digest,
    token_request,
)
from blender_dp.wire.tokens.token_key import MODULUS_BYTES, TokenKey, read_token_key

VECTORS = Path(__file__).parents[3] / "test_vectors"
OF_RFC_9578 = json.loads((VECTORS / "rfc9578_type2.json").read_text(encoding="utf-8"))
OURS = json.loads((VECTORS / "report_tokens.json").read_text(encoding="utf-8"))
CAMPAIGN, OTHER_CAMPAIGN = UUID(int=1), UUID(int=2)
PRIVATE = read_signing_key(draw_signing_key())
KEY = TokenKey(PRIVATE.public_key())
RULES = TokenRules(KEY, CAMPAIGN)


def issued(rules: TokenRules, private: RSAPrivateKey = PRIVATE) -> bytes:
    secret = TokenSecret.draw(rules.key)
    request = rules.request(secret)
    return rules.token(secret, BlindSigner(private).sign(blinded_message_in(request, rules.key)))


@pytest.mark.parametrize("case", OF_RFC_9578)
def test_the_vectors_of_rfc_9578(case: dict[str, str]) -> None:
    private = load_pem_private_key(bytes.fromhex(case["skS"]), password=None)
    assert isinstance(private, RSAPrivateKey)
    key = TokenKey(private.public_key())
    assert key.encoded.hex() == case["pkS"]
    token = bytes.fromhex(case["token"])
    nonce, digest = bytes.fromhex(case["nonce"]), bytes.fromhex(case["token_challenge"])
    signed = b"\0\2" + nonce + challenge_digest(digest) + key.id
    assert token.startswith(signed)

    n = key.public.public_numbers().n
    blinding = Blinding(salt=bytes.fromhex(case["salt"]), factor=int(case["blind"], 16) % n)
    request = token_request(key, signed, blinding)
    assert request.hex() == case["token_request"]
    answer = BlindSigner(private).sign(blinded_message_in(request, key))
    assert answer.hex() == case["token_response"]
    assert signed + unblind(signed, key.public, blinding, answer) == token
    assert is_signed(signed, key.public, token[len(signed) :])


@pytest.mark.parametrize("case", OURS["tokens"])
def test_the_vectors_of_report_tokens(case: dict[str, str]) -> None:
    private = load_pem_private_key(OURS["private_key"].encode(), password=None)
    assert isinstance(private, RSAPrivateKey)
    key = read_token_key(OURS["token_key"])
    assert key is not None
    rules = TokenRules(key, UUID(case["campaign"]))
    secret = TokenSecret.from_bytes(
        b"".join(bytes.fromhex(case[part]) for part in ("nonce", "salt", "factor"))
    )
    request = rules.request(secret)
    assert to_text(request) == case["request"]
    response = BlindSigner(private).sign(blinded_message_in(request, key))
    assert to_text(response) == case["response"]
    token = rules.token(secret, response)
    assert to_text(token) == case["token"]
    assert to_text(report_id_of(token)) == case["report_id"]
    assert rules.is_valid(token)


@pytest.mark.parametrize("case", OURS["refused_tokens"], ids=lambda case: case["why"])
def test_refused_tokens_of_the_vectors(case: dict[str, str]) -> None:
    key = read_token_key(OURS["token_key"])
    assert key is not None

    assert not TokenRules(key, UUID(case["campaign"])).is_valid(bytes.fromhex(case["token"]))


def test_a_signature_has_one_spelling() -> None:
    """The id is a hash of it: a second spelling would be a second report with the same token."""
    private = load_pem_private_key(OURS["private_key"].encode(), password=None)
    assert isinstance(private, RSAPrivateKey)
    rules = TokenRules(TokenKey(private.public_key()), CAMPAIGN)
    n = private.public_key().public_numbers().n
    tried = 0
    for token in (issued(rules, private) for _ in range(60)):
        before, signature = token[:-MODULUS_BYTES], token[-MODULUS_BYTES:]
        number = int.from_bytes(signature)
        assert not rules.is_valid(before + (n - number).to_bytes(MODULUS_BYTES))
        assert not rules.is_valid(before + b"\0" + signature)
        if number + n < 256**MODULUS_BYTES:
            assert not rules.is_valid(before + (number + n).to_bytes(MODULUS_BYTES))
            tried += 1
    assert tried


@pytest.mark.parametrize("case", OURS["refused_keys"], ids=lambda case: case["why"])
def test_refused_keys_of_the_vectors(case: dict[str, str]) -> None:
    assert read_token_key(case["token_key"]) is None


@pytest.mark.parametrize("name", OURS["broken_head_lists"])
def test_a_list_with_a_key_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="token_key"):
        read_signed_head_list(OURS["broken_head_lists"][name])


@pytest.mark.parametrize("name", ["signed_head_list", "signed_head_list_without_relay"])
def test_a_list_names_the_key_of_its_tokens(name: str) -> None:
    signed = read_signed_head_list(OURS[name])

    assert signed.head_list.token_key == OURS["token_key"]


def test_a_secret_is_read_as_it_was_stored() -> None:
    secret = TokenSecret.draw(KEY)

    assert TokenSecret.from_bytes(secret.to_bytes()) == secret
    assert "0" not in repr(secret).replace("()", "")


def test_a_key_is_read_as_it_was_written() -> None:
    read = read_token_key(KEY.text)

    assert read is not None
    assert read.encoded == KEY.encoded


def test_a_token_is_valid_in_its_campaign_only() -> None:
    token = issued(RULES)

    assert len(token) == TOKEN_BYTES
    assert RULES.is_valid(token)
    assert not TokenRules(KEY, OTHER_CAMPAIGN).is_valid(token)
    assert report_id_of(token) == hashlib.sha256(token[-256:]).digest()[:16]


def test_a_token_of_another_issuer_is_not_valid() -> None:
    other = read_signing_key(draw_signing_key())
    foreign = issued(TokenRules(TokenKey(other.public_key()), CAMPAIGN), other)

    assert not RULES.is_valid(foreign)


def test_no_bit_of_a_token_may_change() -> None:
    token = issued(RULES)

    for place in range(0, TOKEN_BYTES * 8, 7):
        changed = bytearray(token)
        changed[place // 8] ^= 1 << place % 8
        assert not RULES.is_valid(bytes(changed))
    assert not RULES.are_valid([token, token[:-1]])
    assert not RULES.is_valid(b"")
    assert not RULES.is_valid(token + b"\0")


def test_one_signature_has_one_spelling() -> None:
    """s + n and n - s are no second authenticators of the same token."""
    token, n = issued(RULES), KEY.public.public_numbers().n
    s = int.from_bytes(token[-256:])

    for other in (s + n, n - s):
        if other < 2**2048:
            assert not RULES.is_valid(token[:-256] + other.to_bytes(256))


@pytest.mark.parametrize("change", [(0, 1), (1, 3), (2, 255)])
def test_a_request_for_another_type_or_key_is_refused(change: tuple[int, int]) -> None:
    request = bytearray(RULES.request(TokenSecret.draw(KEY)))
    place, bits = change
    request[place] ^= bits

    with pytest.raises(BlindSignatureError, match="this campaign"):
        blinded_message_in(bytes(request), KEY)


def test_a_request_of_another_length_is_refused() -> None:
    request = RULES.request(TokenSecret.draw(KEY))

    for wrong in (request[:-1], request + b"\0", b""):
        with pytest.raises(BlindSignatureError):
            blinded_message_in(wrong, KEY)


def test_an_answer_signed_with_a_key_for_this_person_alone_is_refused() -> None:
    """An issuer cannot mark a person by another key: the device checks under the published one."""
    marked: Any = read_signing_key(draw_signing_key())
    secret = TokenSecret.draw(KEY)
    blinded = int.from_bytes(blinded_message_in(RULES.request(secret), KEY))
    below = (blinded % marked.public_key().public_numbers().n).to_bytes(256)

    with pytest.raises(BlindSignatureError):
        RULES.token(secret, BlindSigner(marked).sign(below))
