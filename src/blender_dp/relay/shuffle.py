"""Order of a batch: a random permutation that a secret key decides.

The key is 32 random bytes, drawn when the batch is complete. Reports are sorted by a keyed hash
(BLAKE2b), which nobody without the key can tell from a uniformly random order. It depends on the
set of reports only, never on when they came. Storing the key stores the order, so that a relay that
was killed sends the same batch again.
"""

import hashlib
from collections.abc import Iterable

KEY_BYTES = 32
_TAG_BYTES = 16


def shuffled(reports: Iterable[bytes], key: bytes) -> list[bytes]:
    """Return different reports in the order that the key decides."""

    def tag(report: bytes) -> bytes:
        return hashlib.blake2b(report, key=key, digest_size=_TAG_BYTES).digest()

    return sorted(reports, key=tag)
