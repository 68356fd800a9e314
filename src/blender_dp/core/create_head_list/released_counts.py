"""Release of every record whose noisy count reaches the threshold (``sharp``, Laplace branch).

Privacy: (ε, δ) in the trusted-curator model for one record per user, with a plan that
``laplace_plan`` made for them; see PRIVACY.md beside this file.
The values may be published, not only the names. The distribution is that of one draw of noise per
record. What is drawn is the number of survivors in each class of equal counts, which records they
are, and the value of each survivor, given that it survived. So the cost is one draw per distinct
count and per survivor, not one per record.
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
        counts: Number of users who gave each record.
        plan: T, and the distribution of Y.
        randomness: Source of the noise.
    """
    survivors = draw_survivors(counts.classes(), plan.passing, randomness)
    # Sorted by bytes before anything more is drawn: so the result does not depend on the order of
    # the data, and a seed always gives the same values.
    fetched = sorted(counts.fetch(survivors), key=lambda counted: byte_order(counted[0]))
    return [
        (record, count + plan.noise.draw_at_least(plan.threshold - count, randomness))
        for record, count in fetched
    ]
