"""Reports that a service receives: each with an id, alone or in a batch; version 1.

The id is drawn before the report, or is a hash of the token that the report is sent with. Where
there are two questions it also decides which one the device answers
(:mod:`blender_dp.core.channels.public_coin`): no device can choose its question.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from blender_dp.core.channels.public_coin import asked_for_query, who_is_asked_for_query
from blender_dp.core.channels.report import Question, Report
from blender_dp.core.errors import BrokenInvariantError, UnknownReportError
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.wire.reports.packed_items import (
    ByteArray,
    from_text,
    pieces,
    rows_of_texts,
    to_text,
)
from blender_dp.wire.reports.report import codec_of, report_document
from blender_dp.wire.reports.report_files import shared_fields
from blender_dp.wire.tokens.report_token import TOKEN_BYTES, TokenRules, authenticator_of

ID_BYTES = 16
ID_LETTERS = 22
MOST_REPORTS = 10_000
SHARED_FIELDS = ("version", "head_list", "mechanism")
"""Fields of a single report and of a batch."""
ID_FIELD = "report_id"
TOKEN_FIELD = "token"  # noqa: S105 - a name, no secret
"""Instead of the id, in reports against a list that needs tokens."""
SUBSET_FIELDS = ("question", "items")
CELL_FIELD = "cell"


class ReportFault(StrEnum):
    """Reason for refused reports; one refused report makes the whole request refused."""

    VERSION = "unknown-report-version"
    HEAD_LIST = "another-head-list"
    MECHANISM = "another-mechanism"
    COUNT = "wrong-number-of-reports"
    REPORT_ID = "malformed-report-id"
    MALFORMED_TOKEN = "malformed-report-token"  # noqa: S105 - a fault, no secret
    NOT_SIGNED = "invalid-report-token"
    REPEATED_ID = "repeated-report-id"
    QUESTION = "unknown-question"
    NOT_ASKED = "question-not-asked"
    ITEMS = "not-expressible"


_SENTENCES = {
    ReportFault.VERSION: "version must be 1",
    ReportFault.HEAD_LIST: "the reports must be for this campaign's head list",
    ReportFault.MECHANISM: "the reports must use the head list's mechanism and its version",
    ReportFault.COUNT: f"a batch must have 1 to {MOST_REPORTS:,} reports",
    ReportFault.REPORT_ID: f"report_id must be {ID_BYTES} bytes in base64url without padding",
    ReportFault.MALFORMED_TOKEN: f"token must be {TOKEN_BYTES} bytes in base64url without padding",
    ReportFault.NOT_SIGNED: "token must be signed for this campaign with the head list's token_key",
    ReportFault.REPEATED_ID: "every report_id of a batch must be there once",
    ReportFault.QUESTION: "question must be one that the head list asks",
    ReportFault.NOT_ASKED: "question must be the one that the report_id decides",
    ReportFault.ITEMS: "items or cell must be what a device of this head list could send",
}


class RefusedReportError(UnknownReportError):
    """Refusal of reports; the message gives the rule and repeats nothing of the reports."""

    def __init__(self, fault: ReportFault) -> None:
        self.fault = fault
        super().__init__(_SENTENCES[fault])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NamedItems:
    """Items that the reports to one question name."""

    question: Question
    reports: IntArray
    """Positions of these reports in the request."""
    items: IntArray
    """One row per report: cells, or queries if only the query is reported."""


class PackedItems(NamedTuple):
    """Items of one report, in the bytes that it has."""

    question: Question
    packed: bytes


SingleItems = PackedItems | int
"""Items of a single report that are read together with those of others, or its cell."""


def question_of(report_id: bytes, head_list: HeadList) -> Question:
    """Return the question that the device with this report id answers."""
    asked = asked_for_query(report_id, head_list.mechanism.query_share)
    return "query" if asked else "record"


def report_id_of(token: bytes) -> bytes:
    """Return the id of the report that a token is sent with."""
    return hashlib.sha256(authenticator_of(token)).digest()[:ID_BYTES]


def service_report_document(head_list: HeadList, name: bytes, report: Report) -> dict[str, Any]:
    """Return one report as a device sends it to a service.

    Args:
        head_list: The list that the report is made for.
        name: The report's id, or its token if the list needs tokens.
        report: What the mechanism drew.
    """
    field = ID_FIELD if head_list.token_key is None else TOKEN_FIELD
    return {**report_document(head_list, report), field: to_text(name)}


def batch_document(head_list: HeadList, reports: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return many reports as one request: shared fields once, then the fields of each report."""
    return {**shared_fields(head_list), "reports": list(reports)}


class ReportReader:
    """Checks reports for one head list, many at once; build it once and keep it."""

    def __init__(self, head_list: HeadList, tokens: TokenRules | None = None) -> None:
        """Prepare for one list.

        Args:
            head_list: The list of the campaign.
            tokens: How its tokens are checked; None if it needs none.
        """
        if (tokens is None) != (head_list.token_key is None):
            raise BrokenInvariantError("tokens are checked exactly if the list needs them")
        self._tokens = tokens
        self._query_share = head_list.mechanism.query_share
        self._shared = shared_fields(head_list)
        self._packings = codec_of(head_list).packings(head_list)
        self._cell_count = head_list.cells.cell_count

    def require_shared(self, version: object, head_list: str, mechanism: str) -> None:
        """Refuse reports for another list, mechanism or version."""
        if type(version) is not int or version != self._shared["version"]:
            raise RefusedReportError(ReportFault.VERSION)
        if head_list != self._shared["head_list"]:
            raise RefusedReportError(ReportFault.HEAD_LIST)
        if mechanism != self._shared["mechanism"]:
            raise RefusedReportError(ReportFault.MECHANISM)

    def ids(self, texts: Sequence[str]) -> bytes:
        """Read the ids or tokens of a request's reports; return the ids one after the other."""
        if not 1 <= len(texts) <= MOST_REPORTS:
            raise RefusedReportError(ReportFault.COUNT)
        if len(texts) == 1:
            return self._id_in(texts[0])
        rows = rows_of_texts(texts, ID_BYTES) if self._tokens is None else self._ids_of(texts)
        if rows is None:
            raise RefusedReportError(ReportFault.REPORT_ID)
        if _has_a_row_twice(rows):
            raise RefusedReportError(ReportFault.REPEATED_ID)
        return rows.tobytes()

    def _ids_of(self, texts: Sequence[str]) -> ByteArray:
        """Return the ids of reports with these tokens."""
        rows = rows_of_texts(texts, TOKEN_BYTES)
        if rows is None:
            raise RefusedReportError(ReportFault.MALFORMED_TOKEN)
        tokens = pieces(rows.tobytes(), TOKEN_BYTES)
        if self._tokens is None or not self._tokens.are_valid(tokens):
            raise RefusedReportError(ReportFault.NOT_SIGNED)
        ids = b"".join(map(report_id_of, tokens))
        return np.frombuffer(ids, dtype=np.uint8).reshape(-1, ID_BYTES)

    def cells(self, cells: Sequence[int]) -> list[NamedItems]:
        """Read reports of one cell."""
        if any(type(cell) is not int or not 0 <= cell < self._cell_count for cell in cells):
            raise RefusedReportError(ReportFault.ITEMS)
        items = np.array(cells, dtype=np.int64).reshape(-1, 1)
        return [NamedItems(question="record", reports=np.arange(len(cells)), items=items)]

    def subsets(
        self, ids: bytes, questions: Sequence[str], items: Sequence[str]
    ) -> list[NamedItems]:
        """Read reports of several items, by the question that they answer."""
        if any(question not in self._packings for question in set(questions)):
            raise RefusedReportError(ReportFault.QUESTION)
        answered = np.array([question == "query" for question in questions])
        asked = who_is_asked_for_query(pieces(ids, ID_BYTES), self._query_share)
        if np.any(answered != asked):
            raise RefusedReportError(ReportFault.NOT_ASKED)
        return [
            self._answers(question, np.flatnonzero(asked == (question == "query")), items)
            for question in self._packings
            if question in questions
        ]

    def subset(self, name: str, question: str, items: str) -> tuple[bytes, "PackedItems"]:
        """Read a single report of several items; return its id, and the items unread."""
        report_id = self._id_in(name)
        asked: Question = "query" if asked_for_query(report_id, self._query_share) else "record"
        if question not in self._packings:
            raise RefusedReportError(ReportFault.QUESTION)
        if question != asked:
            raise RefusedReportError(ReportFault.NOT_ASKED)
        packed = from_text(items, self._packings[asked].length)
        if packed is None:
            raise RefusedReportError(ReportFault.ITEMS)
        return report_id, PackedItems(asked, packed)

    def cell(self, name: str, cell: int) -> bytes:
        """Read a single report of one cell; return its id."""
        report_id = self._id_in(name)
        if type(cell) is not int or not 0 <= cell < self._cell_count:
            raise RefusedReportError(ReportFault.ITEMS)
        return report_id

    def singles(self, reports: Sequence[SingleItems]) -> tuple[list[NamedItems], AbstractSet[int]]:
        """Read the items of single reports, which is faster for many at once.

        Returns:
            The items by question, and the positions of the reports that no device could send,
            which are not among the items.
        """
        cells = [report for report in reports if isinstance(report, int)]
        if cells:
            return self.cells(cells), frozenset()
        answers, wrong = list[NamedItems](), set[int]()
        packed = [report for report in reports if isinstance(report, PackedItems)]
        for question, packing in self._packings.items():
            own = [at for at, report in enumerate(packed) if report.question == question]
            if own:
                content = b"".join([packed[at].packed for at in own])
                rows = np.frombuffer(content, dtype=np.uint8).reshape(len(own), packing.length)
                items, is_valid = packing.valid_items(rows)
                places = np.array(own, dtype=np.int64)
                wrong.update(places[~is_valid].tolist())
                valid = places[is_valid]
                answers.append(NamedItems(question=question, reports=valid, items=items))
        return answers, wrong

    def _id_in(self, text: str) -> bytes:
        """Read the id or the token of one report, faster than as one of many."""
        if self._tokens is None:
            report_id = from_text(text, ID_BYTES)
            if report_id is None:
                raise RefusedReportError(ReportFault.REPORT_ID)
            return report_id
        token = from_text(text, TOKEN_BYTES)
        if token is None:
            raise RefusedReportError(ReportFault.MALFORMED_TOKEN)
        if not self._tokens.is_valid(token):
            raise RefusedReportError(ReportFault.NOT_SIGNED)
        return report_id_of(token)

    def _answers(self, question: Question, reports: IntArray, texts: Sequence[str]) -> NamedItems:
        packing = self._packings[question]
        rows = rows_of_texts([texts[report] for report in reports.tolist()], packing.length)
        named = None if rows is None else packing.items(rows)
        if named is None:
            raise RefusedReportError(ReportFault.ITEMS)
        return NamedItems(question=question, reports=reports, items=named)


def _has_a_row_twice(rows: ByteArray) -> bool:
    first_words = np.ascontiguousarray(rows).view(">u8")[:, 0]
    in_order = np.sort(first_words)
    if not np.any(in_order[1:] == in_order[:-1]):
        return False
    return len(np.unique(rows, axis=0)) < len(rows)
