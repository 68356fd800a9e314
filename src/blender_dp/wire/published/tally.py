"""The integers that ``sharp`` releases of the opt-in users' data, as part of a document."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from blender_dp.core.create_head_list.sharp import branch_of
from blender_dp.core.curator.budget import Budget
from blender_dp.core.curator.opt_in_release import WholeList
from blender_dp.core.curator.opt_in_tally import OptInTally
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.wire.documents.fields import LARGEST, Fields


def tally_document(tally: OptInTally) -> Mapping[str, Any]:
    """Return the integers, and what was read off the list before it was trimmed."""
    whole_list = tally.whole_list
    return {
        "weight_sum": tally.choice.weight_sum,
        "values": tally.values.tolist(),
        "sums": tally.sums.tolist(),
        "folded_cells": tally.folded_cells,
        "record_squares": tally.record_squares,
        "query_squares": tally.query_squares,
        "whole_list": None
        if whole_list is None
        else {name: repr(float(value)) for name, value in asdict(whole_list).items()},
    }


def read_tally(part: Fields, head_list: HeadList, users: int, budget: Budget) -> OptInTally:
    """Read the integers; what follows from them, such as the branch, is computed again."""
    weight_sum = part.whole_or_none("weight_sum", at_least=-LARGEST)
    if (weight_sum is None) != (not budget.scalar_share):
        part.refuse("weight_sum", "must be there unless one record a user was declared")
    return OptInTally(
        users=users,
        choice=branch_of(weight_sum, users, budget),
        values=part.counts("values", len(head_list.records())),
        sums=part.counts("sums", head_list.cells.cell_count),
        folded_cells=part.whole("folded_cells", at_least=0),
        record_squares=part.whole("record_squares", at_least=-LARGEST),
        query_squares=part.whole("query_squares", at_least=-LARGEST),
        whole_list=_read_whole_list(part),
    )


def _read_whole_list(part: Fields) -> WholeList | None:
    if part.value("whole_list") is None:
        return None
    inner = part.part("whole_list")
    numbers = {field.name: inner.decimal(field.name) for field in fields(WholeList)}
    for name, value in numbers.items():
        if not 0 <= value < LARGEST:
            inner.refuse(name, "is outside its range")
    if not 0 < numbers["record_concentration"] <= numbers["query_concentration"] <= 1:
        inner.refuse("query_concentration", "must be from record_concentration, above 0, to 1")
    if numbers["value_ratio"] < 1:
        inner.refuse("value_ratio", "must be at least 1")
    return WholeList(**numbers)
