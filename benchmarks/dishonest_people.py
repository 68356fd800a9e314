"""What some dishonest people do to a campaign in which every report needs a token of a person.

Each of them has one token, so sends one report, and cannot choose the question that it answers.
Without tokens one person does all of it alone, and chooses. Three attacks: fake reports, directly
and through a relay; accounts that list a record and fake reports that confirm it; a relay's batch
that is filled up. ``python -m benchmarks.dishonest_people 20`` draws 20 campaigns per row. Writes
``dishonest_people.md``.
"""

import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil
from pathlib import Path

import numpy as np

from benchmarks.measure import made_by
from benchmarks.poisoning import (
    DELTA,
    RELAY,
    Campaign,
    draw_campaign,
    is_seen,
    ranked_records,
)
from blender_dp.core.certificate.certificate import least_epsilon
from blender_dp.core.certificate.shuffle import SPARE, shuffled_delta
from blender_dp.core.channels.relayed import RelayMechanism
from blender_dp.core.parameters import Parameters, exact
from blender_dp.engine.synthetic.workloads import aol_single
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.local_search.serving import ServingRule

OUTPUT = Path(__file__).parent / "dishonest_people.md"
CAMPAIGNS = ((63_150, 0.05), (519_371, 0.05))
"""Users, and the share that opts in."""
PEOPLE = (10, 60, 300, 500, 3_000)
FILLED = (Fraction(0), Fraction(1, 5), Fraction(2, 5), Fraction(9, 10), Fraction(1))
"""Shares of a batch that are dishonest, but for one report at least."""
PROMISES = (1.0, 4.0)
FAKES = """
## Fake reports

*Shift*: of the rarest listed record, in its standard errors, and in parts of its own share.
*Chosen*: the shift if the question could be chosen, as without tokens; a relay asks one question
only. *Shown*: how many people, each with a token, must report a record that no honest client has
before [local search](../docs/how-to/local-search.md) shows it: expected, by its rule and the
standard errors of these campaigns. Five to nine opt-in accounts must have put it on the list.

| clients | way | dishonest people | shift | of its share | chosen | alarm | shown |
|---|---|---|---|---|---|---|---|
"""
BATCHES = """
## A batch that is filled up

What a batch keeps for its honest clients towards the collector at δ = 10⁻⁵, computed as the
certificate does, if this many of its reports are dishonest. The promise counts on a fifth. If all
reports but one are dishonest, ε0 is left: what relay and collector could learn together.

| batch | cells | promised ε | dishonest people needed | of the batch | ε of the others |
|---|---|---|---|---|---|
"""


def main(repetitions: int) -> None:
    """Measure and write."""
    fakes, batches = list[str](), list[str]()
    for users, opt_in in CAMPAIGNS:
        columns = aol_single(users)
        log = CodedLog.of(columns.user, columns.query, columns.url)
        for relay in (False, True):
            print(f"{users:,} users, relay: {relay} ...", file=sys.stderr)
            drawn = [draw_campaign(log, opt_in, seed, relay=relay) for seed in range(repetitions)]
            fakes += [*_faked(drawn, relay=relay)]
            if relay:
                batches += [row for promised in PROMISES for row in _filled(drawn[0], promised)]
    text = (
        f"# Dishonest people with one token each\n\n{made_by('make dishonest-people')}\n"
        f"{repetitions} campaigns per row, workload `aol-single`, preset `sharp`, δ = 10⁻⁵;\n"
        f"ε = 4 unless said otherwise; through a relay ε0 is at most 8.\n{FAKES}"
    )
    lines = [text, *fakes, BATCHES, *batches]
    OUTPUT.write_text("".join(lines), encoding="utf-8")
    print(OUTPUT.read_text(encoding="utf-8"))


def _faked(drawn: Sequence[Campaign], *, relay: bool) -> Iterator[str]:
    clean = [campaign.blend(campaign.honest) for campaign in drawn]
    clients = [one.honest.cell_reports + one.honest.query_reports for one in drawn]
    shown = np.mean([_people_until_shown(*both) for both in zip(drawn, clients, strict=True)])
    for people in PEOPLE:
        shifts, shares, chosen, alarms = [], [], [], 0
        for seed, (campaign, before, count) in enumerate(zip(drawn, clean, clients, strict=True)):
            target = ranked_records(campaign, before)[-1:]
            moved = [
                campaign.blend(
                    campaign.with_fakes(target, people / count, seed, is_asked_by_lot=by_lot)
                )
                for by_lot in (True, False)
            ]
            lot, free = (
                float((blend.cells.projected - before.cells.projected)[target[0]])
                for blend in moved
            )
            error = float(before.cells.raw.std_error[target[0]])
            shifts.append(lot / error)
            chosen.append(free / error)
            shares.append(lot / float(before.cells.projected[target[0]]))
            alarms += is_seen(moved[0])
        yield (
            f"| {clients[0]:,} | {'relay' if relay else 'direct'} | {people:,} "
            f"| {np.mean(shifts):.1f} | {np.mean(shares):.0%} "
            f"| {'–' if relay else f'{np.mean(chosen):.1f}'} "
            f"| {alarms} of {len(drawn)} | {shown:,.0f} |\n"
        )


def _people_until_shown(campaign: Campaign, clients: int) -> int:
    """Return how many fakes make the clients' estimate of a planted record pass local search."""
    rule = ServingRule()
    clean = campaign.estimate(campaign.honest).cells
    rarest = int(ranked_records(campaign, campaign.blend(campaign.honest))[-1])
    weight = campaign.weight_of_a_fake(rarest, 0.01, seed=0)
    needed = rule.fewest_users / clients + rule.push * weight
    needed += rule.significance * float(clean.std_error[rarest])
    return ceil(needed * clients / weight)


def _filled(campaign: Campaign, promised: float) -> Iterator[str]:
    cells, batch = campaign.head_list.cells, campaign.honest.cell_reports
    mechanism = RelayMechanism.of(
        cells, Parameters(epsilon=promised, delta=DELTA), clients=batch, rules=RELAY
    )
    channel, delta = mechanism.channel(cells), exact(DELTA)
    for share in FILLED:
        dishonest = min(int(share * batch), batch - 1)

        def spent(at: Fraction, honest: int = batch - dishonest) -> Fraction:
            return shuffled_delta(channel, honest, at, delta * SPARE)

        kept = least_epsilon(spent, delta, exact(promised))
        least = float("inf") if kept is None else float(kept)
        yield (
            f"| {batch:,} | {cells.cell_count} | {promised:g} | {dishonest:,} "
            f"| {float(share):.0%} | {min(least, mechanism.report_epsilon):.2f} |\n"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
