"""``blender-dp audit``: attack the running code and print the largest ε that could be proved."""

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rich.table import Table

from blender_dp.audit.black_box import Finding
from blender_dp.audit.black_box import audit as attack_all
from blender_dp.audit.curator_targets import curator_targets
from blender_dp.audit.relay_targets import own_relay_list, relay_targets
from blender_dp.audit.targets import Target, device_targets, own_list
from blender_dp.cli.certify import BROKEN
from blender_dp.cli.options import Flag
from blender_dp.cli.terminal import RESULTS, print_json, say, shown_progress
from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.parameters import Parameters
from blender_dp.wire.published.head_list import read_head_list

DRAWS = 4_000_000


def audit(
    head_list: Path | None = None,
    /,
    *,
    epsilon: float = 2.0,
    delta: float = 1e-3,
    draws: int = DRAWS,
    alpha: float = 1e-6,
    seed: int | None = None,
    json: Flag = False,
) -> None:
    """Attack the devices and the curator's steps of this installation, seeing only their output.

    Neighbouring inputs are chosen, the code is run on them many times, and exact bounds on the
    outputs prove a lower bound on the privacy loss ε. Reads no data. A pass means that these
    attacks found nothing; certify computes an upper bound.
    Exit status: 0 if no loss above the promise was proved, 1 if one was, 2 for a wrong argument.

    Parameters
    ----------
    head_list
        A published head_list.json whose devices are attacked. Default: small built-in lists.
    epsilon
        ε under which the code is run. A small one needs fewer draws to be tested.
    delta
        δ under which the code is run.
    draws
        Draws of each neighbour for the fastest part; slower parts get a fixed share of them.
    alpha
        Probability that an audit accuses correct code, over all its proofs together.
    seed
        Seed, to repeat an audit.
    json
        Print the findings for a program instead of the table.
    """
    randomness = Randomness.secure() if seed is None else Randomness.seeded(seed)
    targets = [
        *_devices(head_list, epsilon, delta, private=randomness.is_private),
        *curator_targets(epsilon, delta),
    ]
    with shown_progress() as progress:

        def report(target: str, share: float) -> None:
            if target:
                progress.step(f"attack {target}")
            progress.share(share)

        findings = attack_all(targets, randomness, draws=draws, alpha=alpha, progress=report)
    _show(findings, alpha, as_json=json)


def _devices(
    head_list: Path | None, epsilon: float, delta: float, *, private: bool
) -> list[Target]:
    if head_list is not None:
        published = replace(read_head_list(head_list), private=private)
        relayed = [] if published.relay is None else relay_targets(published)
        return [*device_targets(published), *relayed]
    paper = Parameters(preset="paper", epsilon=epsilon, delta=delta)
    mechanisms: tuple[Mechanism, ...] = (
        LocalAlgMechanism.of(paper),
        SubsetSelectionMechanism(epsilon=epsilon, query_share=0.25),
    )
    lists = [own_list(mechanism, private=private) for mechanism in mechanisms]
    of_clients = [target for listed in lists for target in device_targets(listed)]
    return [*of_clients, *relay_targets(own_relay_list(epsilon, delta, private=private))]


def _show(findings: list[Finding], alpha: float, *, as_json: bool) -> None:
    broken = [finding for finding in findings if not finding.is_kept]
    if as_json:
        verdict = "broken" if broken else "kept"
        print_json({"alpha": alpha, "verdict": verdict, "findings": list(map(_document, findings))})
    else:
        RESULTS.print(_table(findings))
        RESULTS.print(f"\nAt most one of {1 / alpha:,.0f} audits proves something wrong.")
    if broken:
        worst = max(broken, key=lambda finding: finding.shown - finding.epsilon)
        sys.stdout.flush()
        say(
            f"blender-dp: {worst.target} spends more than it promises: ε = {worst.shown:.4g} is "
            f"proved where ε = {worst.epsilon:.4g} was promised."
        )
        sys.exit(BROKEN)


def _document(finding: Finding) -> dict[str, Any]:
    return {**asdict(finding), "verdict": "kept" if finding.is_kept else "broken"}


def _table(findings: list[Finding]) -> Table:
    table = Table(title=None, box=None, pad_edge=False)
    table.add_column("what was attacked")
    for heading in ("ε promised", "ε proved", "δ", "draws", "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for finding in findings:
        table.add_row(
            finding.target,
            f"{finding.epsilon:.4f}",
            f"{finding.shown:.4f}" + ("" if finding.is_kept else " !"),
            f"{finding.delta:g}",
            f"{finding.draws:,}",
            f"{finding.seconds:.1f}",
        )
    return table
