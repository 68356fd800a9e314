"""Exceptions that the library raises on purpose.

BlenderError                what a caller did or gave; the message is a sentence for a person
├── ParameterError          a setting is outside the range its guarantee was proved for
├── InputError              a file is invalid
├── HeadListMismatchError   a file belongs to another head list
├── UnknownReportError      a report that no honest client could have sent
├── NotPrivateError         secure and seeded parts would be mixed
├── BrokenPromiseError      more would be spent than was promised
├── TooMuchForMemoryError   a limit on memory is too small for the request
└── MissingExtraError       an optional part is not installed
BrokenInvariantError        a bug here, never the caller's mistake
PromiseWarning              a warning, no error: a promise that is hardly one

No message carries a query, a URL or a user id.
"""

from importlib.util import find_spec
from numbers import Real


class BlenderError(Exception):
    """Base of the errors a caller may want to catch."""


class ParameterError(BlenderError, ValueError):
    """A setting is outside the range its guarantee was proved for."""

    def __init__(self, name: str, requirement: str, got: object) -> None:
        self.name = name
        super().__init__(f"{name} must be {requirement}; got {got!r}")


class InputError(BlenderError, ValueError):
    """A file is invalid; the message names the file, the place in it and the broken rule."""

    def __init__(self, path: object, rule: str, *, where: str | None = None) -> None:
        self.path = path
        super().__init__(f"{path}, {where}: {rule}" if where else f"{path}: {rule}")


class HeadListMismatchError(BlenderError, ValueError):
    """A file belongs to another head list than the one it is used with."""


class UnknownReportError(BlenderError, LookupError):
    """A report that no honest client of this head list could have sent."""


class NotPrivateError(BlenderError):
    """Parts with secure noise and parts made with a seed must not be mixed in one result."""


class BrokenPromiseError(BlenderError):
    """A release would cost more privacy than was promised."""


class TooMuchForMemoryError(BlenderError):
    """A limit on memory is too small for the request."""


class MissingExtraError(BlenderError, ImportError):
    """An optional part is not installed; the message has the command that installs it."""

    def __init__(self, extra: str, needed_for: str) -> None:
        self.extra = extra
        super().__init__(f"{needed_for} needs an optional part: pip install 'blender-dp[{extra}]'")


class PromiseWarning(UserWarning):
    """A promise that is hardly one, or opt-in users who are too few for it."""


class BrokenInvariantError(AssertionError):
    """The library contradicts itself. Please report it."""


def is_number(value: object) -> bool:
    """Tell whether a setting is a number at all, of Python or numpy."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_installed(module: str) -> bool:
    """Tell whether ``module`` can be imported, without importing it."""
    return find_spec(module) is not None
