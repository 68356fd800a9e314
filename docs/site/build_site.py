"""Builds the documentation site: ``make site`` writes ``site/VERSION``, which needs no server.

The Markdown files of the repository are copied into a folder of their own, with links to source
code turned into links to pages of the site, and Sphinx builds that folder. A warning is an error.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from check_site import faults_of
from staging import stage

ROOT = Path(__file__).parents[2]
_REDIRECT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>blender-dp</title>
<meta http-equiv="refresh" content="0; url={version}/index.html">
<a href="{version}/index.html">blender-dp {version}</a>
</html>
"""


def main() -> None:
    """Build the site of this version beside those of other versions."""
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    target = site / project["version"]
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory() as staged:
        stage(ROOT, Path(staged))
        if _run_sphinx(Path(staged), target):
            raise SystemExit("The site has warnings, which count as errors.")
    write_versions(site)
    if faults := list(faults_of(target)):
        raise SystemExit("\n".join(faults))
    sys.stdout.write(f"Open {target}/index.html.\n")


def _run_sphinx(source: Path, target: Path) -> int:
    """Build the staged pages and return the exit status: not 0 if there was a warning."""
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]
    command += ["-b", "html", "-c", str(Path(__file__).parent), "-d", str(source / ".doctrees")]
    command += ["-D", f"version={target.name}", "-D", f"release={target.name}"]
    return subprocess.run([*command, str(source), str(target)], check=False).returncode  # noqa: S603 - Sphinx


def write_versions(site: Path) -> None:
    """Tell the pages of every version which versions are there; the newest one is the start."""
    found = [path.parent.name for path in site.glob("*/index.html")]
    versions = sorted(found, key=lambda name: [_number(part) for part in name.split(".")])[::-1]
    (site / "versions.js").write_text(f"const VERSIONS = {json.dumps(versions)};\n")
    (site / "index.html").write_text(_REDIRECT.format(version=versions[0]), encoding="utf-8")


def _number(part: str) -> tuple[int, str]:
    """Return a part of a version so that 10 comes after 9, and 0rc1 before 0."""
    rest = part.lstrip("0123456789")
    return int(part[: len(part) - len(rest)] or 0), rest or "~"


if __name__ == "__main__":
    main()
