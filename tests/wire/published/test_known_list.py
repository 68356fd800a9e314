"""Known lists: read from a release or from a table, or refused with one sentence."""

import json
from pathlib import Path
from typing import Any

import pytest
from core.small_result import small_result

from blender_dp.core.certificate.certify import certify_curated
from blender_dp.core.errors import InputError
from blender_dp.core.head_list.head_list import NO_URL, Record
from blender_dp.core.head_list.known_list import NOTHING_KNOWN, KnownList
from blender_dp.wire.published.certificate import certificate_document
from blender_dp.wire.published.known_list import read_known
from blender_dp.wire.published.release import release_document


def test_nothing_is_known_without_a_file() -> None:
    assert read_known(None) is NOTHING_KNOWN
    assert not NOTHING_KNOWN


RESULT = small_result()
CERTIFICATE = certificate_document(certify_curated(RESULT.curated))
RELEASE = release_document(RESULT, CERTIFICATE, created="2026-11-18T00:00:00+00:00")


def known_in(folder: Path, document: dict[str, Any]) -> KnownList:
    path = folder / "release.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return read_known(path)


def test_the_listed_records_of_a_release_are_known(tmp_path: Path) -> None:
    found = known_in(tmp_path, RELEASE)
    assert list(found.records) == list(RESULT.head_list.records())
    assert found.private is RESULT.private


def test_a_release_says_which_records_passed_its_threshold(tmp_path: Path) -> None:
    """Half of the records with just the count that is listed pass, if all of them had to."""
    discovery = RELEASE["discovery"]
    half = known_in(tmp_path, RELEASE).half_listed
    assert half == pytest.approx(discovery["threshold"] / discovery["users"], rel=0.05)
    older = {name: of for name, of in discovery.items() if name != "known_elsewhere"}
    for other in ({**discovery, "known_elsewhere": True}, older, None):
        assert known_in(tmp_path, {**RELEASE, "discovery": other}).half_listed is None


def test_the_queries_of_a_release_without_records_are_known(tmp_path: Path) -> None:
    rest = [row for row in RELEASE["records"] if row["cell"] != "record"]
    found = known_in(tmp_path, {**RELEASE, "records": rest})
    assert found.records == (Record("a", NO_URL), Record("b", NO_URL))
    assert found.of_queries
    assert not known_in(tmp_path, RELEASE).of_queries
    assert found.name == str(tmp_path / "release.json")


@pytest.mark.parametrize("urls", [[NO_URL, NO_URL], [NO_URL, "1"], ["1", "2"]])
def test_a_list_without_any_url_names_queries_of_a_log_with_urls(urls: list[str]) -> None:
    known = KnownList.of(Record(f"q{i}", url) for i, url in enumerate(urls))
    with_urls, without = (known.for_log(has_urls=has_urls) for has_urls in (True, False))
    assert with_urls.records == known.records
    assert with_urls.of_queries is (set(urls) == {NO_URL})
    assert without.records == (Record("q0", NO_URL), Record("q1", NO_URL))
    assert not without.of_queries


def test_a_table_from_elsewhere_is_known(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.csv"
    path.write_text('price,url,query\n1,"a,b",tea\n2,x,coffee\n2,x,coffee\n', encoding="utf-8-sig")
    assert read_known(path).records == (Record("coffee", "x"), Record("tea", "a,b"))
    assert read_known(str(path)).private


def test_a_table_of_one_level_needs_no_url(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("query\ntea\ncoffee\n", encoding="utf-8")
    assert read_known(path).records == (Record("coffee", NO_URL), Record("tea", NO_URL))


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", "must name the columns query and url, or query alone, in its first line"),
        (b"query;url\na;b\n", "must name the columns query and url, or query alone"),
        (b"query,url\na\n", "line 2: every line must have a query and a URL"),
        (b"query,url\na,\n", "line 2: every line must have a query and a URL"),
        (b"query,url\n  ,b\n", "line 2: every line must have a query and a URL"),
        (b"query\n \n", "line 2: every line must have a query and a URL"),
        (b"query,url\na,b\n,b\n", "line 3: every line must have a query and a URL"),
        (b"query,url\na,b\nc,\n", "line 3: every line must have a query and a URL"),
        (b"user,query,url\n1,a,b\n", "must not have the log's column of users: a raw log is not"),
        (b"U_SER,query,url\n1,a,b\n", "must not have the log's column of users"),
        (b"query,url\n\xff,b\n", "must be CSV in UTF-8"),
        (b'query,url\n"a,b\n', "must be CSV in UTF-8"),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, content: bytes, rule: str) -> None:
    path = tmp_path / "known.csv"
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_known(path)
    assert rule in str(refused.value)


def test_a_log_is_told_by_the_name_of_its_column_of_users(tmp_path: Path) -> None:
    path = tmp_path / "known.csv"
    path.write_text("account,query\n1,a\n", encoding="utf-8")
    assert read_known(path).records == (Record("a", NO_URL),)
    with pytest.raises(InputError, match="must not have the log's column of users"):
        read_known(path, user="account")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    for name in ("none.csv", "none.json"):
        with pytest.raises(InputError, match="no such file"):
            read_known(tmp_path / name)
