"""Process that answers one question to a service's planner.

Its argument is the question as JSON. It prints the answer as JSON, or null for a question that the
planner cannot answer. It ends when its standard input ends: then the service is gone.
"""

import json
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any

from blender_dp.cli.failures import OUT_OF_MEMORY
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.errors import BlenderError
from blender_dp.planning.plan import plan

MOST_BYTES = 4 << 30
"""Limit of the address space, if the system can set one."""
_MOST_CPU_SECONDS = 120


def main() -> None:
    """Answer the question."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _limit()
    try:
        answer = answer_of(json.loads(sys.argv[1]))
    except BlenderError:
        answer = None
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
    sys.stdout.write(json.dumps(answer))


def answer_of(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan that a question asks for."""
    names = {"share": "relay", "epsilon_cap": "relay_cap"}
    rules = {rule: question[name] for rule, name in names.items() if name in question}
    others = {name: value for name, value in question.items() if name not in names.values()}
    return plan(**others, relay=RelayRules(**rules)).document()


def _end_with_parent() -> None:
    while os.read(0, 1024):  # not sys.stdin: the interpreter needs its lock to end
        pass
    os._exit(1)


def _limit() -> None:
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    for kind, most in (
        (resource.RLIMIT_AS, MOST_BYTES),
        (resource.RLIMIT_CPU, _MOST_CPU_SECONDS),
    ):
        _, hard = resource.getrlimit(kind)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (soft, hard))


if __name__ == "__main__":
    main()
