"""The commands, put together."""

from importlib.metadata import version

from cyclopts import App, Parameter

from blender_dp.cli.audit import audit
from blender_dp.cli.blend import blend
from blender_dp.cli.certify import certify
from blender_dp.cli.demo import demo
from blender_dp.cli.devices import devices
from blender_dp.cli.download import download
from blender_dp.cli.estimate import estimate
from blender_dp.cli.evaluate import evaluate
from blender_dp.cli.head_list import head_list
from blender_dp.cli.plan import plan
from blender_dp.cli.privatize import privatize
from blender_dp.cli.reproduce import reproduce
from blender_dp.cli.run import run
from blender_dp.cli.search import search
from blender_dp.cli.serve import serve
from blender_dp.cli.synth import synth
from blender_dp.cli.terminal import RESULTS
from blender_dp.cli.token import token
from blender_dp.cli.trends import trends
from blender_dp.cli.verify_log import verify_log
from blender_dp.cli.whole_numbers import strictly
from blender_dp.cli.work import work

app = App(
    name="blender-dp",
    help="What is popular among your users, and how popular, under hybrid differential privacy.",
    version=version("blender-dp"),
    console=RESULTS,
    default_parameter=Parameter(converter=strictly),
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)
app.register_install_completion_command(
    help="Install completion for the shell you use; start a new shell afterwards."
)
for command in (
    *(demo, run, head_list, privatize, estimate, blend),
    *(search, trends, plan, certify, audit, evaluate, reproduce, synth),
    *(serve, work, token, devices, download, verify_log),
):
    app.command(command)
