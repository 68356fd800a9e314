"""Documentation pages as programs: their blocks of commands and Python, run in a fresh shell."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from socket import socket

ROOT = Path(__file__).parents[1]
PATIENCE = 600
"""Seconds after which a page is given up; a page takes less than a minute."""
STANDING = re.compile(r"^(?:\$ )?blender-dp (?:serve|relay|work)\b")
"""Commands that run until they are stopped: the page says that they get a terminal of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Lines of a page that a reader copies: ``sh`` or ``python``."""

    language: str
    line: int
    text: str


def blocks_of(page: str) -> Iterator[Block]:
    """Yield what a reader would run: fenced sh, console and python, and indented lines.

    Fences of other languages, or of none, are output and files. In ``console`` only the lines with
    a prompt are typed.
    """
    lines, number = page.splitlines(), 0
    while number < len(lines):
        first, line = number, lines[number]
        number += 1
        if line.startswith("```"):
            while not lines[number].startswith("```"):
                number += 1
            inside, number = lines[first + 1 : number], number + 1
            language = line.removeprefix("```")
            if language == "console":
                inside = [typed[2:] for typed in inside if typed.startswith("$ ")]
            if language in ("sh", "console", "python"):
                kind = "python" if language == "python" else "sh"
                yield Block(language=kind, line=first + 2, text="\n".join(inside))
        elif line.startswith("    ") and not lines[first - 1].strip():
            while number < len(lines) and (lines[number].startswith("    ") or not lines[number]):
                number += 1
            inside = [typed.removeprefix("    ") for typed in lines[first:number]]
            text = "\n".join(inside).rstrip()
            kind = "python" if text.startswith("import ") else "sh"
            yield Block(language=kind, line=first + 1, text=text)


def script_of(page: str, port: int, left_out: Collection[str] = ()) -> str:
    """Return a page as one program of the shell, which stops at the first command that fails.

    Blocks that begin with one of ``left_out`` are not run; each of these must be there.

    The Python blocks of a page are one program, which runs where the last of them stands. A
    command that stands is started in the background and awaited. Port 8080 becomes a free one.
    """
    blocks = list(blocks_of(page))
    for words in left_out:
        others = [block for block in blocks if not block.text.startswith(words)]
        assert len(others) < len(blocks), f"no block begins with {words}"
        blocks = others
    python = [block for block in blocks if block.language == "python"]
    parts = ["set -euo pipefail", "trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT"]
    for block in blocks:
        parts.append(f"echo 'line {block.line}' >&2")
        if block.language == "sh":
            parts.append(_with_port(block.text, port))
        elif block is python[-1]:
            program = "\n".join(one.text for one in python)
            parts.append(f"python - <<'END OF PYTHON'\n{program}\nEND OF PYTHON")
    return "\n".join(parts) + "\n"


def _with_port(text: str, port: int) -> str:
    """Start what stands in the background, on a free port."""
    lines = text.replace("127.0.0.1:8080", f"127.0.0.1:{port}").splitlines()
    for number, line in enumerate(lines):
        if STANDING.match(line):
            command = line.partition(" #")[0]
            lines[number] = f"{command} --port {port} &\n{_awaited(port)}"
    return "\n".join(lines)


def _awaited(port: int) -> str:
    """Return a command that waits until something listens."""
    return (
        f"for i in $(seq 600); do (: </dev/tcp/127.0.0.1/{port}) 2>/dev/null && break; "
        "sleep 0.1; done"
    )


def fresh_clone(folder: Path) -> Path:
    """Copy the tracked files as a clone has them; what ``make`` would install is there already.

    The environments are links to those of the tests, so that nothing is installed twice.
    """
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    clone = folder / "clone"
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, clone / name)
    for installed in (".venv", "web/node_modules"):
        (clone / installed).symlink_to(ROOT / installed)
    (clone / ".make").mkdir()
    for stamp in ("uv", "run", "dev", "node", "web"):
        (clone / ".make" / stamp).touch()
    return clone


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def run_page(page: Path, folder: Path, left_out: Collection[str] = (), **settings: str) -> str:
    """Run the blocks of a page in ``folder`` and return what they print; all must succeed.

    The shell knows nothing of this process: no environment is activated, and the command is not on
    the path, unless the page says so.
    """
    port = free_port()
    home, said = folder.parent / "home", folder.parent / f"{page.stem}.txt"
    home.mkdir(exist_ok=True)
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "PYTHONPATH": str(ROOT / "src"),  # a copied environment may point to another checkout
    }
    with said.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-s"],
            cwd=folder,
            env={**environment, **settings},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            script = script_of(page.read_text(encoding="utf-8"), port, left_out)
            process.communicate(script, PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    printed = said.read_text(encoding="utf-8")
    assert process.returncode == 0, f"{page.name}:\n{printed[-3000:]}"
    return printed
