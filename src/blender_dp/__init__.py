"""BLENDER: popular records and their probabilities under hybrid differential privacy.

>>> import blender_dp as bdp
>>> bdp.Parameters(epsilon=4, delta=1e-5, head_list_size=50).epsilon
4
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blender_dp.analysis.certificate import CertificateResult as CertificateResult
    from blender_dp.analysis.certificate import certify as certify
    from blender_dp.analysis.evaluation import Evaluation as Evaluation
    from blender_dp.analysis.evaluation import evaluate as evaluate
    from blender_dp.analysis.plan import PlanResult as PlanResult
    from blender_dp.analysis.plan import plan as plan
    from blender_dp.analysis.result import RunResult as RunResult
    from blender_dp.analysis.run import run as run
    from blender_dp.analysis.trends import TrendsResult as TrendsResult
    from blender_dp.analysis.trends import trends as trends
    from blender_dp.core.blender import create_head_list as create_head_list
    from blender_dp.core.certificate.certificate import Account as Account
    from blender_dp.core.certificate.certificate import Certificate as Certificate
    from blender_dp.core.channels.relayed import RelayRules as RelayRules
    from blender_dp.core.channels.report import Report as Report
    from blender_dp.core.errors import BlenderError as BlenderError
    from blender_dp.core.errors import PromiseWarning as PromiseWarning
    from blender_dp.core.estimation.release import Release as Release
    from blender_dp.core.exact.randomness import Randomness as Randomness
    from blender_dp.core.head_list.head_list import HeadList as HeadList
    from blender_dp.core.head_list.head_list import Record as Record
    from blender_dp.core.head_list.known_list import KnownList as KnownList
    from blender_dp.core.local_alg.device import LocalRandomizer as LocalRandomizer
    from blender_dp.core.parameters import Parameters as Parameters
    from blender_dp.engine.duckdb.readers import LogColumns as LogColumns
    from blender_dp.engine.duckdb.readers import LogFormat as LogFormat
    from blender_dp.engine.log import Log as Log
    from blender_dp.engine.log import Workspace as Workspace
    from blender_dp.engine.synthetic.generate import synthesize as synthesize
    from blender_dp.engine.synthetic.log import SyntheticLog as SyntheticLog
    from blender_dp.engine.synthetic.shapes import Shape as Shape
    from blender_dp.engine.synthetic.shapes import ShapeOptions as ShapeOptions
    from blender_dp.local_search.search import LocalSearch as LocalSearch
    from blender_dp.local_search.serving import ServingRule as ServingRule
    from blender_dp.pages.disclosure.deployment import Deployment as Deployment
    from blender_dp.pages.words import Words as Words
    from blender_dp.planning.plan import Plan as Plan
    from blender_dp.search_trends.trends import Trends as Trends
    from blender_dp.wire.published.head_list import read_head_list as read_head_list
    from blender_dp.wire.published.known_list import read_known as read_known
    from blender_dp.wire.published.release import read_release as read_release

    __version__: str

# The same names at run time: each is imported when it is first used.
_MODULES = {
    "Account": "core.certificate.certificate",
    "BlenderError": "core.errors",
    "Certificate": "core.certificate.certificate",
    "CertificateResult": "analysis.certificate",
    "Deployment": "pages.disclosure.deployment",
    "Evaluation": "analysis.evaluation",
    "HeadList": "core.head_list.head_list",
    "KnownList": "core.head_list.known_list",
    "LocalRandomizer": "core.local_alg.device",
    "LocalSearch": "local_search.search",
    "Log": "engine.log",
    "LogColumns": "engine.duckdb.readers",
    "LogFormat": "engine.duckdb.readers",
    "Parameters": "core.parameters",
    "Plan": "planning.plan",
    "PlanResult": "analysis.plan",
    "PromiseWarning": "core.errors",
    "Randomness": "core.exact.randomness",
    "Record": "core.head_list.head_list",
    "RelayRules": "core.channels.relayed",
    "Release": "core.estimation.release",
    "Report": "core.channels.report",
    "RunResult": "analysis.result",
    "ServingRule": "local_search.serving",
    "Shape": "engine.synthetic.shapes",
    "ShapeOptions": "engine.synthetic.shapes",
    "SyntheticLog": "engine.synthetic.log",
    "Trends": "search_trends.trends",
    "TrendsResult": "analysis.trends",
    "Words": "pages.words",
    "Workspace": "engine.log",
    "certify": "analysis.certificate",
    "create_head_list": "core.blender",
    "evaluate": "analysis.evaluation",
    "plan": "analysis.plan",
    "read_head_list": "wire.published.head_list",
    "read_known": "wire.published.known_list",
    "read_release": "wire.published.release",
    "run": "analysis.run",
    "synthesize": "engine.synthetic.generate",
    "trends": "analysis.trends",
}
__all__ = list(_MODULES)


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted({*globals(), *_MODULES, "__version__"})


if not TYPE_CHECKING:  # otherwise a misspelt name would have a type

    def __getattr__(name: str) -> object:
        """Import a public name, or read the version."""
        if name == "__version__":
            return import_module("importlib.metadata").version("blender-dp")
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
