"""Fake reports in small and large campaigns: their effect, and whether it is detected.

Fakes are added to honest reports of simulated campaigns. Every row summarises several
campaigns; ``python -m benchmarks.poisoning 40`` draws 40 of them. Writes ``poisoning.md``.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from blender_dp.core.blender import PRESETS, Curated, curate, with_relay
from blender_dp.core.channels.channel import Channel
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.channels.report import Question
from blender_dp.core.estimate_client_probabilities.sharp import (
    client_estimates,
    estimate_client_probabilities,
)
from blender_dp.core.estimation.estimates import BlendedEstimates, GroupEstimates
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters
from blender_dp.core.population import ReportCounts
from blender_dp.engine.synthetic.workloads import aol_single
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedPopulation

OUTPUT = Path(__file__).parent / "poisoning.md"
CAMPAIGNS = ((62_000, 0.025), (63_150, 0.05), (300_000, 0.01), (519_371, 0.05))
"""Users, and the share that opts in."""
RELAY_CAMPAIGNS = ((63_150, 0.05), (519_371, 0.05))
"""The same, with all clients behind a relay."""
RELAY = RelayRules(share=1.0)
SHARES = (0.001, 0.005, 0.01)
EPSILON, DELTA = 4.0, 1e-5


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """Opt-in users and clients of one campaign; the clients are all local, or all use a relay."""

    curated: Curated
    honest: ReportCounts
    head_list: HeadList
    """The list as these clients report against it."""
    local: GroupEstimates | None = None
    """What local clients say where all clients use the relay: nothing."""

    @property
    def channels(self) -> Mapping[Question, Channel]:
        """The channel of every question that these clients are asked."""
        return self.head_list.mechanism.channels(self.head_list.cells)

    def estimate(self, reports: ReportCounts) -> GroupEstimates:
        """Return what the clients say with these reports."""
        return client_estimates(reports, self.head_list.cells, self.head_list.mechanism)

    def blend(self, reports: ReportCounts) -> BlendedEstimates:
        """Return what comes out with these reports."""
        clients = self.estimate(reports)
        if self.local is not None:
            clients = self.local.with_relayed(clients)
        return PRESETS["sharp"].blend_probabilities(self.curated.opt_in, clients)

    def weight_of_a_fake(self, target: int, share: float, seed: int) -> float:
        """Return how many clients who have the record a fake counts as, in the estimate alone."""
        targets = np.array([target])
        honest = self.estimate(self.honest).cells.probability[target]
        pushed = self.estimate(self.with_fakes(targets, share, seed)).cells.probability[target]
        return float((pushed - (1 - share) * honest) / share)

    def pushed(self, targets: IntArray, share: float, seed: int) -> BlendedEstimates:
        """Let fakes that name their target take the place of a share of the clients."""
        return self.blend(self.with_fakes(targets, share, seed))

    def with_fakes(
        self, targets: IntArray, share: float, seed: int, *, is_asked_by_lot: bool = True
    ) -> ReportCounts:
        """Return the reports with fakes in the place of a share of the honest ones.

        Who makes up ids can choose those that are asked for the record; a token's id is drawn.
        """
        made, cells = self.honest, self.curated.head_list.cells
        fakes = round(share * (made.cell_reports + made.query_reports))
        asked = round(fakes * made.query_reports / (made.cell_reports + made.query_reports))
        asked *= is_asked_by_lot
        of_records = np.resize(targets, fakes - asked)
        of_queries = cells.query_of_cell[np.resize(targets, asked)]
        named = _named(self.channels["record"], of_records, seed)
        named_queries = np.zeros_like(made.queries)
        if asked:
            named_queries = _named(self.channels["query"], of_queries, seed)
        return ReportCounts(
            cells=np.round(made.cells * (1 - share)).astype(np.int64) + named,
            cell_reports=round(made.cell_reports * (1 - share)) + fakes - asked,
            queries=np.round(made.queries * (1 - share)).astype(np.int64) + named_queries,
            query_reports=round(made.query_reports * (1 - share)) + asked,
        )


def draw_campaign(log: CodedLog, opt_in: float, seed: int, *, relay: bool = False) -> Campaign:
    """Draw all groups again."""
    randomness = Randomness.seeded(seed)
    parameters = Parameters(epsilon=EPSILON, delta=DELTA, one_record_each=True)
    population = CodedPopulation.draw(
        log, opt_in=opt_in, seed=seed, randomness=randomness, relay=RELAY.share if relay else 0.0
    )
    relayed = population.relayed
    curated = curate(
        population.opt_in,
        parameters,
        randomness,
        clients=population.clients.size,
        relay_clients=0 if relayed is None else relayed.size,
    )
    if relayed is None:
        honest = population.clients.report_counts(curated.head_list)
        return Campaign(curated=curated, honest=honest, head_list=curated.head_list)
    curated = with_relay(curated, clients=relayed.size, rules=RELAY)
    head_list = curated.head_list.for_batch(relayed.size)
    return Campaign(
        curated=curated,
        honest=relayed.report_counts(head_list),
        head_list=head_list,
        local=estimate_client_probabilities(population.clients, curated.head_list),
    )


def main(repetitions: int) -> None:
    """Measure and write."""
    kinds = ((CAMPAIGNS, False), (RELAY_CAMPAIGNS, True))
    rows = [
        row
        for campaigns, relay in kinds
        for users, opt_in in campaigns
        for row in _measured(users, opt_in, repetitions, relay=relay)
    ]
    OUTPUT.write_text(_page(rows, repetitions), encoding="utf-8")
    print(OUTPUT.read_text(encoding="utf-8"))


def _measured(users: int, opt_in: float, repetitions: int, *, relay: bool) -> list[str]:
    columns = aol_single(users)
    log = CodedLog.of(columns.user, columns.query, columns.url)
    drawn = [draw_campaign(log, opt_in, seed, relay=relay) for seed in range(repetitions)]
    clean = [campaign.blend(campaign.honest) for campaign in drawn]
    visible = [blend.disagreement.visible() for blend in clean if blend.disagreement]
    stated = [v for v in visible if v is not None]
    median, spread = (
        float(np.median([getattr(v, name) for v in stated])) for name in ("median", "spread")
    )
    false = sum(is_seen(blend) for blend in clean)
    rows = []
    for share in (*SHARES, median, spread):
        print(f"{users:,} users, {opt_in:.1%} opted in, {share:.2%} fakes ...", file=sys.stderr)
        alone, parted, shifts, weights = 0, 0, [], []
        for seed, (campaign, before) in enumerate(zip(drawn, clean, strict=True)):
            ranked = ranked_records(campaign, before)
            pushed = campaign.pushed(ranked[-1:], share, seed)
            moved = pushed.cells.projected - before.cells.projected
            shifts.append(float((moved / before.cells.raw.std_error)[ranked[-1]]))
            weights.append(campaign.weight_of_a_fake(int(ranked[-1]), share, seed))
            alone += is_seen(pushed)
            parted += is_seen(campaign.pushed(ranked[-10:], share, seed))
        rows.append(
            f"| {users - round(users * opt_in):,}{' (relay)' if relay else ''} | "
            f"{round(users * opt_in):,} | {share:.2%} | {np.mean(weights):.2f} | "
            f"{np.mean(shifts):.1f} | {alone} of {repetitions} | {parted} of {repetitions} | "
            f"{median:.2%} | {spread:.2%} | {false} of {repetitions} |"
        )
    return rows


def _named(channel: Channel, targets: IntArray, seed: int) -> IntArray:
    """Count what fakes name: their target, and others at random, so that they do not look alike."""
    random = np.random.default_rng(seed).random((len(targets), channel.size))
    random[np.arange(len(targets)), targets] = 2.0
    named = np.argpartition(random, -channel.subset_size, axis=1)[:, -channel.subset_size :]
    return np.bincount(named.ravel(), minlength=channel.size)


def ranked_records(campaign: Campaign, blend: BlendedEstimates) -> IntArray:
    """Return the cells of the listed records, the most popular first."""
    listed = campaign.curated.head_list.cells.listed
    return listed[np.argsort(-blend.cells.projected[listed])]


def is_seen(blend: BlendedEstimates) -> bool:
    """Tell whether an alarm is raised."""
    return blend.disagreement is not None and blend.disagreement.is_alarming


def _page(rows: list[str], repetitions: int) -> str:
    return "\n".join(
        [
            "# Fake reports, in campaigns of all sizes",
            "",
            f"Made by `make poisoning` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores,",
            f"{repetitions} campaigns per row, workload `aol-single`, preset `sharp`, ε = 4,",
            "δ = 10⁻⁵. Fakes name the rarest listed record, or one of the ten rarest. *Weight*:",
            "how many clients with the record one fake counts as, in the clients' own estimate.",
            "*Stated*: what the release itself says would be seen in four of five cases, for half",
            "of the records and divided over ten (medians over the campaigns). *Relay*: all of the",
            "clients report through a relay, ε0 is at most 8, a fifth of a batch may be dishonest.",
            "",
            "| clients | opt-in users | fakes | weight | shift of the record, std errors | seen "
            "| divided over ten: seen | stated | stated, divided | alarms without fakes |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
