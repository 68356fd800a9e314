"""Every decoder that reads foreign bytes, with what must hold whatever it is given.

A target takes bytes and returns, or fails: only the errors that the project declares may come out,
and what is accepted must mean the same when it is written and read again. Parquet is left out:
Arrow decodes it, and takes the memory that a file claims (docs/explanation/known-limits.md).
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import msgspec
import numpy as np
from fuzz import seeds
from fuzz.seeds import Seeds

from blender_dp.core.certificate.certify import certify
from blender_dp.core.errors import BlenderError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.relay.intake import RelayIntake
from blender_dp.server.bodies.request_body import inflate, parse_body
from blender_dp.service.http.campaign_messages import NewCampaign
from blender_dp.service.http.messages import NewContribution
from blender_dp.service.http.reports.intake import ReportIntake
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.documents.strict_json import read_object
from blender_dp.wire.published.certificate import read_certificate
from blender_dp.wire.published.estimates import read_clients, read_opt_in
from blender_dp.wire.published.head_list import head_list_document, read_head_list
from blender_dp.wire.published.release import read_release
from blender_dp.wire.relayed.batch import read_piece, read_statement, statement_document
from blender_dp.wire.relayed.encrypted_report import ReportEncryption
from blender_dp.wire.reports.packed_items import (
    ItemPacking,
    from_text,
    rows_of_texts,
    table_of,
    to_text,
)
from blender_dp.wire.reports.report import count_reports
from blender_dp.wire.service.contribution import contribution_document, read_contribution
from blender_dp.wire.service.hash_chain import require_chain
from blender_dp.wire.service.signed_head_list import read_signed_head_list
from blender_dp.wire.service.signed_log import read_log

Wanted = TypeVar("Wanted")
MOST_INFLATED = 1 << 16
_PACKINGS = [
    ItemPacking(size=size, subset_size=d)
    for size, d in [(1, 1), (2, 1), (3, 1), (10, 3), (16, 8), (60, 1), (232, 4), (300, 80)]
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One decoder."""

    read: Callable[[bytes], None]
    seeds: list[bytes]


def all_targets(made: Seeds) -> dict[str, Target]:
    """Return every target by its name."""
    lists = [_head_list(made, preset) for preset in seeds.PRESETS]
    targets = {
        "json-body": Target(read=_json, seeds=[*seeds.campaigns(), *seeds.contributions()]),
        "gzip-body": Target(read=_gzip, seeds=seeds.compressed()),
        "contribution": Target(read=_contribution, seeds=seeds.contributions()),
        "campaign": Target(read=_campaign, seeds=seeds.campaigns()),
        "packed-items": Target(read=_packed, seeds=[b"\x00" * 9, b"\x03" + b"\xff" * 60]),
        "head-list": Target(read=_listed, seeds=made.both("head_list.json")),
        "signed-head-list": Target(read=_signed_list, seeds=seeds.signed_lists()),
        "relayed-report": Target(read=_relayed_report, seeds=seeds.relayed_reports()),
        "relay-body": Target(read=_relay_body, seeds=seeds.relay_bodies()),
        "relay-statement": Target(read=_statement, seeds=seeds.relay_documents("statements")),
        "relay-piece": Target(read=_piece, seeds=seeds.relay_documents("pieces")),
        "log": Target(read=_log, seeds=seeds.logs()),
        "release": Target(read=_release, seeds=made.both("run/release.json")),
    }
    intakes = [ReportIntake(head_list, bytes(32)) for head_list in lists]
    bodies = [body for preset in seeds.PRESETS for body in made.report_bodies(preset)]
    return targets | {
        "report-body": Target(read=partial(_report_body, intakes), seeds=bodies),
        "report-lines": _file(made, "reports.jsonl", count_reports, lists, most=600),
        "opt-in": _file(made, "opt_in_estimates.json", _estimate_opt_in, lists),
        "clients": _file(made, "client_estimates.json", read_clients, lists),
        "certificate": _file(made, "certificate.json", _compute_certificate, lists),
    }


def _estimate_opt_in(path: Path, head_list: HeadList) -> object:
    return read_opt_in(path, head_list).estimate()


def _compute_certificate(path: Path, head_list: HeadList) -> None:
    found = read_certificate(path, head_list)
    found.require(certify(head_list, found.parameters, found.branch))


def _file(
    made: Seeds,
    name: str,
    reader: Callable[[Path, HeadList], object],
    lists: Sequence[HeadList],
    most: int | None = None,
) -> Target:
    def read(content: bytes) -> None:
        with _written(content, Path(name).suffix) as path:
            for head_list in lists:
                with _refused_properly():
                    reader(path, head_list)

    return Target(read=read, seeds=[content[:most] for content in made.both(name)])


def _json(content: bytes) -> None:
    with _refused_properly():
        value = parse_body(content)
        assert parse_body(msgspec.json.encode(value)) == value


def _gzip(content: bytes) -> None:
    with _refused_properly():
        assert len(inflate(content, MOST_INFLATED)) <= MOST_INFLATED


def _contribution(content: bytes) -> None:
    with _refused_properly():
        document = parse_body(content)
        _converted(document, NewContribution)
        if isinstance(document, dict):
            contribution = read_contribution(document)
            assert read_contribution(contribution_document(contribution)) == contribution


def _campaign(content: bytes) -> None:
    with _refused_properly():
        wanted = _converted(parse_body(content), NewCampaign)
        if wanted is not None:
            wanted.campaign(UUID(int=1), datetime(2026, 11, 16, tzinfo=UTC))


def _report_body(intakes: Sequence[ReportIntake], content: bytes) -> None:
    for intake in intakes:
        with _refused_properly():
            assert intake.check(content).ids


def _packed(content: bytes) -> None:
    """Three readers of the same bytes must agree: of one, of many, and of counts."""
    packing = _PACKINGS[content[0] % len(_PACKINGS)] if content else _PACKINGS[0]
    text = content[1:].decode("latin-1")
    single, rows = from_text(text, packing.length), rows_of_texts([text], packing.length)
    assert (single is None) == (rows is None)
    report = content[1 : 1 + packing.length]
    if len(report) < packing.length:
        return
    assert from_text(to_text(report), packing.length) == report
    table = np.frombuffer(report, dtype=np.uint8).reshape(1, -1)
    one, many, counts = packing.items_of(report), packing.items(table), packing.counts(table)
    if one is None:
        assert many is None
        assert counts is None
        return
    assert many is not None
    assert counts is not None
    assert list(one) == many[0].tolist() == np.flatnonzero(counts).tolist()
    assert packing.pack(table_of(one, packing.size)).tobytes() == report


def _listed(content: bytes) -> None:
    with _written(content, ".json") as path, _refused_properly():
        head_list = read_head_list(path)
        again = canonical(head_list_document(head_list))
        with _written(again, ".json") as second:
            assert canonical(head_list_document(read_head_list(second))) == again


def _signed_list(content: bytes) -> None:
    with _refused_properly():
        read_signed_head_list(read_object("the head list", content))


@cache
def _encryption() -> ReportEncryption:
    signed = read_signed_head_list(seeds.relay_vectors()["signed_head_list"])
    return ReportEncryption(signed.head_list, campaign=signed.campaign, digest=signed.digest)


def _relayed_report(content: bytes) -> None:
    """Nothing can be read but what was encrypted for the list."""
    with _refused_properly():
        _encryption().decrypt(content, seeds.COLLECTOR_KEY)
        assert content in seeds.relayed_reports()


def _relay_body(content: bytes) -> None:
    signed = seeds.relay_vectors()["signed_head_list"]
    digest, key = signed["head_list"]["digest"], signed["relay"]["encryption_key"]
    with _refused_properly():
        found = RelayIntake(digest, key, seeds.REPORT_LENGTH).check(content)
        assert found
        assert {len(one) for one in found} == {seeds.REPORT_LENGTH}


def _statement(content: bytes) -> None:
    with _refused_properly():
        document = read_object("the relay's statement", content)
        signed = read_statement(document)
        again = statement_document(signed.statement, seeds.RELAY_KEY)
        assert canonical(again) == canonical(document)


def _piece(content: bytes) -> None:
    with _refused_properly():
        piece = read_piece(read_object("the relay's statement", content), seeds.REPORT_LENGTH)
        assert len(piece.encrypted) == seeds.REPORT_LENGTH * piece.statement.size_of(piece.piece)


def _log(content: bytes) -> None:
    with _refused_properly():
        entries, _ = read_log(read_object("the log", content))
        require_chain(entries)


def _release(content: bytes) -> None:
    with _written(content, ".json") as path, _refused_properly():
        read_release(path)


def _head_list(made: Seeds, preset: str) -> HeadList:
    return read_head_list(made.directory / preset / "head_list.json")


def _converted(value: object, wanted: type[Wanted]) -> Wanted | None:
    try:
        return msgspec.convert(value, wanted, strict=True)
    except msgspec.ValidationError:
        return None


@contextmanager
def _refused_properly() -> Iterator[None]:
    """Let a declared refusal pass; every other error is what fuzzing looks for."""
    try:
        yield
    except BlenderError as error:
        if not str(error).strip():
            raise AssertionError("a refusal without a word") from error


@contextmanager
def _written(content: bytes, suffix: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=_fast_directory()) as directory:
        path = Path(directory) / f"given{suffix}"
        path.write_bytes(content)
        yield path


def _fast_directory() -> str | None:
    """Return where files cost no disk, if there is such a place."""
    memory = Path("/dev/shm")  # noqa: S108 - a private folder is made in it
    return str(memory) if memory.is_dir() else None
