"""What opt-in users upload: what is written is what is read, and every rule refuses."""

import copy
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire.lists import AWKWARD

from blender_dp.core.errors import InputError
from blender_dp.core.head_list.head_list import Record
from blender_dp.wire.documents.strict_json import read_object
from blender_dp.wire.service.contribution import (
    _OTHER_SCHEME,
    ConsentReceipt,
    Contribution,
    consent_digest,
    contribution_document,
    read_contribution,
)

GIVEN_AT = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
RECEIPT = ConsentReceipt(version="2", text_digest=consent_digest("I agree – é★"), given_at=GIVEN_AT)
GOOD = contribution_document(
    Contribution(consent=RECEIPT, records=(Record("weather", "w.example"), Record("★", "*")))
)
CANARY = "canary-7f3a"


def is_taken(url: str) -> bool:
    return _OTHER_SCHEME.match(url) is None


texts = (st.text(min_size=1, max_size=30) | st.sampled_from(AWKWARD)).filter(bool)
contributions = st.builds(
    Contribution,
    consent=st.builds(
        ConsentReceipt,
        version=st.text(min_size=1, max_size=100),
        text_digest=st.builds(consent_digest, st.text(max_size=30)),
        given_at=st.datetimes(
            min_value=datetime(1000, 1, 1),  # noqa: DTZ001 - hypothesis wants it so
            timezones=st.just(UTC),
        ).map(lambda time: time.replace(microsecond=0)),
    ),
    records=st.lists(st.builds(Record, texts, texts.filter(is_taken)), max_size=5).map(tuple),
)


@given(contributions)
def test_what_is_written_is_what_is_read(contribution: Contribution) -> None:
    sent = json.dumps(contribution_document(contribution), ensure_ascii=False).encode()
    assert read_contribution(read_object("x", sent)) == contribution


def test_a_user_without_records_contributes_too() -> None:
    assert read_contribution({**GOOD, "records": []}).records == ()


def test_milliseconds_as_browsers_write_them_are_read() -> None:
    document = copy.deepcopy(GOOD)
    document["consent"]["given_at"] = "2026-11-15T12:00:00.250Z"
    assert read_contribution(document).consent.given_at.microsecond == 250_000


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    document: dict[str, Any] = copy.deepcopy(GOOD)
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "rule"),
    [
        (("extra",), CANARY, "must have the fields"),
        (("version",), True, "version must be 1"),
        (("version",), 2, "version must be 1"),
        (("version",), 1.0, "version must be 1"),
        (("consent",), [CANARY], "consent must have the fields"),
        (("consent", "extra"), CANARY, "consent must have the fields"),
        (("consent", "version"), "", "1 to 100 letters"),
        (("consent", "version"), CANARY * 10, "1 to 100 letters"),
        (("consent", "version"), 7, "1 to 100 letters"),
        (("consent", "version"), "\ud800", "1 to 100 letters"),
        (("consent", "text_digest"), "sha256:" + "A" * 64, "text_digest"),
        (("consent", "text_digest"), "sha256:" + "a" * 63, "text_digest"),
        (("consent", "text_digest"), None, "text_digest"),
        (("consent", "given_at"), "2026-11-15T12:00:00+01:00", "given_at"),
        (("consent", "given_at"), "2026-02-30T12:00:00Z", "given_at"),
        (("consent", "given_at"), "٢٠٢٦-11-15T12:00:00Z", "given_at"),
        (("consent", "given_at"), 1234, "given_at"),
        (("records",), None, "list of at most 10,000"),
        (("records",), [{"query": "q", "url": "u"}] * 10_001, "list of at most 10,000"),
        (("records", 1), CANARY, "record 1 must have"),
        (("records", 1, "extra"), CANARY, "record 1 must have"),
        (("records", 1, "query"), "", "record 1: query must be 1 to 2,048 bytes"),
        (("records", 1, "query"), "é" * 1_025, "record 1: query must be 1 to 2,048 bytes"),
        (("records", 1, "url"), "u" * 8_193, "record 1: url must be 1 to 8,192 bytes"),
        (("records", 1, "url"), None, "record 1: url must be a text"),
        (("records", 1, "query"), CANARY + "\ud800", "record 1: query must be a text"),
    ],
)
def test_a_contribution_that_breaks_a_rule_is_refused(
    path: tuple[Any, ...], value: Any, rule: str
) -> None:
    with pytest.raises(InputError, match=rule) as refusal:
        read_contribution(changed(path, value))
    assert CANARY not in str(refusal.value)


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", " JavaScript:x", "java\nscript:x", "\x01data:text/html,x"),
        *("file:///etc/passwd", "mailto:a@b.example", "tel:112", "chrome-extension://abc/x.html"),
    ],
)
def test_an_address_that_is_not_of_the_web_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="record 1: url must not be an address other than") as told:
        read_contribution(changed(("records", 1, "url"), url))
    assert url not in str(told.value)


@pytest.mark.parametrize(
    "url",
    ["https://a.example/x:y", "HTTP://a.example", "a.example", "a.example:8080/x", "Texas", "3:4"],
)
def test_web_addresses_and_other_texts_are_taken(url: str) -> None:
    assert read_contribution(changed(("records", 1, "url"), url)).records[1].url == url


@pytest.mark.parametrize("missing", ["version", "consent", "records"])
def test_no_field_may_be_missing(missing: str) -> None:
    with pytest.raises(InputError, match="must have the fields"):
        read_contribution({name: value for name, value in GOOD.items() if name != missing})


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b'{"a":1,"a":1}', "no key twice"),
        (b'{"a":{"b":1,"b":2}}', "no key twice"),
        (b'{"a":NaN}', "no NaN"),
        (b'{"a":-Infinity}', "no NaN"),
        (b"\xff", "UTF-8"),
        (b"[1]", "JSON object"),
        (b"{", "must be JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' + b"[" * 40 + b"]" * 40 + b"}", "nested too deeply"),
        (b'{"a":' + b"9" * 5_000 + b"}", "number that is too long"),
        (b'{"a":1e999}', "no infinite number"),
        (b'{"a":"\\ud800"}', "no half characters"),
    ],
)
def test_json_with_more_than_one_meaning_is_refused(content: bytes, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        read_object("the upload", content)
