"""``blender-dp demo``: a whole run on a synthetic log, without preparation."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from blender_dp.analysis.files import run_facts, write_result
from blender_dp.cli.outputs import show_result
from blender_dp.cli.terminal import say, shown_progress
from blender_dp.core.errors import ParameterError
from blender_dp.core.parameters import Parameters
from blender_dp.engine.log import Log, Workspace
from blender_dp.engine.run import run
from blender_dp.engine.synthetic import Shape, synthesize, write_log
from blender_dp.pages.outputs import FILES
from blender_dp.wire.documents.staging import staged_directory

LOG = "synthetic_log.parquet"


def demo(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("demo"),
    users: int = 519_371,
    epsilon: float = 4.0,
    delta: float = 1e-7,
) -> None:
    """Make a synthetic search log like AOL's, run everything on it and write a report.

    Five in a hundred users opt in; the 50 most popular queries are kept (the paper's Fig. 11).

    Parameters
    ----------
    output
        Directory for the results; an earlier demo in it is replaced.
    users
        Number of users to generate.
    epsilon
        ε, the bound on every user's privacy loss.
    delta
        δ, the probability that an opt-in user's loss may exceed it.
    """
    parameters = Parameters(epsilon=epsilon, delta=delta, head_list_size=50)
    if users < 1:
        raise ParameterError("users", "at least 1", users)
    staged = staged_directory(output, overwrite=True, replaceable=(*FILES, LOG))
    with staged as partial, shown_progress() as progress:
        say(f"Generating a search log of {users:,} users, then finding its popular searches.")
        progress.step("make a synthetic log")
        log = partial / LOG
        write_log(synthesize(Shape.AOL, users=users, progress=progress.share), log)
        workspace = Workspace(
            spill_directory=partial, progress=progress.step, percent=progress.percent
        )
        result = run(Log.of(log), parameters, opt_in=0.05, workspace=workspace)
        progress.step("write the results")
        facts = run_facts(result, synthetic=True)
        write_result(partial, result.blender, result.certificate, facts=facts)
    show_result(result.blender, output, as_json=False)
