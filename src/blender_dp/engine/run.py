"""Run of BLENDER on a log: from files to the blended result, both groups simulated."""

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from blender_dp.core.blender import (
    PRESETS,
    BlenderResult,
    Progress,
    blender,
    no_progress,
    require_known,
    require_relay_preset,
)
from blender_dp.core.certificate.certificate import require_kept
from blender_dp.core.certificate.certify import certify_curated, certify_plan
from blender_dp.core.certificate.doubts import doubts_about
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.errors import ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.known_list import NOTHING_KNOWN, KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.core.population import Population
from blender_dp.engine.choice import (
    EngineChoice,
)
from blender_dp.engine.log import Log, Workspace
from blender_dp.engine.population.table_population import open_population
from blender_dp.engine.released_tables import query_table, record_table

READING = "read the log and sample"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogRun:
    """The blended result of a log, with its parameters, engine and times."""

    blender: BlenderResult
    """Head list, estimates of both groups and their blend."""
    certificate: ListCertificate
    """What everybody spent on it."""
    seed: int | None
    """The seed of an experiment; None if the noise is secret."""
    opt_in: float | None
    """Share of the users who were drawn to opt in; None if a group column named them."""
    relay: RelayRules
    """How many clients used the relay, and its limits."""
    known_records: int
    """Number of records that were public before; 0 if records are listed and queries were known."""
    format: str
    """A :class:`LogFormat`, or the library of a table."""
    files: tuple[str, ...]
    """Names of the log's files."""
    engine: EngineChoice
    """The engine that counted, and why."""
    seconds: dict[str, float]
    """Time of each step."""
    memory_limit: int
    """Bytes that the engine was allowed to keep in memory."""
    peak_memory: int
    """The largest resident size of this process so far, in bytes."""

    @property
    def private(self) -> bool:
        """Whether the noise is secret; False if a seed was used."""
        return self.blender.private

    @property
    def records(self) -> pa.Table:
        """One row per cell, most probable first; ⋆ rows, which have null names, come last.

        ``cell`` is record, other_url (a listed query with any other URL) or other (everything
        else). Probabilities, errors and intervals are shares of all users, from 0 to 1.
        ``opt_in_noisy_count`` is an integer of 2³⁰ a user in ``sharp``, of 1 a user in ``paper``;
        ``client_report_count`` counts reports that name the cell, most of them by chance.
        """
        return record_table(self.blender)

    @property
    def queries(self) -> pa.Table:
        """One row per query, most probable first; everything else comes last."""
        return query_table(self.blender)


class StepClock:
    """Clock that records the time of each step and reports its name."""

    def __init__(self, progress: Progress, now: Callable[[], float] = time.perf_counter) -> None:
        self.seconds: dict[str, float] = {}
        self._progress, self._now = progress, now
        self._step: str | None = None
        self._began = now()

    def __call__(self, step: str) -> None:
        """Record the end of the last step and the beginning of ``step``."""
        self.stop()
        self._step = step
        self._progress(step)

    def stop(self) -> None:
        """Record the end of the last step."""
        now = self._now()
        if self._step is not None:
            self.seconds[self._step] = self.seconds.get(self._step, 0.0) + now - self._began
        self._step, self._began = None, now


def _doubts(parameters: Parameters, population: Population, known: KnownList) -> list[str]:
    groups = (population.opt_in, population.clients, population.relayed)
    return doubts_about(
        parameters,
        opt_in_users=population.opt_in.size,
        users=sum(group.size for group in groups if group is not None),
        has_known_list=bool(known),
    )


def run(  # noqa: PLR0913 - the settings of a run
    log: Log,
    parameters: Parameters,
    *,
    opt_in: float | None = None,
    relay: RelayRules | float = 0.0,
    known: KnownList = NOTHING_KNOWN,
    seed: int | None = None,
    workspace: Workspace | None = None,
    consider: Callable[[Sequence[str]], None] = no_progress,
) -> LogRun:
    """Find the popular records of a log; both groups are simulated from its raw records.

    Args:
        log: The files or the table, and how to read them.
        parameters: The promise and the tuning parameters.
        opt_in: The share of users who opted in; leave it out if a group column names them.
        relay: The share of the clients who use the relay, or :class:`RelayRules`.
        known: Records that are public already, such as those of an earlier release
            (:func:`~blender_dp.wire.published.known_list.read_known`).
        seed: For experiments that must be repeatable. A result with a seed is not private.
        workspace: Memory, disk and progress.
        consider: Called with the doubts about the run once its users are counted, before anything
            is drawn. It may raise.
    """
    workspace = workspace or Workspace()
    if (opt_in is None) == (log.columns.group is None):
        raise ParameterError(
            "opt_in",
            "given, unless a group column names the opt-in users (exactly one of the two)",
            opt_in,
        )
    relay = relay if isinstance(relay, RelayRules) else RelayRules(share=relay)
    steps = PRESETS[parameters.preset]
    steps.require_provable(parameters)
    require_relay_preset(parameters, relay.share)
    known = known.for_log(has_urls=log.columns.url is not None)
    require_known(parameters, known)
    require_kept(certify_plan(parameters))
    randomness = Randomness.secure() if seed is None else Randomness.seeded(seed)
    clock = StepClock(workspace.progress)
    clock(READING)
    with log.counted(workspace) as counted:
        population = open_population(
            counted.tables,
            randomness,
            opt_in=opt_in,
            relay=relay.share,
            records_per_user=max(parameters.records_per_optin_user, parameters.records_per_client),
            all_rows=steps.asks_all_rows,
        )
        consider(_doubts(parameters, population, known))
        result = blender(
            population, parameters, randomness, relay=relay, known=known, progress=clock
        )
    certificate = require_kept(certify_curated(result.curated))
    clock.stop()
    return LogRun(
        blender=result,
        certificate=certificate,
        seed=seed,
        opt_in=opt_in,
        relay=relay,
        known_records=len(known) if known.serves(result.head_list) else 0,
        format=counted.format,
        files=counted.files,
        engine=counted.choice,
        seconds=clock.seconds,
        memory_limit=workspace.memory_limit,
        peak_memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )
