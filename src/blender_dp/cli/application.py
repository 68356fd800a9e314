"""The application: all commands under one name."""

from importlib.metadata import version

from cyclopts import App, Parameter

from blender_dp.cli.terminal import RESULTS
from blender_dp.cli.whole_numbers import strictly

app = App(
    name="blender-dp",
    help="Find popular searches and their probabilities under hybrid differential privacy.",
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
# A command is named by its path and imported when it is called, so that a start loads little.
for command in (
    *("demo", "run", "head_list", "privatize", "estimate", "blend"),
    *("search", "trends", "plan", "certify", "audit", "evaluate", "reproduce", "synth"),
    *("serve", "work", "token", "devices", "download", "verify_log"),
):
    app.command(f"blender_dp.cli.{command}:{command}")
