"""Noise of a campaign, drawn once: the same however often its list is computed.

Whoever restores a database, or copies it, may compute a campaign's list again. Fresh noise over the
same records would spend everybody's budget a second time, so the noise is derived: from the key
that decrypts the records, and from a fingerprint of everything that the list is computed from. The
same data give the same list. Other data give independent noise, and the key vault refuses them once
a result is recorded (``record_draw``). When the key is
destroyed the list cannot be computed again.
"""

import hashlib
from collections.abc import Sequence

import msgspec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import Record
from blender_dp.service.campaign import Campaign
from blender_dp.service.campaign_description import description
from blender_dp.wire.documents.document import canonical

ALGORITHM = 1
"""Raise it when the same coins would give another list: old and new noise stay independent."""
_BYTES = 32


class Fingerprint:
    """Digest of a campaign's description and of everybody's records.

    Records count as they were given, not as they are stored: somebody who sends the same records
    to a restored database again, encrypted anew, changes nothing.
    """

    def __init__(self, campaign: Campaign) -> None:
        self._digest = hashlib.sha256()
        self._add(canonical(description(campaign)))

    def add(self, enrolment: bytes, records: Sequence[Record]) -> None:
        """Add the next contribution; the store gives them in the order of their enrolments."""
        self._add(enrolment)
        self._add(msgspec.msgpack.encode(records))

    def randomness(self, records_key: bytes) -> Randomness:
        """Return the campaign's only source of noise.

        Args:
            records_key: The key under which the contributions were encrypted. It is there before
                the first of them, so that every copy that can read them derives the same noise.
        """
        purpose = f"blender-dp noise of the curator {ALGORITHM}\0".encode()
        derived = HKDF(SHA256(), _BYTES, salt=None, info=purpose + self._digest.digest())
        return Randomness.keyed(derived.derive(records_key))

    def _add(self, part: bytes) -> None:
        self._digest.update(len(part).to_bytes(8, "big"))  # so that no two lists of parts are equal
        self._digest.update(part)
