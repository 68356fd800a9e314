"""Files and directories that appear whole or not at all."""

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import pytest

from blender_dp.core.errors import InputError
from blender_dp.wire.documents.document import write_document
from blender_dp.wire.documents.staging import staged_directory, staged_file
from disk_waits import inode, watch_disk_waits

FAILURES = [
    OSError(28, "No space left on device"),
    KeyboardInterrupt(),
    SystemExit(1),
    ValueError(),
]


OURS = ("0.txt", "1.txt")


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write_result(directory: Path, texts: Iterable[str], *, overwrite: bool = False) -> None:
    """Write numbered files, and fail at the end if a text says so."""
    with staged_directory(directory, overwrite=overwrite, replaceable=OURS) as partial:
        for number, text in enumerate(texts):
            (partial / f"{number}.txt").write_text(text)


def fail_in(staged: AbstractContextManager[Path], name: str, failure: BaseException) -> None:
    """Write half of what is staged, then fail."""
    with staged as partial:
        (partial / name if name else partial).write_text("half")
        raise failure


def test_a_file_is_not_there_before_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    with staged_file(path) as partial:
        partial.write_text("half")
        assert not path.exists()
        partial.write_text("whole")
    assert path.read_text() == "whole"
    assert names_in(tmp_path) == ["result.json"]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_a_failure_leaves_no_file(tmp_path: Path, failure: BaseException) -> None:
    with pytest.raises(type(failure)):
        fail_in(staged_file(tmp_path / "result.json"), "", failure)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_a_failure_keeps_the_file_that_was_there(tmp_path: Path, failure: BaseException) -> None:
    path = tmp_path / "result.json"
    path.write_text("old")
    with pytest.raises(type(failure)):
        fail_in(staged_file(path), "", failure)
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["result.json"]


def test_a_document_that_cannot_be_written_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_document(tmp_path / "document.json", {"a": float("nan")})
    assert names_in(tmp_path) == []


def test_a_directory_is_not_there_before_it_is_whole(tmp_path: Path) -> None:
    directory = tmp_path / "result"
    with staged_directory(directory) as partial:
        (partial / "a.txt").write_text("a")
        assert not directory.exists()
        assert partial.parent == tmp_path
    assert names_in(tmp_path) == ["result"]
    assert names_in(directory) == ["a.txt"]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_a_failure_leaves_no_directory(tmp_path: Path, failure: BaseException) -> None:
    with pytest.raises(type(failure)):
        fail_in(staged_directory(tmp_path / "result"), "a.txt", failure)
    assert names_in(tmp_path) == []


def test_a_failure_leaves_no_parent_directories_either(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="half"):
        fail_in(staged_directory(tmp_path / "a" / "b" / "result"), "0.txt", ValueError("half"))
    assert names_in(tmp_path) == []


def test_parent_directories_are_made(tmp_path: Path) -> None:
    write_result(tmp_path / "a" / "b" / "result", ["x"])
    assert names_in(tmp_path / "a" / "b") == ["result"]


def test_an_existing_directory_is_refused_and_untouched(tmp_path: Path) -> None:
    directory = tmp_path / "result"
    write_result(directory, ["old"])
    with pytest.raises(InputError) as refusal:
        write_result(directory, ["new"])
    rule = "exists already; choose another name or pass --overwrite (in Python: overwrite=True)"
    assert str(refusal.value) == f"{directory}: {rule}"
    assert (directory / "0.txt").read_text() == "old"
    assert names_in(tmp_path) == ["result"]


def test_an_existing_directory_is_replaced_whole(tmp_path: Path) -> None:
    directory = tmp_path / "result"
    write_result(directory, ["old", "old"])
    write_result(directory, ["new"], overwrite=True)
    assert names_in(directory) == ["0.txt"]
    assert (directory / "0.txt").read_text() == "new"
    assert names_in(tmp_path) == ["result"]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_the_old_result_stays_if_the_new_one_fails(tmp_path: Path, failure: BaseException) -> None:
    directory = tmp_path / "result"
    write_result(directory, ["old"])
    with pytest.raises(type(failure)):
        fail_in(staged_directory(directory, overwrite=True, replaceable=OURS), "0.txt", failure)
    assert (directory / "0.txt").read_text() == "old"
    assert names_in(tmp_path) == ["result"]


@pytest.mark.parametrize("failing", [1, 2])
def test_the_old_result_stays_if_the_new_one_cannot_be_put_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    directory = tmp_path / "result"
    write_result(directory, ["old"])
    rename, calls = Path.rename, []

    def fail_once(self: Path, target: Path) -> Path:
        calls.append(self)
        if len(calls) == failing:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_once)
    with pytest.raises(KeyboardInterrupt):
        write_result(directory, ["new"], overwrite=True)
    assert (directory / "0.txt").read_text() == "old"
    assert names_in(tmp_path) == ["result"]


def test_a_file_in_the_way_is_replaced_or_refused_but_nothing_between(tmp_path: Path) -> None:
    place = tmp_path / "result"
    place.write_text("old")
    with suppress(InputError):
        write_result(place, ["new"], overwrite=True)
    assert place.is_file() or names_in(place) == ["0.txt"]
    assert names_in(tmp_path) == ["result"]


def test_a_link_in_the_way_is_replaced_or_refused_and_its_target_untouched(tmp_path: Path) -> None:
    target, place = tmp_path / "target", tmp_path / "result"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    place.symlink_to(target)
    with suppress(InputError):
        write_result(place, ["new"], overwrite=True)
    assert (target / "mine.txt").read_text() == "mine"
    assert names_in(tmp_path) == ["result", "target"]


@pytest.mark.parametrize("name", [".", "/"])
def test_a_place_without_a_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError), staged_directory(Path(name), overwrite=True):
        pytest.fail("nothing can be renamed to it")


def test_what_a_killed_process_left_behind_is_not_in_the_way(tmp_path: Path) -> None:
    """In a container every run has the same process id."""
    left = tmp_path / f".result.partial-{os.getpid()}"
    left.mkdir()
    (left / "half.txt").write_text("half")
    write_result(tmp_path / "result", ["whole"])
    assert names_in(tmp_path / "result") == ["0.txt"]


def test_a_file_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "result.json"
    path.write_text("old")
    waits = watch_disk_waits(monkeypatch, path.read_text)
    with staged_file(path) as partial:
        partial.write_text("new")
    assert waits == [(inode(path), "old"), (inode(tmp_path), "new")]


def test_a_directory_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "result"
    waits = watch_disk_waits(monkeypatch, directory.exists)
    with staged_directory(directory) as partial:
        (partial / "a.txt").write_text("a")
        (partial / "folder").mkdir()
        (partial / "folder" / "b.txt").write_text("b")
    inside = {inode(path) for path in (directory, *directory.rglob("*"))}
    assert {number for number, is_there in waits if not is_there} == inside
    assert [number for number, is_there in waits if is_there] == [inode(tmp_path)]
