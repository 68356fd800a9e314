"""Writes relayed_reports.json: what relay clients, a relay and a collector exchange.

HPKE is written out here from X25519, HMAC and AES-GCM (RFC 9180, base mode), with fixed ephemeral
keys, so that the file checks every library: ``python test_vectors/make_relayed_reports.py``.
"""

import hashlib
import hmac
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from make_signed_head_list import (
    CAMPAIGN,
    OTHER_CAMPAIGN,
    Document,
    canonical,
    description,
    flipped,
    good_list,
    key,
    letters,
    published,
    resigned,
    with_new_digest,
)
from vector_file import write_vectors

from blender_dp.core.certificate.shuffle import largest_report_epsilon
from blender_dp.core.parameters import exact

CELLS = 81
"""Forty queries with two cells each, and one cell for everything else."""
LEAST_BATCH, HONEST = 20_000, 16_000
ADDRESS = "https://relay.example/shuffle/"


def x25519(name: str) -> X25519PrivateKey:
    """Return a key that anybody can make."""
    return X25519PrivateKey.from_private_bytes(seed(name))


def seed(name: str) -> bytes:
    """Return 32 bytes that belong to a name."""
    return hashlib.sha256(f"blender-dp test vector {name}".encode()).digest()


def extract(suite: bytes, salt: bytes, label: bytes, content: bytes) -> bytes:
    """LabeledExtract of RFC 9180."""
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + content, "sha256")


def expand(suite: bytes, secret: bytes, label: bytes, info: bytes, length: int) -> bytes:
    """LabeledExpand of RFC 9180, for at most 32 bytes."""
    labeled = length.to_bytes(2) + b"HPKE-v1" + suite + label + info
    return hmac.digest(secret, labeled + b"\x01", "sha256")[:length]


def encrypt(ephemeral: X25519PrivateKey, public: bytes, info: bytes, plaintext: bytes) -> bytes:
    """Encrypt in base mode: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM."""
    enc = ephemeral.public_key().public_bytes_raw()
    shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(public))
    kem, suite = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x01"
    extracted = extract(kem, b"", b"eae_prk", shared)
    secret = expand(kem, extracted, b"shared_secret", enc + public, 32)
    context = b"\x00" + extract(suite, b"", b"psk_id_hash", b"")
    context += extract(suite, b"", b"info_hash", info)
    scheduled = extract(suite, secret, b"secret", b"")
    aes = expand(suite, scheduled, b"key", context, 16)
    nonce = expand(suite, scheduled, b"base_nonce", context, 12)
    return enc + AESGCM(aes).encrypt(nonce, plaintext, b"")


def public(name: str) -> str:
    """Return the text of a relay's public key."""
    return letters(key(name).public_key().public_bytes_raw())


def listed_relay(**changed: str) -> Document:
    """Return the object ``relay`` of the signed list."""
    encryption_key = letters(x25519("collector").public_key().public_bytes_raw())
    made = {"address": ADDRESS, "public_key": public("relay"), "encryption_key": encryption_key}
    return {**made, **changed}


def relay_mechanism(**changed: Any) -> Document:  # noqa: ANN401 - whatever JSON holds
    """Return how relay clients report, at the largest ε0 that keeps the promise."""
    report_epsilon = largest_report_epsilon(
        CELLS, HONEST, epsilon=exact(4.0), delta=exact(1e-5), cap=exact(8.0)
    )
    return {
        "name": "relayed-response",
        "version": 1,
        "epsilon": "4.0",
        "delta": "1e-05",
        "report_epsilon": repr(float(report_epsilon)),
        "least_batch": LEAST_BATCH,
        "dishonest": "0.2",
        **changed,
    }


def relay_list(**changed: Any) -> Document:  # noqa: ANN401 - whatever JSON holds
    """Return the list, with changes of its relay mechanism."""
    return with_new_digest({**good_list(), "relay": relay_mechanism(**changed)})


def relay_description(**changed: Any) -> Document:  # noqa: ANN401 - whatever JSON holds
    """Return what the campaign says of itself, with changes of its relay."""
    relay = {
        "address": ADDRESS,
        "public_key": public("relay"),
        "least_batch": LEAST_BATCH,
        "epsilon_cap": "8.0",
        "dishonest": "0.2",
        **changed,
    }
    return {**description(), "relay": relay}


def signed(head_list: Document | None = None, **relay: str) -> Document:
    """Return the list as the service signs it, with changes of the relay that it names."""
    listed = head_list or relay_list()
    return published(listed, described=relay_description(), relay=listed_relay(**relay))


def broken_head_lists() -> dict[str, Document]:
    """Return lists that no reader takes."""
    good = signed()
    without = {name: value for name, value in good.items() if name != "relay"}
    return {
        "the relay was left out after signing": without,
        "a relay mechanism without a relay": resigned(without),
        "a relay without a relay mechanism": published(good_list(), relay=listed_relay()),
        "an address changed after signing": {
            **good,
            "relay": listed_relay(address="https://other.example/"),
        },
        "an encryption key changed after signing": {
            **good,
            "relay": listed_relay(encryption_key=letters(seed("stranger"))),
        },
        "an address without a slash at its end": signed(address="https://relay.example"),
        "an address with credentials": signed(address="https://me:too@relay.example/"),
        "an address with a query": signed(address="https://relay.example/?a=b"),
        "an address with a fragment": signed(address="https://relay.example/#a"),
        "an address with capital letters": signed(address="https://RELAY.example/"),
        "an address of another scheme": signed(address="ftp://relay.example/"),
        "a short encryption key": signed(encryption_key=letters(bytes(31))),
        "a padded public key": signed(public_key=public("relay") + "="),
        "a field too many": resigned({**good, "relay": {**good["relay"], "note": ""}}),
    }


def refused_by_description() -> dict[str, Document]:
    """Return well-signed lists and the description that does not permit to report against them."""

    def described(**changed: str) -> Document:
        shown = relay_description(**changed)
        listed = published(relay_list(), described=shown, relay=listed_relay())
        return {"signed": listed, "description": shown}

    plain = published(relay_list(), relay=listed_relay())
    return {
        "another address": described(address="https://other.example/"),
        "another public key": described(public_key=public("stranger")),
        "a relay that nobody was told of": {"signed": plain, "description": description()},
    }


def refused_by_policy() -> dict[str, Document]:
    """Return lists that are in order in form, and whose relay promise is not kept."""
    report_epsilon = float(relay_mechanism()["report_epsilon"])
    return {
        "an ε0 too large for the promise": signed(
            relay_list(report_epsilon=repr(report_epsilon + 0.02))
        ),
        "a batch too small for the promise": signed(relay_list(least_batch=LEAST_BATCH - 600)),
        "more dishonest clients than promised": signed(relay_list(dishonest="0.22")),
    }


def info(campaign: str, digest: str) -> bytes:
    """Return what binds a report to its campaign and list."""
    bound = UUID(campaign).bytes + bytes.fromhex(digest.removeprefix("sha256:"))
    return b"blender-dp relayed report 1\0" + bound


def plaintext(number: int, cell: int, version: int = 1) -> bytes:
    """Return a report before its encryption: the cell takes seven bits and a zero."""
    return bytes([version]) + seed(f"report {number}")[:16] + bytes([cell << 1])


def encrypted(number: int, content: bytes, bound: bytes | None = None) -> bytes:
    """Return a report as a device sends it."""
    recipient = x25519("collector").public_key().public_bytes_raw()
    bound = bound or info(CAMPAIGN, relay_list()["digest"])
    return encrypt(x25519(f"ephemeral {number}"), recipient, bound, content)


def reports() -> list[Document]:
    """Return reports that the collector counts."""
    return [
        {
            "report_id": letters(seed(f"report {number}")[:16]),
            "cell": cell,
            "plaintext": plaintext(number, cell).hex(),
            "ephemeral_key": letters(seed(f"ephemeral {number}")),
            "encrypted": letters(encrypted(number, plaintext(number, cell))),
        }
        for number, cell in enumerate([0, 1, 40, 79, 80])
    ]


def refused_reports() -> list[Document]:
    """Return reports that the collector does not count."""
    digest, good = relay_list()["digest"], plaintext(9, 3)
    whole = encrypted(9, good)
    cases = {
        "another campaign": ("not-for-this-list", encrypted(9, good, info(OTHER_CAMPAIGN, digest))),
        "another list": (
            "not-for-this-list",
            encrypted(9, good, info(CAMPAIGN, good_list()["digest"])),
        ),
        "no binding": ("not-for-this-list", encrypted(9, good, b"none")),
        "a changed key": ("not-for-this-list", bytes([whole[0] ^ 1]) + whole[1:]),
        "a key of small order": ("not-for-this-list", bytes(32) + whole[32:]),
        "a changed tag": ("not-for-this-list", whole[:-1] + bytes([whole[-1] ^ 1])),
        "a byte too few": ("wrong-length", encrypted(9, good[:-1])),
        "a byte too many": ("wrong-length", encrypted(9, good + b"\0")),
        "nothing": ("wrong-length", b""),
        "version 0": ("unknown-version", encrypted(9, plaintext(9, 3, version=0))),
        "version 2": ("unknown-version", encrypted(9, plaintext(9, 3, version=2))),
        "a cell that the list does not have": ("not-expressible", encrypted(9, plaintext(9, 81))),
        "a fill bit": ("not-expressible", encrypted(9, good[:-1] + b"\x07")),
    }
    return [
        {"name": name, "fault": fault, "encrypted": letters(content)}
        for name, (fault, content) in cases.items()
    ]


def stated(statement: Document, signer: str = "relay") -> Document:
    """Return a statement signed as a relay would, whatever it says."""
    message = b"blender-dp relay statement 1\0" + canonical(statement)
    return {
        "version": 1,
        "statement": statement,
        "public_key": public(signer),
        "signature": letters(key(signer).sign(message)),
    }


def forwarded(**changed: Any) -> Document:  # noqa: ANN401 - whatever JSON holds
    """Return the statement about the five reports in three pieces."""
    sent = b"".join(encrypted(i, plaintext(i, cell)) for i, cell in enumerate([0, 1, 40, 79, 80]))
    return {
        "campaign": CAMPAIGN,
        "head_list": relay_list()["digest"],
        "count": 5,
        "pieces": 3,
        "digest": "sha256:" + hashlib.sha256(sent).hexdigest(),
        **changed,
    }


def destroyed(**changed: Any) -> Document:  # noqa: ANN401 - whatever JSON holds
    """Return the statement about a batch that was too small."""
    shared = {"campaign": CAMPAIGN, "head_list": relay_list()["digest"], "count": 3}
    return {**shared, "destroyed": True, **changed}


def statements() -> list[Document]:
    """Return statements, good and broken."""
    good = stated(forwarded())
    cases = {
        "forwarded": (True, good),
        "destroyed": (True, stated(destroyed())),
        "destroyed, none": (True, stated(destroyed(count=0))),
        "another signature": (False, {**good, "signature": flipped(good["signature"])}),
        "the signature of another key": (
            False,
            {**good, "signature": stated(forwarded(), "stranger")["signature"]},
        ),
        "another count than was signed": (False, {**good, "statement": forwarded(count=6)}),
        "another version": (False, {**good, "version": 2}),
        "a field too many": (False, {**good, "note": ""}),
        "a statement's field too many": (False, stated(forwarded(note=""))),
        "both forwarded and destroyed": (False, stated(forwarded(destroyed=True))),
        "not destroyed": (False, stated(destroyed(destroyed=False))),
        "none forwarded": (False, stated(forwarded(count=0))),
        "no pieces": (False, stated(forwarded(pieces=0))),
        "an empty piece": (False, stated(forwarded(pieces=4))),
        "a piece too large": (False, stated(forwarded(count=20_001, pieces=2))),
        "a campaign that is no id": (False, stated(forwarded(campaign="campaign 1"))),
        "a digest that is none": (False, stated(forwarded(digest="sha256:0"))),
    }
    return [
        {"name": name, "is_good": is_good, "document": document}
        for name, (is_good, document) in cases.items()
    ]


def pieces() -> list[Document]:
    """Return pieces of a batch, good and broken."""
    texts, statement = [report["encrypted"] for report in reports()], stated(forwarded())
    last = {**statement, "piece": 2, "reports": texts[4:]}
    cases = {
        "the first piece": (True, {**statement, "piece": 0, "reports": texts[:2]}),
        "the last piece": (True, last),
        "a piece that is not there": (False, {**last, "piece": 3}),
        "a piece before the first": (False, {**last, "piece": -1}),
        "a report too many": (False, {**last, "reports": texts[3:]}),
        "no report": (False, {**last, "reports": []}),
        "a report of another length": (False, {**last, "reports": [texts[4] + "AA"]}),
        "a report in another spelling": (False, {**last, "reports": [texts[4] + "="]}),
        "a report that is no text": (False, {**last, "reports": [7]}),
        "a piece of a destroyed batch": (
            False,
            {**stated(destroyed()), "piece": 0, "reports": texts[:3]},
        ),
        "a field too many": (False, {**last, "note": ""}),
    }
    return [
        {"name": name, "is_good": is_good, "document": document}
        for name, (is_good, document) in cases.items()
    ]


def main() -> None:
    """Write the file."""
    vectors = {
        "campaign": CAMPAIGN,
        "collector_key": letters(seed("collector")),
        "relay_key": letters(seed("relay")),
        "report_length": 66,
        "description": relay_description(),
        "signed_head_list": signed(),
        "broken_head_lists": broken_head_lists(),
        "refused_by_description": refused_by_description(),
        "refused_by_policy": refused_by_policy(),
        "reports": reports(),
        "refused_reports": refused_reports(),
        "statements": statements(),
        "pieces": pieces(),
    }
    write_vectors("relayed_reports.json", vectors)


if __name__ == "__main__":
    main()
