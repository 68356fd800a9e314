"""Run on a log from Python: files, or a table of another library."""

import warnings
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from blender_dp.analysis.files import time_now
from blender_dp.analysis.result import RunResult
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.errors import ParameterError, PromiseWarning
from blender_dp.core.head_list.known_list import NOTHING_KNOWN, KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.engine.choice import EngineName
from blender_dp.engine.duckdb.readers import LogColumns
from blender_dp.engine.log import Log, Workspace
from blender_dp.engine.run import LogRun
from blender_dp.engine.run import run as run_log
from blender_dp.engine.synthetic import SyntheticLog


def run(  # noqa: PLR0913 - the public call
    log: str | Path | Sequence[str | Path] | Log | Any,  # noqa: ANN401 - a table of any library
    parameters: Parameters,
    *,
    user: str = "user",
    query: str = "query",
    url: str | None = "url",
    group: str | None = None,
    opt_in: float | None = None,
    relay: RelayRules | float = 0.0,
    known: KnownList = NOTHING_KNOWN,
    seed: int | None = None,
    engine: EngineName | None = None,
    workspace: Workspace | None = None,
) -> RunResult:
    """Find the popular records of a log; both groups are simulated from its raw records.

    Args:
        log: Files, folders or patterns; a table of pandas, polars, Arrow, DuckDB, Spark or any
            other library that narwhals reads; a synthetic log; or a :class:`Log`.
        parameters: The promise and the tuning parameters.
        user: Column with the user's id.
        query: Column with the query, or any first level.
        url: Column with the URL, or any second level; None if records have one level.
        group: Column with opt-in or client in every row.
        opt_in: The share of users who opted in; leave it out if a group column names them.
        relay: The share of the clients who use the relay, or :class:`RelayRules`.
        known: Records that are public already, such as those of an earlier release
            (:func:`~blender_dp.wire.published.known_list.read_known`).
        seed: For experiments that must be repeatable. A result with a seed is not private.
        engine: Engine that counts: duckdb, spark or auto; the workspace's if left out.
        workspace: Memory, disk and progress.

    Warns:
        PromiseWarning: ε is above 10, δ above 1/(10·users), or the opt-in users are too few to list
            a record that one in ten has.
    """
    if not isinstance(parameters, Parameters):
        raise ParameterError("parameters", "Parameters", type(parameters).__name__)
    if not isinstance(known, KnownList):
        rule = "what read_known returns, or a KnownList"
        raise ParameterError("known", rule, type(known).__name__)
    described = Log.of(log, LogColumns(user=user, query=query, url=url, group=group))
    workspace = workspace or Workspace()
    if engine is not None:
        workspace = replace(workspace, engine=engine)
    ran = run_log(
        described,
        parameters,
        opt_in=opt_in,
        relay=relay,
        known=known,
        seed=seed,
        workspace=workspace,
        consider=_warn,
    )
    parts = {part.name: getattr(ran, part.name) for part in fields(LogRun)}
    return RunResult(**parts, created=time_now(), synthetic=isinstance(log, SyntheticLog))


def _warn(doubts: Sequence[str]) -> None:
    for doubt in doubts:
        warnings.warn(doubt, PromiseWarning, stacklevel=4)  # the caller of bdp.run
