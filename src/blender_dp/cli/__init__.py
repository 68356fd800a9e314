"""The ``blender-dp`` command: one file per subcommand, without computations."""

import gc
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder

from blender_dp.cli.application import app
from blender_dp.cli.failures import explain_errors, interrupted_once

_NEW_OBJECTS = 10_000
"""New objects after which Python looks for cycles; imports make 100,000, and most of them stay."""


class WithoutPandas(MetaPathFinder):
    """Refusal to import pandas, which no command needs.

    pyarrow imports it, if it is installed, to ask whether a list is one of its series. That takes
    longer than all other imports together.
    """

    def find_spec(self, fullname: str, *_: object) -> None:
        """Refuse pandas; leave everything else to others."""
        if fullname == "pandas":
            raise ModuleNotFoundError(f"commands do without {fullname}", name=fullname)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    if arguments is None:
        sys.meta_path.insert(0, WithoutPandas())
        gc.set_threshold(_NEW_OBJECTS)
    given = sys.argv[1:] if arguments is None else arguments
    tokens = ["/dev/stdin" if word == "-" else word for word in given]  # no option's name
    with explain_errors(), interrupted_once():
        if not tokens or tokens[0] in app.help_flags:
            app.resolved_commands()  # the list of commands shows the first line of each
        app(tokens, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    sys.exit(0)
