"""Targets, each fuzzed in a process of its own: ``fuzz_one.py SEEDS RUNS SECONDS FOUND TARGET...``.

By atheris, which follows the branches that an input takes; without it the same changes by chance.
An input that breaks a rule is left in the folder FOUND/TARGET, and the exit status is not 0. The
code is instrumented once; the processes are forked from that.
"""

import os
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

try:
    import atheris
except ImportError:
    atheris = None

if atheris is not None:
    with atheris.instrument_imports(
        include=["blender_dp.wire", "blender_dp.server", "blender_dp.relay", "blender_dp.service"]
    ):
        from fuzz.targets import all_targets
else:
    from fuzz.targets import all_targets

from fuzz.changes import changed, turned
from fuzz.seeds import Seeds

MOST_BYTES = 1 << 15
MOST_MEGABYTES = 2048


def main(seeds: str, runs: str, seconds: str, found: str, *names: str) -> None:
    """Fuzz one target after the other, up to the first that fails."""
    for name in names:
        child = os.fork()
        if not child:
            fuzz(name, seeds, runs, seconds, str(Path(found) / name))
        if status := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            sys.exit(f"{name} ended with status {status}")


def fuzz(name: str, seeds: str, runs: str, seconds: str, found: str) -> None:
    """Fuzz one target; does not return."""
    Path(found).mkdir(parents=True, exist_ok=True)
    target = all_targets(Seeds(Path(seeds)))[name]
    for seed in target.seeds:
        target.read(seed)
    if atheris is None:
        _by_chance(target.read, target.seeds, int(runs), float(seconds), Path(found))
        sys.exit(0)
    corpus = Path(found) / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)

    def mutate(content: bytes, most: int, seed: int) -> bytes:
        return changed(content, random.Random(seed), lambda old: atheris.Mutate(old, most))[:most]

    options = [
        *(f"-runs={runs}", f"-max_total_time={int(float(seconds))}", "-seed=1", "-verbosity=0"),
        *(
            f"-max_len={MOST_BYTES}",
            f"-rss_limit_mb={MOST_MEGABYTES}",
            "-timeout=60",
            "-print_final_stats=1",
        ),
        *(f"-artifact_prefix={found}/", str(corpus)),
    ]
    atheris.Setup([sys.argv[0], *options], target.read, custom_mutator=mutate)
    atheris.Fuzz()


def _by_chance(read, seeds, runs: int, seconds: float, found: Path) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    coins, end = random.Random(1), time.monotonic() + seconds
    pool = list(seeds)
    for _ in range(runs):
        if time.monotonic() > end:
            return
        content = changed(coins.choice(pool), coins, lambda old: turned(old, coins))
        pool = [*seeds, content, *pool[len(seeds) : 200]]
        try:
            read(content)
        except Exception:
            found.mkdir(parents=True, exist_ok=True)
            (found / "crash").write_bytes(content)
            raise


if __name__ == "__main__":
    main(*sys.argv[1:])
