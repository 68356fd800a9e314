"""Guard rails: a run about which there are doubts needs ``--yes``."""

from collections.abc import Callable, Sequence

from blender_dp.core.certificate.doubts import epsilon_warning
from blender_dp.core.errors import BlenderError
from blender_dp.core.parameters import Parameters


def require_meant(parameters: Parameters, *, yes: bool) -> None:
    """Refuse a large ε before any data is read, unless ``--yes`` was given.

    Raises:
        BlenderError: With the reason.
    """
    warning = epsilon_warning(parameters.epsilon)
    stop_unless(yes)([] if warning is None else [warning])


def stop_unless(yes: bool) -> Callable[[Sequence[str]], None]:
    """Return a function that refuses to go on with doubts, unless ``--yes`` was given.

    Nothing is asked in the terminal, so a script does not hang.
    """

    def consider(doubts: Sequence[str]) -> None:
        if doubts and not yes:
            raise BlenderError(f"{' '.join(doubts)} Nothing was drawn; add --yes to go on.")

    return consider
