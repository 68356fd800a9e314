"""Fig. 12 (``fig:ccs``): NDCG by ε at list size 10, beside a purely local method."""

import json

import numpy as np

from blender_dp.evaluation.reproduction.figures.drawing.figure import Found, Plot
from blender_dp.evaluation.reproduction.figures.drawing.lines import (
    BY_EPSILON,
    NDCG,
    over_epsilon,
    size_label,
)
from blender_dp.evaluation.reproduction.series import Line, Panel, Series, measured_point
from blender_dp.evaluation.reproduction.sweeps import Setup
from blender_dp.evaluation.reproduction.verdicts import Claim, all_above

SIZE = 10
LOCAL_PEER = "local-only.json"
"""Optional file, beside the trials, with the NDCG of a local-only method on the same data.

``{"data": identity of the data set, "label": …, "points": [{"epsilon": …, "ndcg": […]}]}``.
"""
EPSILONS = (1.0, 2.0, 3.0, 4.0, 5.0)


def _panels(setup: Setup) -> tuple[Panel, ...]:
    settings = over_epsilon(setup, SIZE, EPSILONS)
    line = Line(label="BLENDER", measure="ndcg", role="blended", settings=settings)
    return (Panel(title=size_label(SIZE), x=BY_EPSILON, y=NDCG, lines=(line,)),)


def _local_peer(found: Found) -> tuple[Series, ...]:
    """Return the line of a local-only peer that ran on the same data, if there is one."""
    path = found.folder / LOCAL_PEER
    peer = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if peer.get("data") != found.data.identity:
        return ()
    points = tuple(
        measured_point(point["epsilon"], np.array(point["ndcg"], float)) for point in peer["points"]
    )
    return (
        Series(
            label=peer["label"], role="peer", measure="ndcg", points=points, place=BY_EPSILON.place
        ),
    )


FIGURE = Plot(
    number=12,
    name="qin-comparison",
    title="NDCG by ε at list size 10, beside a cited number of Qin et al.",
    panels=_panels,
    beside=_local_peer,
    note="BLENDER was run here. The method of Qin et al. was not: its one number is cited from the "
    "paper's text, on the real AOL log and with their own NDCG, which counts ranks only.",
    claims=(
        Claim(
            statement="above-95-for-every-epsilon",
            check=lambda panels: all_above([panels[0]["BLENDER"]], 0.95),
        ),
        Claim(
            statement="qin-at-5",
            check=lambda panels: all_above([panels[0]["BLENDER"]], 0.385, at=5.0),
        ),
    ),
)
