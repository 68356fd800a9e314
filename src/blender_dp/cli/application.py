"""The application: all commands under one name, and the conversion of their options."""

import re
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from cyclopts import App, CoercionError, Parameter, Token, convert

from blender_dp.cli.terminal import RESULTS

_WHOLE = re.compile(r"[+-]?\d{1,1000}")
_WITH_EXPONENT = re.compile(r"(\d{1,20})(?:\.(\d{1,20}))?[eE]\+?(\d{1,2})")


def convert_strictly(type_: Any, tokens: Sequence[Token]) -> Any:  # noqa: ANN401 - any option's type
    """Convert an option's texts as usual; a whole number may be 1e9, and 1.5 is refused."""
    if type_ in (int, int | None) and (written := _written_out(tokens[0].value)) is not None:
        tokens = [tokens[0].evolve(value=written)]
    if type_ in (int, int | None) and not _WHOLE.fullmatch(tokens[0].value):
        raise CoercionError(
            msg=f"{tokens[0].keyword} must be a whole number; got {tokens[0].value!r}"
        )
    return convert(type_, tokens)


def _written_out(text: str) -> str | None:
    """Return a whole number such as 1e9 or 1.5e6 in digits; None for other texts."""
    found = _WITH_EXPONENT.fullmatch(text)
    if found is None:
        return None
    digits, after_point, exponent = found[1], (found[2] or "").rstrip("0"), int(found[3])
    return None if len(after_point) > exponent else digits + after_point.ljust(exponent, "0")


app = App(
    name="blender-dp",
    help="Find popular searches and their probabilities under hybrid differential privacy.",
    version=version("blender-dp"),
    console=RESULTS,
    default_parameter=Parameter(converter=convert_strictly),
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
    *("serve", "work", "relay", "issuer", "token", "devices", "download", "verify_log"),
):
    app.command(f"blender_dp.cli.{command}:{command}")
