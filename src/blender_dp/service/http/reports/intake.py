"""Checks of a request's reports: bytes in, countable reports or a refusal out; vectorised.

One body is a single report or a batch. A report that names nothing in the campaign's list is never
repaired: its whole request is refused.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from blender_dp.core.channels.report import Layout
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.server.bodies.request_body import ReceivedBody, explain_refusal
from blender_dp.server.problems import Problem, ProblemError, of_fault
from blender_dp.service.http.reports.checked_reports import TAG_BYTES, CheckedBodies, CheckedReports
from blender_dp.wire.reports.packed_items import pieces
from blender_dp.wire.reports.service_report import (
    ID_BYTES,
    ID_FIELD,
    MOST_REPORTS,
    TOKEN_FIELD,
    NamedItems,
    RefusedReportError,
    ReportFault,
    ReportReader,
    SingleItems,
)
from blender_dp.wire.tokens.report_token import TokenRules

MOST_SINGLE_BYTES = 1 << 16
"""Longest single report; three times the report on 100,000 cells at the smallest ε."""
MOST_BATCH_BYTES = 1 << 25
_MOST_OBJECTS = MOST_REPORTS + 1
"""JSON objects in a body: the reports, and the object around them."""


_ID, _TOKEN = {"name": ID_FIELD}, {"name": TOKEN_FIELD}
"""What the name of a report is called: its id, or its token where reports need one."""


class SubsetReport(msgspec.Struct, forbid_unknown_fields=True, gc=False, rename=_ID):
    """One report of a batch, of several items."""

    name: str
    question: str
    items: str


class SubsetTokenReport(SubsetReport, forbid_unknown_fields=True, gc=False, rename=_TOKEN):
    """One report of a batch, of several items, with a token."""

    name: str


class CellReport(msgspec.Struct, forbid_unknown_fields=True, gc=False, rename=_ID):
    """One report of a batch, of one cell."""

    name: str
    cell: int


class CellTokenReport(CellReport, forbid_unknown_fields=True, gc=False, rename=_TOKEN):
    """One report of a batch, of one cell, with a token."""

    name: str


class _Envelope(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Fields that a single report and a batch share."""

    version: int
    head_list: str
    mechanism: str


class SubsetBody(_Envelope, forbid_unknown_fields=True, kw_only=True, rename=_ID):
    """A single report or a batch, of several items each."""

    name: str | UnsetType = UNSET
    question: str | UnsetType = UNSET
    items: str | UnsetType = UNSET
    reports: list[SubsetReport] | UnsetType = UNSET


class SubsetTokenBody(SubsetBody, forbid_unknown_fields=True, kw_only=True, rename=_TOKEN):
    """A single report or a batch, of several items each, with tokens."""

    name: str | UnsetType = UNSET
    reports: list[SubsetTokenReport] | UnsetType = UNSET  # type: ignore[assignment]


class CellBody(_Envelope, forbid_unknown_fields=True, kw_only=True, rename=_ID):
    """A single report or a batch, of one cell each."""

    name: str | UnsetType = UNSET
    cell: int | UnsetType = UNSET
    reports: list[CellReport] | UnsetType = UNSET


class CellTokenBody(CellBody, forbid_unknown_fields=True, kw_only=True, rename=_TOKEN):
    """A single report or a batch, of one cell each, with tokens."""

    name: str | UnsetType = UNSET
    reports: list[CellTokenReport] | UnsetType = UNSET  # type: ignore[assignment]


_Bodies = Mapping[Layout, type[SubsetBody | CellBody]]
_BODIES: _Bodies = {"cell": CellBody, "items": SubsetBody}
_TOKEN_BODIES: _Bodies = {"cell": CellTokenBody, "items": SubsetTokenBody}
_SHARED_MARKS = 2 * (len(_Envelope.__struct_fields__) + 2)
"""Quotation marks around the names of the shared fields and around their two texts."""


class _Single(NamedTuple):
    """A single report whose items may still be wrong."""

    report_id: bytes
    tag: bytes
    items: SingleItems


class ReportIntake:
    """Checks the reports of one campaign; made once from its list and kept."""

    def __init__(
        self, head_list: HeadList, tag_key: bytes, tokens: TokenRules | None = None
    ) -> None:
        """Prepare for one campaign.

        Args:
            head_list: Its list.
            tag_key: The key of the reports' tags.
            tokens: How its tokens are checked; None if its reports need none.
        """
        bodies = _BODIES if tokens is None else _TOKEN_BODIES
        self._reader = ReportReader(head_list, tokens)
        self._decoder = msgspec.json.Decoder(bodies[head_list.mechanism.layout])
        self._tagger = hashlib.blake2b(key=tag_key, digest_size=TAG_BYTES)

    def receive(self, body: ReceivedBody) -> CheckedReports:
        """Return the items that the reports of a body name; inflate the body if needed.

        The number of objects is checked before any is decoded.
        """
        return self.check(body.plain(MOST_BATCH_BYTES, _MOST_OBJECTS))

    def check(self, body: bytes) -> CheckedReports:
        """Return the items that a body's reports name, with ids and tags."""
        checked = self.check_each([body])
        outcome = checked.others.get(0)
        if isinstance(outcome, ProblemError):
            raise outcome
        return outcome or replace(checked.singles, are_singles=False)

    def check_each(self, bodies: Sequence[bytes]) -> CheckedBodies:
        """Check bodies together, each by itself: a refusal concerns its own body only."""
        singles, others = dict[int, _Single](), dict[int, CheckedReports | ProblemError]()
        for at, body in enumerate(bodies):
            try:
                found = self._read(body)
            except ProblemError as error:
                others[at] = error
            except RefusedReportError as refusal:
                others[at] = of_fault(refusal.fault)
            else:
                if isinstance(found, _Single):
                    singles[at] = found
                else:
                    others[at] = found
        answers, wrong = self._reader.singles([single.items for single in singles.values()])
        if wrong:
            for at in [at for place, at in enumerate(singles) if place in wrong]:
                others[at] = of_fault(ReportFault.ITEMS)
                del singles[at]
            answers, _ = self._reader.singles([single.items for single in singles.values()])
        ids = b"".join([single.report_id for single in singles.values()])
        tags = b"".join([single.tag for single in singles.values()])
        reports = CheckedReports(ids=ids, tags=tags, answers=answers, are_singles=True)
        return CheckedBodies(singles=reports, others=others)

    def _read(self, body: bytes) -> _Single | CheckedReports:
        try:
            decoded = self._decoder.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise explain_refusal(body) from None
        if decoded.reports is UNSET and len(body) > MOST_SINGLE_BYTES:
            raise Problem.BODY_TOO_LARGE.error()
        self._reader.require_shared(decoded.version, decoded.head_list, decoded.mechanism)
        if isinstance(decoded, CellBody):
            return self._cell(body, decoded)
        return self._subset(body, decoded)

    def _subset(self, body: bytes, decoded: SubsetBody) -> _Single | CheckedReports:
        name, question, items = decoded.name, decoded.question, decoded.items
        if decoded.reports is not UNSET:
            if not name is question is items is UNSET:
                raise Problem.BODY_NOT_UNDERSTOOD.error()
            return self._subsets(body, decoded.reports)
        if name is UNSET or question is UNSET or items is UNSET:
            raise Problem.BODY_NOT_UNDERSTOOD.error()
        report_id, packed = self._reader.subset(name, question, items)
        _require_keys_once(body, texts=3, names=3, reports=1, is_batch=False)
        return _Single(report_id, self._tag(report_id, items.encode()), packed)

    def _cell(self, body: bytes, decoded: CellBody) -> _Single | CheckedReports:
        name, cell = decoded.name, decoded.cell
        if decoded.reports is not UNSET:
            if not name is cell is UNSET:
                raise Problem.BODY_NOT_UNDERSTOOD.error()
            return self._cells(body, decoded.reports)
        if name is UNSET or cell is UNSET:
            raise Problem.BODY_NOT_UNDERSTOOD.error()
        report_id = self._reader.cell(name, cell)
        _require_keys_once(body, texts=1, names=2, reports=1, is_batch=False)
        return _Single(report_id, self._tag(report_id, b"%d" % cell), cell)

    def _subsets(self, body: bytes, reports: Sequence[SubsetReport]) -> CheckedReports:
        ids = self._reader.ids([report.name for report in reports])
        questions = [report.question for report in reports]
        items = [report.items for report in reports]
        answers = self._reader.subsets(ids, questions, items)
        _require_keys_once(body, texts=3, names=3, reports=len(reports), is_batch=True)
        return self._add_tags(ids, map(str.encode, items), answers)

    def _cells(self, body: bytes, reports: Sequence[CellReport]) -> CheckedReports:
        ids = self._reader.ids([report.name for report in reports])
        answers = self._reader.cells([report.cell for report in reports])
        _require_keys_once(body, texts=1, names=2, reports=len(reports), is_batch=True)
        return self._add_tags(ids, [b"%d" % report.cell for report in reports], answers)

    def _add_tags(
        self, ids: bytes, contents: Iterable[bytes], answers: Sequence[NamedItems]
    ) -> CheckedReports:
        tags = b"".join(map(self._tag, pieces(ids, ID_BYTES), contents))
        return CheckedReports(ids=ids, tags=tags, answers=answers)

    def _tag(self, report_id: bytes, content: bytes) -> bytes:
        # The id is in the tag, so that equal contents have different tags. The question is not:
        # the id decides it.
        tagger = self._tagger.copy()  # faster than to begin with the key again
        tagger.update(report_id + content)
        return tagger.digest()


def _require_keys_once(
    body: bytes, *, texts: int, names: int, reports: int, is_batch: bool
) -> None:
    """Refuse a body in which a key comes twice, by counting quotation marks.

    The decoder keeps the last of two equal keys, so it does not see them. All names are known and
    all texts are letters and digits, as checked before. So a body without repeated keys has exactly
    this number of marks.
    """
    marks = _SHARED_MARKS + 2 * is_batch + 2 * (texts + names) * reports
    if body.count(b'"') != marks:
        raise Problem.DUPLICATE_KEY.error()
