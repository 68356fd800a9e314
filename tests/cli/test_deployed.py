"""The container's command starts the service, and its health check tells whether it is well."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from cli.test_serve import serving

ROOT = Path(__file__).parents[2]
Script = Callable[..., subprocess.Popen[str]]


def instruction(word: str) -> list[str]:
    """Return the words of one instruction of the container's recipe."""
    lines = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8").splitlines()
    [line] = [line for line in lines if line.startswith(word)]
    found: list[str] = json.loads(line[line.index("[") :])
    return found


def is_well(port: str) -> bool:
    program, *arguments = instruction("HEALTHCHECK CMD")
    assert program == "python"
    arguments = [argument.replace("8080", port) for argument in arguments]
    done = subprocess.run([sys.executable, *arguments], stderr=subprocess.PIPE, check=False)
    return done.returncode == 0


def test_the_container_starts_and_its_health_check_tells(script: Script, tmp_path: Path) -> None:
    (tmp_path / "blender-dp-keys").mkdir(mode=0o700)
    [command, *options] = instruction("ENTRYPOINT")[1:]
    assert command == "serve"
    places = [option.replace("/var/lib", str(tmp_path)) for option in options]
    at = dict(zip(places[::2], places[1::2], strict=True))
    (data, token) = (Path(at.pop(name)) for name in ("--data", "--first-token-file"))
    assert (at.pop("--host"), at.pop("--port")) == ("0.0.0.0", "8080")  # noqa: S104 - in there only
    rest = [word for pair in at.items() for word in pair]
    with serving(script, data, "--first-token-file", token, *rest) as (url, said):
        port = url.rpartition(":")[2]
        assert is_well(port)
        assert len(token.read_text(encoding="ascii").strip()) == 43
    assert "token, shown" not in "".join(said)
    with socket.socket() as silent:  # nobody listens there, and nobody else can begin to
        silent.bind(("127.0.0.1", 0))
        assert not is_well(str(silent.getsockname()[1]))
