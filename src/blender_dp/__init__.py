"""BLENDER: what is popular, and how popular, under hybrid differential privacy.

>>> import blender_dp as bdp
>>> bdp.Parameters(epsilon=4, delta=1e-5, head_list_size=50).epsilon
4
"""

from blender_dp.core.curator import create_head_list
from blender_dp.core.errors import BlenderError
from blender_dp.core.head_list import HeadList, Record
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.core.parameters import Parameters
from blender_dp.core.randomness import Randomness
from blender_dp.engine.readers import LogColumns, LogFormat
from blender_dp.engine.run import Log, RunResult, Workspace, run

__all__ = [
    "BlenderError",
    "HeadList",
    "LocalRandomizer",
    "Log",
    "LogColumns",
    "LogFormat",
    "Parameters",
    "Randomness",
    "Record",
    "RunResult",
    "Workspace",
    "create_head_list",
    "run",
]
