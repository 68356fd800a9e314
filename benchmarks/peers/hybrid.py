"""BLENDER as one of the compared methods, with the same input as its peers."""

from functools import partial

import numpy as np

from benchmarks.peers.task import FoundRecords, Peer, Task
from blender_dp.core.blender import BlenderResult, blender
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.parameters import Parameters, Preset
from blender_dp.engine.population.simulated_clients import SimulatedClients, one_by_one
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedPopulation, CodedUsers


def run_blender(task: Task, preset: Preset) -> FoundRecords:
    """Run BLENDER; every client's record is randomised on its own, as a device would."""
    randomness = Randomness.seeded(task.seed)
    log = _one_record_each(task)
    users, first = np.arange(log.users), len(task.opt_in)
    everyone = CodedUsers(log, users, task.everybody, task.seed)
    population = CodedPopulation(
        opt_in=everyone.between(0, first),
        clients=SimulatedClients(everyone.between(first, log.users), one_by_one(randomness)),
    )
    parameters = Parameters(
        epsilon=task.epsilon,
        delta=task.delta,
        head_list_size=task.list_size,
        preset=preset,
        one_record_each=preset == "sharp",
    )
    return found_by(blender(population, parameters, randomness), log)


def found_by(result: BlenderResult, codes: CodedLog) -> FoundRecords:
    """Return the released list as codes."""
    head_list = result.head_list
    cell = codes.cells_of_records(head_list)
    record = np.flatnonzero(head_list.cells.is_listed[cell])
    of_queries = result.blended.queries.raw.probability.tolist()
    return FoundRecords(
        record=record,
        probability=result.blended.cells.projected[cell[record]],
        query_probability=dict(zip(map(int, head_list.queries), of_queries, strict=False)),
    )


def _one_record_each(task: Task) -> CodedLog:
    """Return the log in which every user has the one record drawn for them, under its codes."""
    has_record = task.everybody != task.no_record
    first = np.concatenate([[0], np.cumsum(has_record)])
    records = task.everybody[has_record]
    return CodedLog(
        first_row=first,
        row_record=records,
        first_own=first,
        own_record=records,
        own_rows=np.ones_like(records),
        query=task.query,
        url=task.url,
        probability=np.bincount(records, minlength=len(task.query)) / len(has_record),
    )


def hybrid(preset: Preset) -> Peer:
    """Return BLENDER with a preset as a method to compare."""
    return Peer(
        name=f"BLENDER, preset {preset}",
        model="hybrid",
        users="everybody",
        find=partial(run_blender, preset=preset),
    )
