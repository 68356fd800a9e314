"""Checks of a request's encrypted reports: bytes in, ciphertexts or a refusal out."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from blender_dp.server.bodies.request_body import ReceivedBody, explain_refusal
from blender_dp.server.problems import Problem
from blender_dp.wire.relayed.encrypted_report import VERSION
from blender_dp.wire.reports.packed_items import from_text, pieces, rows_of_texts
from blender_dp.wire.reports.service_report import MOST_REPORTS

MOST_BYTES = 1 << 21
"""Longest body: twice the largest batch."""
_SHARED_MARKS = 12
"""Quotation marks of the four names, of the digest and of the key."""


class RelayBody(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A single report or a batch."""

    version: int
    head_list: str
    encryption_key: str
    report: str | UnsetType = UNSET
    reports: list[str] | UnsetType = UNSET


_DECODER = msgspec.json.Decoder(RelayBody)


class RelayIntake:
    """Checks the reports of one campaign; made once from its list and kept."""

    def __init__(self, head_list: str, encryption_key: str, report_length: int) -> None:
        self._head_list, self._key, self._length = head_list, encryption_key, report_length

    def receive(self, body: ReceivedBody) -> Sequence[bytes]:
        """Return the ciphertexts of a body; inflate the body if needed."""
        return self.check(body.plain(MOST_BYTES, 1))

    def check(self, body: bytes) -> Sequence[bytes]:
        """Return the ciphertexts of a body, or refuse it."""
        try:
            decoded = _DECODER.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise explain_refusal(body) from None
        if decoded.version != VERSION:
            raise Problem.UNKNOWN_REPORT_VERSION.error()
        if decoded.head_list != self._head_list:
            raise Problem.ANOTHER_HEAD_LIST.error()
        if decoded.encryption_key != self._key:
            raise Problem.ANOTHER_ENCRYPTION_KEY.error()
        found = self._ciphertexts(decoded)
        # The decoder keeps the last of two equal keys. All texts are letters and digits, so a body
        # without repeated keys has exactly this number of quotation marks.
        if body.count(b'"') != _SHARED_MARKS + 2 * len(found):
            raise Problem.DUPLICATE_KEY.error()
        return found

    def _ciphertexts(self, decoded: RelayBody) -> Sequence[bytes]:
        if isinstance(decoded.report, str) and decoded.reports is UNSET:
            single = from_text(decoded.report, self._length)
            if single is None:
                raise Problem.NOT_EXPRESSIBLE.error()
            return [single]
        if not isinstance(decoded.reports, list) or decoded.report is not UNSET:
            raise Problem.BODY_NOT_UNDERSTOOD.error()
        if not 1 <= len(decoded.reports) <= MOST_REPORTS:
            raise Problem.WRONG_NUMBER_OF_REPORTS.error()
        rows = rows_of_texts(decoded.reports, self._length)
        if rows is None:
            raise Problem.NOT_EXPRESSIBLE.error()
        return pieces(rows.tobytes(), self._length)
