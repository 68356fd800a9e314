"""Generator of synthetic logs of a given shape."""

from collections.abc import Callable

import numpy as np

from blender_dp.core.blender import no_progress
from blender_dp.core.errors import ParameterError
from blender_dp.engine.synthetic.draws import (
    Columns,
    cumulate,
    draw_records,
    draw_with_favourites,
    generator,
)
from blender_dp.engine.synthetic.log import SyntheticLog
from blender_dp.engine.synthetic.shapes import (
    DEFAULT_USERS,
    Shape,
    ShapeOptions,
    activity,
    query_probabilities,
    url_shares,
)
from blender_dp.engine.synthetic.workloads import aol_multi, aol_single

MAX_USERS = 2**31 - 1


def synthesize(
    shape: Shape | str = "aol",
    users: int | None = None,
    seed: int = 0,
    *,
    options: ShapeOptions | None = None,
    progress: Callable[[float], None] | None = None,
) -> SyntheticLog:
    """Return a log of ``users`` users, the same one for the same arguments.

    Args:
        shape: The shape of the log: aol, yandex, zipf, flat, aol-single or aol-multi.
        users: Number of users; the shape's own number if left out.
        seed: Chooses one of the many logs of this shape. The published benchmark numbers use 0 for
            aol-single and 1 for aol-multi.
        options: Changes of the shape.
        progress: Called with the finished share of the work, last with 1.
    """
    if shape not in tuple(Shape):
        raise ParameterError("shape", f"one of {', '.join(Shape)}", shape)
    shape, options = Shape(shape), options or ShapeOptions()
    progress = progress or no_progress
    users = DEFAULT_USERS[shape] if users is None else users
    if not isinstance(users, int) or not 1 <= users <= MAX_USERS:
        raise ParameterError("users", f"a whole number from 1 to {MAX_USERS:,}", users)
    if not isinstance(seed, int) or seed < 0:
        raise ParameterError("seed", "a whole number, at least 0", seed)
    options.require_for(shape)
    columns = _columns(shape, users, seed, options, progress)
    progress(1.0)
    return SyntheticLog(
        shape=shape,
        seed=seed,
        users=users,
        user=columns.user,
        query=columns.query,
        url=columns.url,
    )


def _columns(
    shape: Shape, users: int, seed: int, options: ShapeOptions, progress: Callable[[float], None]
) -> Columns:
    progress(0.0)
    if shape is Shape.AOL_SINGLE:
        return aol_single(users, seed)
    if shape is Shape.AOL_MULTI:
        return aol_multi(users, seed)
    cdf = cumulate(query_probabilities(shape, options))
    progress(0.1)
    rng = generator(seed)
    counts = activity(shape, options).counts(users, rng)
    if counts.max() == 1:  # a single record cannot be a repeat
        query, url = draw_records(cdf, users, rng, url_shares(shape))
        return Columns(user=np.arange(users), query=query, url=url)
    return draw_with_favourites(cdf, counts, rng, url_shares(shape))
