"""A release is taken only if the list's signature, the log and every digest hold."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from client.stand_in import CAMPAIGN, KEY, OTHER_CAMPAIGN, OTHER_KEY, START, described_by
from core.small_result import REPORTS, small_result

from blender_dp.client.checked_log import check_log, digests_in_log
from blender_dp.client.released import FILES, fetch_released
from blender_dp.client.released_result import released_result
from blender_dp.client.transport import Answer
from blender_dp.core.certificate.certify import certify, certify_curated
from blender_dp.core.errors import BlenderError
from blender_dp.core.population import ReportCounts
from blender_dp.wire.documents.document import canonical, digest_of_bytes, with_digest
from blender_dp.wire.published.certificate import certificate_document
from blender_dp.wire.published.estimates import client_document, opt_in_document
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.published.release import release_document
from blender_dp.wire.service.hash_chain import entry
from blender_dp.wire.service.signatures import public_key_of
from blender_dp.wire.service.signed_head_list import signed_head_list_document
from blender_dp.wire.service.signed_log import log_document

RESULT = small_result()
LIST = RESULT.head_list
CERTIFICATE = certificate_document(certify_curated(RESULT.curated))
RELEASE = json.loads(
    canonical(release_document(RESULT, CERTIFICATE, created="2026-11-15T09:00:00Z"))
)
COUNTS = ReportCounts(
    cells=REPORTS, cell_reports=int(REPORTS.sum()), queries=REPORTS[:0], query_reports=0
)
DOCUMENTS = {
    "opt-in-estimates": opt_in_document(RESULT.curated),
    "client-estimates": client_document(LIST, COUNTS),
    "certificate": CERTIFICATE,
    "release": RELEASE,
}
PAGE = 2


class Published:
    """A service that released a campaign; tests break one thing of it."""

    def __init__(self, *earlier: dict[str, Any]) -> None:
        """Publish all of a campaign after what ``earlier`` says happened before."""
        listed = head_list_document(LIST)
        own: list[dict[str, Any]] = [
            {"kind": "campaign", "digest": "sha256:" + "0" * 64},
            {"kind": "head-list", "digest": listed["digest"]},
            {"kind": "release", "digest": digest_of_bytes(canonical(RELEASE))},
        ]
        self.entries: list[dict[str, Any]] = []
        for hour, what in enumerate([*earlier, *own]):
            last = self.entries[-1] if self.entries else None
            time = START + timedelta(hours=hour)
            self.entries.append(entry(last, **{"campaign": CAMPAIGN, "time": time, **what}))
        self.log_key = self.list_key = KEY
        self.campaign = CAMPAIGN
        self.list_entry = self.entries[-2]
        self.listed = listed
        self.documents: dict[str, Any] = dict(DOCUMENTS)

    def send(
        self, method: str, path: str, *, body: bytes | None = None, token: str | None = None
    ) -> Answer:
        assert (method, body, token) == ("GET", None, None)
        return Answer(status=200, content=json.dumps(self.document(path)).encode())

    def document(self, path: str) -> dict[str, Any]:
        if path.startswith("log?from="):
            start = int(path.partition("=")[2])
            before = self.entries[start - 1] if start else None
            return log_document(self.entries[start : start + PAGE], self.log_key, before)
        place = path.removeprefix(f"campaigns/{CAMPAIGN}/")
        if place == "head-list":
            return signed_head_list_document(
                self.listed,
                self.list_entry,
                campaign=self.campaign,
                description=described_by(CAMPAIGN),
                key=self.list_key,
            )
        found: dict[str, Any] = self.documents[place]
        return found


def test_what_holds_is_taken() -> None:
    released = fetch_released(Published(), CAMPAIGN, key=public_key_of(KEY))
    assert set(released.documents) == {"head_list.json", *FILES}
    assert released.public_key == public_key_of(KEY)


@pytest.mark.parametrize(
    ("kind", "campaign"),
    [("head-list", OTHER_CAMPAIGN), ("campaign", CAMPAIGN)],
    ids=["another campaign has an equal list", "another kind has the digest"],
)
def test_an_entry_of_something_else_with_the_same_digest_is_passed_over(
    kind: str, campaign: UUID
) -> None:
    digest = head_list_document(LIST)["digest"]
    service = Published({"kind": kind, "campaign": campaign, "digest": digest})
    assert fetch_released(service, CAMPAIGN).documents["release.json"] == RELEASE


@pytest.mark.parametrize(
    ("kind", "campaign"), [("release", OTHER_CAMPAIGN), ("campaign", CAMPAIGN)]
)
def test_a_release_that_was_logged_as_something_else_is_refused(kind: str, campaign: UUID) -> None:
    theirs = {**RELEASE, "confidence": 0.2}
    digest = digest_of_bytes(canonical(theirs))
    service = Published({"kind": kind, "campaign": campaign, "digest": digest})
    service.documents["release"] = theirs
    with pytest.raises(BlenderError, match="the release is not in the log"):
        fetch_released(service, CAMPAIGN)


def another_list_key(service: Published) -> None:
    service.list_key = OTHER_KEY


def another_log_key(service: Published) -> None:
    service.log_key = OTHER_KEY


def another_campaign(service: Published) -> None:
    service.campaign = OTHER_CAMPAIGN
    service.list_entry = entry(
        None,
        kind="head-list",
        campaign=OTHER_CAMPAIGN,
        digest=service.listed["digest"],
        time=START,
    )


def an_entry_that_the_log_does_not_have(service: Published) -> None:
    service.list_entry = entry(
        None, kind="head-list", campaign=CAMPAIGN, digest=service.listed["digest"], time=START
    )


def no_list_in_the_log(service: Published) -> None:
    service.entries = service.entries[:1]


def no_release_in_the_log(service: Published) -> None:
    service.entries = service.entries[:2]


def a_changed_release(service: Published) -> None:
    service.documents["release"] = {**RELEASE, "confidence": 0.9500000001}


def a_changed_log(service: Published) -> None:
    service.entries[2] = {**service.entries[2], "digest": "sha256:" + "1" * 64}


@pytest.mark.parametrize(
    ("attack", "sentence"),
    [
        (another_list_key, "the log is signed with another key"),
        (another_log_key, "the log is signed with another key"),
        (another_campaign, "that of another campaign"),
        (an_entry_that_the_log_does_not_have, "names another log entry"),
        (no_list_in_the_log, "the head list is not in the log"),
        (no_release_in_the_log, "the release is not in the log"),
        (a_changed_release, "the release is not in the log"),
        (a_changed_log, "entry 2 of the log was changed"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_does_not_hold_is_refused(attack: Callable[[Published], None], sentence: str) -> None:
    service = Published()
    attack(service)
    with pytest.raises(BlenderError, match=sentence):
        fetch_released(service, CAMPAIGN)


def with_new_digest(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    changed = {**document, **changes}
    del changed["digest"]
    return with_digest(changed)


def changed_under_the_old_digest(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "private": not document["private"]}


def of_another_list(document: dict[str, Any]) -> dict[str, Any]:
    return with_new_digest(document, head_list="sha256:" + "1" * 64)


def another_format(document: dict[str, Any]) -> dict[str, Any]:
    return with_new_digest(document, format="blender-dp head list")


def without_anything(_document: dict[str, Any]) -> dict[str, Any]:
    return {}


@pytest.mark.parametrize("name", ["opt-in-estimates", "client-estimates", "certificate"])
@pytest.mark.parametrize(
    "change", [changed_under_the_old_digest, of_another_list, another_format, without_anything]
)
def test_a_document_that_the_log_does_not_name_must_belong_to_the_list(
    name: str, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    service = Published()
    service.documents[name] = change(DOCUMENTS[name])
    with pytest.raises(BlenderError, match=rf"^{name.replace('-', '_')}\.json\b"):
        fetch_released(service, CAMPAIGN)


def a_report_more(document: dict[str, Any]) -> dict[str, Any]:
    first, *others = document["report_counts"]
    return with_new_digest(document, report_counts=[first + 1, *others])


def another_noisy_count(document: dict[str, Any]) -> dict[str, Any]:
    first, *others = document["noisy_counts"]
    return with_new_digest(document, noisy_counts=[first + 1, *others])


def another_promise(_document: dict[str, Any]) -> dict[str, Any]:
    return certificate_document(certify(LIST, replace(RESULT.parameters, delta=1e-6)))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("client-estimates", a_report_more),
        ("opt-in-estimates", another_noisy_count),
        ("certificate", another_promise),
    ],
)
def test_the_release_must_be_what_the_other_documents_give(
    name: str, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    service = Published()
    service.documents[name] = change(DOCUMENTS[name])
    with pytest.raises(
        BlenderError, match=r"release\.json: does not follow from the released integers"
    ):
        fetch_released(service, CAMPAIGN)


def test_certificate_and_release_of_a_promise_that_the_integers_do_not_have_are_refused() -> None:
    other = another_promise({})
    documents = {name: DOCUMENTS[place] for name, place in FILES.items()}
    documents |= {
        "head_list.json": head_list_document(LIST),
        "certificate.json": other,
        "release.json": {**RELEASE, "certificate": other},
    }
    with pytest.raises(BlenderError, match=r"certificate\.json.* is not what the head list"):
        released_result(documents)


def documents_with(discovery: dict[str, Any]) -> dict[str, Any]:
    documents = {name: DOCUMENTS[place] for name, place in FILES.items()}
    released = {**RELEASE, "discovery": discovery}
    return documents | {"head_list.json": head_list_document(LIST), "release.json": released}


def test_a_release_of_an_earlier_version_says_nothing_of_known_records() -> None:
    said = RELEASE["discovery"]
    released_result(documents_with({k: v for k, v in said.items() if k != "known_elsewhere"}))
    for wrong in ({**said, "known_elsewhere": True}, {**said, "users": said["users"] + 1}):
        with pytest.raises(BlenderError, match="does not follow from the released integers"):
            released_result(documents_with(wrong))


def test_a_given_key_must_have_signed_the_list() -> None:
    with pytest.raises(BlenderError, match="the head list is signed with another key"):
        fetch_released(Published(), CAMPAIGN, key=public_key_of(OTHER_KEY))


def test_a_log_changes_its_key_in_no_piece() -> None:
    entries = Published().entries
    pieces = [log_document(entries[:2], KEY), log_document(entries[2:], OTHER_KEY)]
    with pytest.raises(BlenderError, match="another key"):
        check_log(pieces)


def test_a_list_is_named_by_its_own_digest_signed_or_not() -> None:
    service = Published()
    signed = service.document(f"campaigns/{CAMPAIGN}/head-list")
    for document in (service.listed, signed):
        assert service.listed["digest"] in digests_in_log(document)
    assert service.listed["digest"] not in digests_in_log({**service.listed, "private": True})
