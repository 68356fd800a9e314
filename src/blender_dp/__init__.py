"""BLENDER: what is popular, and how popular, under hybrid differential privacy.

>>> import blender_dp as bdp
>>> bdp.Parameters(epsilon=4, delta=1e-5, head_list_size=50).epsilon
4
"""

from blender_dp.core.blender import create_head_list
from blender_dp.core.certificate.certificate import Certificate
from blender_dp.core.certificate.certify import certify
from blender_dp.core.channels.report import Report
from blender_dp.core.errors import BlenderError
from blender_dp.core.estimation.release import Release
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.core.parameters import Parameters
from blender_dp.engine.duckdb.readers import LogColumns, LogFormat
from blender_dp.engine.run import Log, RunResult, Workspace, run
from blender_dp.local_search.search import LocalSearch
from blender_dp.local_search.serving import ServingRule
from blender_dp.planning.plan import Plan, plan
from blender_dp.search_trends.trends import trends
from blender_dp.wire.published.release import read_release

__all__ = [
    "BlenderError",
    "Certificate",
    "HeadList",
    "LocalRandomizer",
    "LocalSearch",
    "Log",
    "LogColumns",
    "LogFormat",
    "Parameters",
    "Plan",
    "Randomness",
    "Record",
    "Release",
    "Report",
    "RunResult",
    "ServingRule",
    "Workspace",
    "certify",
    "create_head_list",
    "plan",
    "read_release",
    "run",
    "trends",
]
