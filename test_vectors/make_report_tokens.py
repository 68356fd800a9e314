"""Writes report_tokens.json: tokens of campaigns, from plain integers and hashes alone.

The key is that of the vectors of RFC 9578: ``python test_vectors/make_report_tokens.py``.
"""

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from make_relayed_reports import (
    encrypted,
    info,
    listed_relay,
    plaintext,
    relay_description,
    relay_list,
    seed,
)
from make_signed_head_list import CAMPAIGN, Document, description, published, with_new_digest
from vector_file import HERE, write_vectors

_OF_RFC = json.loads((HERE / "rfc9578_type2.json").read_text(encoding="utf-8"))[0]
_PEM = bytes.fromhex(_OF_RFC["skS"])
_KEY = load_pem_private_key(_PEM, password=None)
assert isinstance(_KEY, RSAPrivateKey)
_D, _N = _KEY.private_numbers().d, _KEY.public_key().public_numbers().n
_ENCODED = bytes.fromhex(_OF_RFC["pkS"])


def sha256(*parts: bytes) -> bytes:
    """Return the SHA-256 of all parts, one after the other."""
    return hashlib.sha256(b"".join(parts)).digest()


def sha384(*parts: bytes) -> bytes:
    """Return the SHA-384 of all parts, one after the other."""
    return hashlib.sha384(b"".join(parts)).digest()


def letters(content: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def stream(label: str, length: int) -> bytes:
    """Return bytes that look random and are the same whenever this is run."""
    return hashlib.shake_256(f"blender-dp report tokens {label}".encode()).digest(length)


def encoded(message: bytes, salt: bytes) -> int:
    """EMSA-PSS for 2,048 bits, written out for this one size."""
    digest = sha384(bytes(8), sha384(message), salt)
    mask = b"".join(sha384(digest, count.to_bytes(4, "big")) for count in range(5))[:207]
    block = bytes(158) + b"\x01" + salt
    masked = bytes(a ^ b for a, b in zip(block, mask, strict=True))
    return int.from_bytes(bytes([masked[0] & 0x7F]) + masked[1:] + digest + b"\xbc", "big")


def signed_part(campaign: UUID, nonce: bytes) -> bytes:
    """Return the bytes of a token that are signed."""
    context = sha256(b"blender-dp report token 1\0", campaign.bytes)
    challenge = b"\x00\x02\x00\x0ablender-dp\x20" + context + b"\x00\x00"
    return b"\x00\x02" + nonce + sha256(challenge) + sha256(_ENCODED)


def case(number: int, campaign: UUID | None = None) -> dict[str, str]:
    """Return one token with everything that it is made from."""
    campaign = campaign or UUID(bytes=stream(f"campaign {number}", 16), version=4)
    nonce, salt = stream(f"nonce {number}", 32), stream(f"salt {number}", 48)
    factor = int.from_bytes(stream(f"factor {number}", 256), "big") % _N
    signed = signed_part(campaign, nonce)
    blinded = encoded(signed, salt) * pow(factor, 65537, _N) % _N
    answer = pow(blinded, _D, _N)
    signature = (answer * pow(factor, -1, _N) % _N).to_bytes(256, "big")
    request = b"\x00\x02" + sha256(_ENCODED)[-1:] + blinded.to_bytes(256, "big")
    return {
        "campaign": str(campaign),
        "nonce": nonce.hex(),
        "salt": salt.hex(),
        "factor": factor.to_bytes(256, "big").hex(),
        "request": letters(request),
        "response": letters(answer.to_bytes(256, "big")),
        "token": letters(signed + signature),
        "report_id": letters(sha256(signature)[:16]),
    }


def token_of(made: dict[str, str]) -> bytes:
    """Return the bytes of a case's token."""
    return base64.urlsafe_b64decode(made["token"] + "=" * (-len(made["token"]) % 4))


def refused_tokens() -> Iterator[dict[str, str]]:
    """Return tokens that nobody may count."""
    good = case(0)
    token, foreign = token_of(good), token_of(case(1))
    changes = {
        "another campaign": foreign,
        "another type": b"\x00\x01" + token[2:],
        "another nonce": token[:2] + bytes(32) + token[34:],
        "another key id": token[:66] + bytes(32) + token[98:],
        "another signature": token[:-256] + foreign[-256:],
        "a signature of zeros": token[:-256] + bytes(256),
        "one bit of the signature": token[:-1] + bytes([token[-1] ^ 1]),
        "n minus the signature": token[:-256]
        + (_N - int.from_bytes(token[-256:], "big")).to_bytes(256, "big"),
        "too short": token[:-1],
        "too long": token + b"\x00",
        "nothing": b"",
    }
    for why, changed in changes.items():
        yield {"why": why, "campaign": good["campaign"], "token": changed.hex()}


def refused_keys() -> Iterator[dict[str, str]]:
    """Return texts that are no key for tokens."""
    before, modulus, after = _ENCODED[:-261], _ENCODED[-261:-5], _ENCODED[-5:]
    changes = {
        "too short": _ENCODED[:-1],
        "another algorithm": before[:10] + b"\x87" + before[11:] + modulus + after,
        "a smaller modulus": before + bytes([modulus[0] & 0x7F]) + modulus[1:] + after,
        "an even modulus": before + modulus[:-1] + bytes([modulus[-1] & 0xFE]) + after,
        "another exponent": before + modulus + b"\x02\x03\x01\x00\x03",
    }
    for why, changed in changes.items():
        yield {"why": why, "token_key": letters(changed)}
    yield {"why": "with padding", "token_key": letters(_ENCODED) + "="}
    yield {"why": "another alphabet", "token_key": "+" + letters(_ENCODED)[1:]}
    yield {"why": "nothing", "token_key": ""}


def token_list(**changed: str) -> Document:
    """Return a list with a relay, whose reports need tokens."""
    return with_new_digest({**relay_list(), "token_key": letters(_ENCODED), **changed})


def token_description(**added: Any) -> Document:  # noqa: ANN401 - whatever JSON holds
    """Return what the campaign says of itself."""
    return {**relay_description(), "reports": "token", **added}


def signed(head_list: Document, described: Document) -> Document:
    """Return a list as the service signs it."""
    return published(head_list, described=described, relay=listed_relay())


def refused_by_description() -> dict[str, Document]:
    """Return well-signed lists and the description that does not permit to report against them."""
    plain, asking = relay_description(), token_description()
    other = {"address": "https://issuer.example/", "public_key": letters(_other_key())}
    elsewhere = token_description(issuer=other)
    return {
        "tokens that nobody was told of": {
            "signed": signed(token_list(), plain),
            "description": plain,
        },
        "no tokens where people were promised them": {
            "signed": signed(relay_list(), asking),
            "description": asking,
        },
        "another key than the issuer's": {
            "signed": signed(token_list(), elsewhere),
            "description": elsewhere,
        },
    }


def _other_key() -> bytes:
    modulus = bytearray(_ENCODED)
    modulus[100] ^= 1
    return bytes(modulus)


def relayed_reports() -> list[Document]:
    """Return reports with tokens that the collector counts."""
    made = []
    for number, cell in enumerate([0, 40, 80]):
        token = case(100 + number, UUID(CAMPAIGN))
        content = b"\x02" + token_of(token) + bytes([cell << 1])
        made.append(
            {
                "token": token["token"],
                "report_id": token["report_id"],
                "cell": cell,
                "ephemeral_key": letters(seed(f"ephemeral {number}")),
                "encrypted": letters(encrypted(number, content, _bound())),
            }
        )
    return made


def refused_relayed_reports() -> list[Document]:
    """Return reports that the collector does not count."""
    token, foreign = token_of(case(100, UUID(CAMPAIGN))), token_of(case(0))
    forged = token[:-1] + bytes([token[-1] ^ 1])
    cases = {
        "a token of another campaign": ("invalid-report-token", b"\x02" + foreign + b"\x06"),
        "a forged token": ("invalid-report-token", b"\x02" + forged + b"\x06"),
        "no token": ("wrong-length", plaintext(9, 3)),
        "version 1": ("unknown-version", b"\x01" + token + b"\x06"),
        "a cell that the list does not have": ("not-expressible", b"\x02" + token + b"\xa2"),
    }
    return [
        {"name": name, "fault": fault, "encrypted": letters(encrypted(9, content, _bound()))}
        for name, (fault, content) in cases.items()
    ]


def _bound() -> bytes:
    return info(CAMPAIGN, token_list()["digest"])


def broken_head_lists() -> dict[str, Document]:
    """Return lists that no reader takes."""
    return {
        f"a key that is none: {refused['why']}": signed(
            token_list(token_key=refused["token_key"]), token_description()
        )
        for refused in refused_keys()
    }


def make() -> dict[str, Any]:
    """Return the whole file."""
    return {
        "private_key": _PEM.decode(),
        "token_key": letters(_ENCODED),
        "tokens": [case(number) for number in range(8)],
        "refused_tokens": list(refused_tokens()),
        "refused_keys": list(refused_keys()),
        "description": token_description(),
        "signed_head_list": signed(token_list(), token_description()),
        "signed_head_list_without_relay": published(
            with_new_digest({k: v for k, v in token_list().items() if k != "relay"}),
            described={**description(), "reports": "token"},
        ),
        "broken_head_lists": broken_head_lists(),
        "refused_by_description": refused_by_description(),
        "relayed_reports": relayed_reports(),
        "refused_relayed_reports": refused_relayed_reports(),
    }


if __name__ == "__main__":
    write_vectors("report_tokens.json", make())
