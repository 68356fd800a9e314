"""Files that are damaged, cut off, or not what their name says, are refused."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Refusal = Callable[..., str]

PLANTED = "xyzzy"  # what refusal_of looks for
CUT_OFF = "the compressed data ends early; the file may be cut off"
DAMAGED = "the compressed data is damaged"
NO_PARQUET = "it is not a complete Parquet file; it may be cut off or damaged"

TSV = b"user\tquery\turl\n"
ROW = f"u{PLANTED}\tq{PLANTED}\tw{PLANTED}\n".encode()
PACKED = gzip.compress(TSV + ROW * 20_000 + b"".join(b"%d\tq\tw\n" % i for i in range(20_000)))
ZSTD = bytes(pa.Codec("zstd").compress(TSV + ROW * 20_000, asbytes=True))


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        ("half.tsv.gz", PACKED[: len(PACKED) // 2], CUT_OFF),
        ("last-byte.tsv.gz", PACKED[:-1], CUT_OFF),
        ("trailer.tsv.gz", PACKED[:-8], CUT_OFF),
        ("checksum.tsv.gz", PACKED[:-8] + b"\0\0\0\0" + PACKED[-4:], DAMAGED),
        ("junk-after.tsv.gz", PACKED + b"junk", DAMAGED),
        ("half.tsv.zst", ZSTD[: len(ZSTD) // 2], CUT_OFF),
        ("last-byte.tsv.zst", ZSTD[:-1], CUT_OFF),
        ("junk-after.tsv.zst", ZSTD + b"junk", DAMAGED),
    ],
)
def test_compressed_data_must_be_whole(
    tmp_path: Path, refusal_of: Refusal, name: str, content: bytes, rule: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert refusal_of(path) == f"{path}: {rule}"


@pytest.mark.parametrize("place", [100, 1_000, 10_000])
def test_damage_in_the_middle_of_compressed_data_is_found(
    tmp_path: Path, refusal_of: Refusal, place: int
) -> None:
    path = tmp_path / "log.tsv.gz"
    path.write_bytes(PACKED[:place] + b"\xff" * 8 + PACKED[place + 8 :])
    # Which of the two it is depends on what the decoder makes of the rest.
    assert refusal_of(path) in {f"{path}: {DAMAGED}", f"{path}: {CUT_OFF}"}


def test_compressed_csv_must_be_whole_too(tmp_path: Path, refusal_of: Refusal) -> None:
    path = tmp_path / "log.csv.zst"
    content = bytes(
        pa.Codec("zstd").compress((TSV + ROW * 20_000).replace(b"\t", b","), asbytes=True)
    )
    path.write_bytes(content[:-1])
    assert refusal_of(path) == f"{path}: {CUT_OFF}"


def parquet_bytes(path: Path, query: pa.Array) -> bytes:
    table = pa.table({"user": [PLANTED] * len(query), "query": query, "url": ["w"] * len(query)})
    pq.write_table(table, path, compression="none", use_dictionary=False)
    return path.read_bytes()


def test_a_damaged_parquet_file_is_refused(tmp_path: Path, refusal_of: Refusal) -> None:
    path = tmp_path / "log.parquet"
    content = parquet_bytes(path, pa.array([f"{PLANTED}{i}" for i in range(1000)]))
    damages = {
        "cut off": content[: len(content) // 2],
        "footer": content[:-60] + b"\xff" * 40 + content[-20:],
        "page": content[:4] + b"\xff" * 60 + content[64:],
    }
    for damaged in damages.values():
        path.write_bytes(damaged)
        assert refusal_of(path) == f"{path}: {NO_PARQUET}"


def test_bytes_in_parquet_that_are_no_text_are_refused(tmp_path: Path, refusal_of: Refusal) -> None:
    path = tmp_path / "log.parquet"
    parquet_bytes(path, pa.array([PLANTED.encode() + b"\xff"]))
    rule = "a text in it is not UTF-8; store bytes that are not text as another type"
    assert refusal_of(path) == f"{path}: {rule}"


def test_the_columns_of_a_parquet_file_are_listed(tmp_path: Path, refusal_of: Refusal) -> None:
    good = tmp_path / "1.parquet"
    pq.write_table(pa.table({"user": ["u"], "query": ["q"], "url": ["w"]}), good)
    bad = tmp_path / "2.parquet"
    pq.write_table(pa.table({"uid": [PLANTED], "q": [PLANTED], "link": [PLANTED]}), bad)
    rule = "there is no column user, only uid, q, link; choose with --user"
    assert refusal_of(tmp_path) == f"{bad}: {rule}"
