"""Data sets of an experiment: a synthetic log, generated when needed, or a real one."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from blender_dp.engine.log import Log, Workspace
from blender_dp.engine.synthetic import Shape, SyntheticLog, synthesize
from blender_dp.engine.synthetic.shapes import DEFAULT_USERS
from blender_dp.evaluation.reproduction.top_queries import most_popular
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.log_codes import coded


class Material(NamedTuple):
    """A log in memory, and its statistics for a table."""

    log: CodedLog
    statistics: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A data set that may not be in memory yet."""

    title: str
    is_synthetic: bool
    identity: dict[str, Any]
    """Identifies the data set; part of the name of each trial."""
    make: Callable[[], Material]


def synthetic_data(shape: Shape, users: int | None = None, seed: int = 0) -> DataSet:
    """Describe a synthetic log; it is generated when trials need it, always the same."""
    users = DEFAULT_USERS[shape] if users is None else users

    def make() -> Material:
        made_up = synthesize(shape, users, seed)
        log = CodedLog.of(
            made_up.user,
            made_up.query,
            made_up.url,
            users_without_records=users - len(np.unique(made_up.user)),
        )
        # A query has URLs of its own, so that distinct records are distinct URLs.
        return Material(log, _statistics(log, urls=len(log.query), names=_names(made_up, log)))

    return DataSet(
        title=f"synthetic log of the {shape} shape, {users:,} users, seed {seed}",
        is_synthetic=True,
        identity={"synthetic": True, "shape": str(shape), "users": users, "seed": seed},
        make=make,
    )


def real_data(log: Log, workspace: Workspace) -> DataSet:
    """Read a log; its identity is a digest of its users' records, not of file names.

    Its queries have no names here: a figure must not show what a person typed.
    """
    with log.opened(workspace) as (_, source):
        size = source.bytes
    codes = coded(log, workspace)
    names = [f"query of rank {rank + 1}" for rank in range(len(most_popular(codes)))]
    urls = len(np.unique(codes.url))
    material = Material(codes, _statistics(codes, urls=urls, names=names, size=size))
    return DataSet(
        title=f"the log given, {codes.users:,} users",
        is_synthetic=False,
        identity={"synthetic": False, "users": codes.users, "digest": _digest(codes)},
        make=lambda: material,
    )


def _digest(log: CodedLog) -> str:
    whole = hashlib.sha256()
    for column in (log.first_row, log.row_record, log.query, log.url):
        whole.update(len(column).to_bytes(8, "big"))
        whole.update(np.ascontiguousarray(column, dtype="<i8").data)
    return whole.hexdigest()


def _statistics(
    log: CodedLog, *, urls: int, names: Sequence[str], size: int | None = None
) -> dict[str, Any]:
    return {
        "users": log.users,
        "records": len(log.row_record),
        "queries": int(log.query.max(initial=-1)) + 1,
        "urls": urls,
        "bytes": size,
        "top_queries": list(names),
    }


def _names(made_up: SyntheticLog, log: CodedLog) -> list[str]:
    """Return the names of the most popular queries; codes are in order of first appearance."""
    ids, first = np.unique(made_up.query, return_index=True)
    by_code = ids[np.argsort(first)]
    return [str(name) for name in made_up.query_names(by_code[most_popular(log)]).to_pylist()]
