"""Logs and head lists for the contract suites."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from random import Random

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.parameters import Parameters
from blender_dp.core.population import Population
from blender_dp.engine.population.in_memory import LogRow

Opener = Callable[..., AbstractContextManager[Population]]
PARAMETERS = Parameters(preset="paper", epsilon=4.0, delta=1e-2, head_list_size=12)
MECHANISM = LocalAlgMechanism.of(PARAMETERS)


def made_up_log(seed: int, users: int = 600) -> list[LogRow]:
    """Return rows with repeats, users without records, awkward strings and both groups."""
    rng = Random(seed)
    odd = ["*", "★", "naïve café", "搜索", 'say "hi"', "a,b", "🦊 fox", " space "]
    rows = []
    for user in range(users):
        for _ in range(rng.choice([1, 1, 2, 3, 8])):
            q = min(int(rng.expovariate(0.25)), 30)
            query = odd[q] if q < len(odd) else f"query {q}"
            is_record = rng.random() > 0.15
            rows.append(
                LogRow(
                    f"user {user}",
                    query if is_record else None,
                    f"https://{q}.example/{rng.choice('aab')}" if is_record else None,
                    opt_in=user % 3 == 0,
                )
            )
    rng.shuffle(rows)
    return rows


def head_list_of(rows: Sequence[LogRow], queries: int) -> HeadList:
    common = Counter(row.query for row in rows if row.query).most_common(queries)
    listed = {
        Record(row.query, row.url)
        for row in rows
        if row.query in dict(common) and row.url and row.url.endswith("a")
    }
    return HeadList.of(listed, mechanism=MECHANISM, private=False)
