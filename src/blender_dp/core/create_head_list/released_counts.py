"""Release of every record whose noisy count reaches the threshold (``sharp``, Laplace branch).

Privacy: (ε, δ) in the trusted-curator model for one record per user, with a plan that
``laplace_plan`` made for them; see PRIVACY.md beside this file.
The values may be published, not only the names.

The law is that of a draw of noise for each record. What is drawn is a number of survivors for
each class of equal counts, which of the class they are, and the value of each survivor given
that it survived: the cost is a draw for each distinct count and for each survivor, never for
each record.
"""

from blender_dp.core.create_head_list.survivors import draw_survivors
from blender_dp.core.curator.laplace_plan import LaplacePlan
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import Record, byte_order
from blender_dp.core.population import RecordSums


def release_counts(
    counts: RecordSums, plan: LaplacePlan, randomness: Randomness
) -> list[tuple[Record, int]]:
    """Return every record whose noisy count c + Y reaches T, with that noisy count.

    Privacy: (ε, δ) of the plan, if every user gave at most one record.

    Args:
        counts: How many users gave each record.
        plan: T, and the law of Y.
        randomness: Where the noise comes from.
    """
    survivors = draw_survivors(counts.classes(), plan.passing, randomness)
    # In byte order before anything more is drawn: the order of the data leaves no trace, and a
    # seed gives the same values whatever the order of the answer.
    fetched = sorted(counts.fetch(survivors), key=lambda counted: byte_order(counted[0]))
    return [
        (record, count + plan.noise.draw_at_least(plan.threshold - count, randomness))
        for record, count in fetched
    ]
