"""The ``blender-dp`` command: one file per subcommand, without computations."""

import sys
from collections.abc import Sequence

from blender_dp.cli.application import app
from blender_dp.cli.failures import explain_errors, interrupted_once


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    given = sys.argv[1:] if arguments is None else arguments
    tokens = ["/dev/stdin" if word == "-" else word for word in given]  # no option's name
    with explain_errors(), interrupted_once():
        if not tokens or tokens[0] in app.help_flags:
            app.resolved_commands()  # the list of commands shows the first line of each
        app(tokens, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    sys.exit(0)
