"""The benchmark workloads are the data that the published numbers were measured on."""

import hashlib
from collections.abc import Callable

import numpy as np
import pytest

from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.engine.synthetic.draws import Columns
from blender_dp.engine.synthetic.workloads import aol_multi, aol_single

USERS = 2000

# Test vectors, made with numpy 2.4 beside workload.py, the benchmark's own definition, by
COMMAND = """python -c "
import hashlib, workload
for make in workload.aol_single, workload.aol_multi:
    for seed, nq in (0, 50_000), (1, 50_000), (2, 50_000), (0, 4_800_000), (1, 4_800_000):
        columns = make(n=2000, seed=seed, nq=nq)
        digest = hashlib.sha256(b''.join(column.tobytes() for column in columns))
        print(make.__name__, seed, nq, digest.hexdigest())"
"""
SINGLE = {
    (0, 50_000): "6337d5f95efbac95fd3ae6f8c478bb9a92dcca38b5e5258f43e7313c2503c950",
    (1, 50_000): "0765e4d7f2e802591f96ae8b6de16c128bd573f4052efbd791546b76242bcb71",
    (2, 50_000): "a976cdccb97535601601532f27b163096b10b0e6e4cdb499b9275772ac284eed",
    (0, 4_800_000): "7bf14e8868231ab9f639a02abfb7651b4146f14094530f08a6410e9502a29e3a",
}
MULTI = {
    (0, 50_000): "0456493dd633c9fd5deccc7c052fa7ad2af6757664fb123d31e72f6c39bbecf8",
    (1, 50_000): "59c2fc2d722e922f16954cbc462e808f1e134d1701c3064eee3e170c27e50d78",
    (2, 50_000): "b8269a5ef374a360d156ec8f8e811423ffb53314c6761094cb60d532ea36b881",
    (1, 4_800_000): "6724766ab72839e35b83c97803fced0ec9c7c7db244d43a0bfe869765eb00c37",
}


def digest(columns: Columns) -> str:
    parts = (columns.user, columns.query, columns.url)
    return hashlib.sha256(b"".join(column.astype("<i8").tobytes() for column in parts)).hexdigest()


@pytest.mark.parametrize(("seed", "queries"), SINGLE)
def test_aol_single_is_the_published_workload(seed: int, queries: int) -> None:
    assert digest(aol_single(USERS, seed, queries)) == SINGLE[seed, queries]


@pytest.mark.parametrize(("seed", "queries"), MULTI)
def test_aol_multi_is_the_published_workload(seed: int, queries: int) -> None:
    assert digest(aol_multi(USERS, seed, queries)) == MULTI[seed, queries]


def test_one_changed_id_changes_the_digest() -> None:
    columns = aol_single(USERS, 0, 50_000)
    columns.query[-1] += 1
    assert digest(columns) != SINGLE[0, 50_000]


@pytest.mark.parametrize(
    ("shape", "seed", "workload"),
    [(Shape.AOL_SINGLE, 0, aol_single), (Shape.AOL_MULTI, 1, aol_multi)],
)
def test_the_shapes_are_the_workloads(
    shape: Shape, seed: int, workload: Callable[[int, int], Columns]
) -> None:
    log = synthesize(shape, USERS, seed)
    expected = workload(USERS, seed)
    assert np.array_equal(log.user, expected.user)
    assert np.array_equal(log.query, expected.query)
    assert np.array_equal(log.url, expected.url)
