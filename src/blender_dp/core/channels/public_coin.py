"""Public coin: decides which clients report the query only; anyone can check it."""

import hashlib
import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from blender_dp.core.channels.local_alg import WORD
from blender_dp.core.channels.report import Question
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import BoolArray
from blender_dp.core.parameters import exact

_DOMAIN = b"blender-dp public coin 1\0"


def asked_for_query(campaign_id: str | bytes, query_share: float) -> bool:
    """Tell whether the client with this id of a campaign is asked for its query only.

    The first 64 bits of SHA-256 of a fixed text and the id (a text as UTF-8) are compared with
    floor(φ·2^64), so that device and server agree without a message.

    >>> asked_for_query("client 1", 0.0)
    False
    """
    name = campaign_id.encode() if isinstance(campaign_id, str) else campaign_id
    first_word = int.from_bytes(hashlib.sha256(_DOMAIN + name).digest()[:8])
    return first_word < _threshold(query_share)


def who_is_asked_for_query(campaign_ids: Sequence[bytes], query_share: float) -> BoolArray:
    """Tell for many clients at once which are asked for their query only."""
    digests = b"".join([hashlib.sha256(_DOMAIN + name).digest() for name in campaign_ids])
    first_words = np.frombuffer(digests, dtype=">u8")[:: hashlib.sha256().digest_size // 8]
    # φ is below 1, so the threshold fits 64 bits too.
    asked: BoolArray = first_words < np.uint64(_threshold(query_share))
    return asked


def question_for(
    query_share: float, campaign_id: str | bytes | None, randomness: Randomness
) -> Question:
    """Return the question of one client, if a share ``query_share`` is asked for the query only.

    Privacy: the question does not depend on the client's data, so it costs nothing. Without an id
    the device draws the coin itself. The report then states its question, and nobody can check that
    it was the one drawn.
    """
    if campaign_id is None:
        asked = randomness.bits(64) < _threshold(query_share)
    else:
        asked = asked_for_query(campaign_id, query_share)
    return "query" if asked else "record"


@cache
def _threshold(query_share: float) -> int:
    return math.floor(exact(query_share) * WORD)
