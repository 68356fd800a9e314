"""Synthetic search logs, shaped like the data of the paper.

The logs of the paper cannot be shipped, so everything that shows or measures something runs on
these. ``synthesize`` draws one, ``write_log``, ``write_aol`` and ``write_yandex`` store it, and
``true_probabilities`` computes the values that a private estimate should come close to.
"""

from blender_dp.engine.synthetic.generate import synthesize
from blender_dp.engine.synthetic.log import SyntheticLog
from blender_dp.engine.synthetic.shapes import Shape, ShapeOptions, query_probabilities
from blender_dp.engine.synthetic.truth import TrueProbabilities, true_probabilities
from blender_dp.engine.synthetic.write import write_log
from blender_dp.engine.synthetic.write_aol import write_aol
from blender_dp.engine.synthetic.write_yandex import write_yandex

__all__ = [
    "Shape",
    "ShapeOptions",
    "SyntheticLog",
    "TrueProbabilities",
    "query_probabilities",
    "synthesize",
    "true_probabilities",
    "write_aol",
    "write_log",
    "write_yandex",
]
