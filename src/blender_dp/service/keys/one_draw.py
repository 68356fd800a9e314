"""Noise of a campaign: the same every time its list is computed.

A campaign's list may be computed again on a restored or copied database. Fresh noise over the same
records would spend every user's budget a second time. So the noise is derived: from the key
that decrypts the records, and from a fingerprint of everything that the list is computed from: the
data, and the public constants of the noise. The same data give the same list. Other data or other
constants give independent noise, and the key vault refuses them once a result is recorded
(``record_draw``). When the key is destroyed the list cannot be computed again.

If two versions drew noise of different widths from the same random bits, one would be a multiple of
the other, and the exact sums would follow from both.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from blender_dp.core.certificate.certificate import Certificate
from blender_dp.core.curator.discovery import GAUSS_ADVANTAGE
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import Record
from blender_dp.core.parameters import Parameters
from blender_dp.service.campaign import Campaign
from blender_dp.service.campaign_description import description
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.published.parameters import parameters_document

ALGORITHM = 3
"""Raise it when the same random bits would give another list: the noise is then independent. A test
pins the list of fixed records."""
_BYTES = 32


class Fingerprint:
    """Digest of a campaign's description, of what is known and of all users' records.

    The plain records are digested, not the encrypted ones: a user who sends the same records again
    to a restored database does not change the digest.
    """

    def __init__(self, campaign: Campaign) -> None:
        self._digest = hashlib.sha256()
        self._add(canonical(description(campaign)))

    def add_known(self, release: bytes) -> None:
        """Add the release whose records are known, before any contribution."""
        self._add(release)

    def add(self, enrolment: bytes, records: Sequence[Record]) -> None:
        """Add the next contribution; the store returns them in the order of their enrolments."""
        self._add(enrolment)
        self._add(msgspec.msgpack.encode(records))

    def randomness(
        self, records_key: bytes, parameters: Parameters, plan: Certificate
    ) -> Randomness:
        """Return the campaign's only source of noise.

        Args:
            records_key: The key under which the contributions were encrypted. It exists before the
                first contribution, so that every copy that can decrypt them derives the same noise.
            parameters: Those that the list is drawn with, with the share that is used.
            plan: The certificate of these parameters, which has all constants of the noise.
        """
        purpose = f"blender-dp noise of the curator {ALGORITHM}\0".encode()
        drawn_by = hashlib.sha256(canonical(_drawn_by(parameters, plan))).digest()
        derived = HKDF(SHA256(), _BYTES, salt=None, info=purpose + self._digest.digest() + drawn_by)
        return Randomness.keyed(derived.derive(records_key))

    def _add(self, part: bytes) -> None:
        self._digest.update(len(part).to_bytes(8, "big"))  # where a part ends
        self._digest.update(part)


def _drawn_by(parameters: Parameters, plan: Certificate) -> Mapping[str, Any]:
    """Return what decides the noise besides the data: shares, widths, thresholds, branch rule."""
    return {
        "parameters": parameters_document(parameters),
        "gauss_advantage": repr(GAUSS_ADVANTAGE),
        "constants": [
            {part.release: {name: str(value) for name, value in part.constants.items()}}
            for account in plan.accounts
            for part in account.parts
        ],
    }
