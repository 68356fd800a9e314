"""Reports whose content is known, and books of what became of each of them."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from blender_dp.core.channels.report import Question, Report
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.core.population import ReportCounts
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.reports.report import report_document
from blender_dp.wire.reports.report_files import shared_fields
from blender_dp.wire.reports.service_report import question_of

_DRAWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A request that will be sent until it is acknowledged, or given up."""

    ids: list[bytes]
    body: bytes


@dataclass(slots=True)
class Books:
    """What was drawn, sent and acknowledged."""

    head_list: HeadList
    content: dict[bytes, Report] = field(default_factory=dict)
    """What each report ever sent names."""
    acknowledged: set[bytes] = field(default_factory=set)
    _drawn: dict[Question, list[tuple[Report, str]]] = field(default_factory=dict)
    _shared: str = ""
    _random: Random = field(default_factory=Random)

    def __post_init__(self) -> None:
        device = LocalRandomizer(self.head_list)
        shared = shared_fields(self.head_list)
        self._shared = _without_braces(shared)
        for _ in range(_DRAWN):
            report = device.report(None, None)
            told = report_document(self.head_list, report).items() - shared.items()
            drawn = self._drawn.setdefault(report.question, [])
            drawn.append((report, _without_braces(dict(told))))

    def upload(self, count: int) -> Upload:
        """Return new reports: one as it is sent alone, more as a batch."""
        ids = [os.urandom(16) for _ in range(count)]
        reports = ",".join(f"{{{self._fields(report_id)}}}" for report_id in ids)
        fields = f'"reports":[{reports}]' if count > 1 else reports[1:-1]
        return Upload(ids=ids, body=f"{{{self._shared},{fields}}}".encode())

    def _fields(self, report_id: bytes) -> str:
        drawn = self._drawn[question_of(report_id, self.head_list)]
        self.content[report_id], told = self._random.choice(drawn)
        return f'"report_id":"{to_text(report_id)}",{told}'

    def assert_agree(self, stored: Iterable[bytes], counts: ReportCounts) -> None:
        """Fail if an acknowledged report is lost or any report counts other than once."""
        kept = set(stored)
        lost = self.acknowledged - kept
        assert not lost, f"{len(lost)} of {len(self.acknowledged)} acknowledged reports are lost"
        assert kept <= self.content.keys(), "there are reports that nobody sent"
        for question, found, reports in (
            ("record", counts.cells, counts.cell_reports),
            ("query", counts.queries, counts.query_reports),
        ):
            own = [r for i in kept if (r := self.content[i]).question == question]
            named = np.array([item for report in own for item in report.items], dtype=np.int64)
            assert reports == len(own), f"{reports} counted, {len(own)} known"
            assert found.tolist() == np.bincount(named, minlength=len(found)).tolist()


def _without_braces(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields)[1:-1]
