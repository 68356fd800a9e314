"""Flaws F1 to F6 of the algorithm as printed, counted in each run.

The ``paper`` preset is the reference, so its flaws stay; a result made with it shows how large
they were. docs/explanation/readings-and-flaws.md explains them.
"""

from dataclasses import dataclass

import numpy as np

from blender_dp.core.blender import PRESETS, BlenderResult
from blender_dp.core.channels.local_alg import LocalAlgChannel
from blender_dp.core.exact.discrete_laplace import variance


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """One flaw, its size in this run, and a sentence for a person."""

    id: str
    size: float
    sentence: str


def count_flaws(result: BlenderResult) -> list[Flaw]:
    """Measure the six flaws on one result of ``paper``; pure post-processing."""
    if not result.head_list.queries or not PRESETS[result.parameters.preset].has_printed_flaws:
        return []
    return [measure(result) for measure in (_f1, _f2, _f3, _f4, _f5, _f6)]


def negative_variances(result: BlenderResult) -> int:
    """Count the opt-in variance estimates below zero (flaw F1)."""
    return int(np.sum(result.curated.opt_in.cells.variance < 0))


def unsound_weights(result: BlenderResult) -> tuple[int, int]:
    """Count the rows of records and of queries whose weight lies outside 0 to 1."""
    records, queries = (
        int(np.sum(np.abs(level.opt_in_weight - 0.5) > 0.5))
        for level in (result.blended.cells, result.blended.queries)
    )
    return records, queries


def _f1(result: BlenderResult) -> Flaw:
    negative = negative_variances(result)
    records, queries = unsound_weights(result)
    estimated = int(np.sum(~np.isnan(result.curated.opt_in.cells.probability)))
    return Flaw(
        id="F1",
        size=negative / estimated,
        sentence=f"{negative} of {estimated} opt-in variance estimates are negative, and "
        f"{records} blend weights of records and {queries} of queries lie outside 0 to 1.",
    )


def _f2(result: BlenderResult) -> Flaw:
    """Compare the weights of records with lower and with higher opt-in than client estimates."""
    listed = result.head_list.cells.listed
    says_less = (result.curated.opt_in.cells.probability < result.clients.cells.probability)[listed]
    weight = np.clip(result.blended.cells.opt_in_weight[listed], 0, 1)
    less, more = (
        float(weight[part].mean()) if part.any() else 0.0 for part in (says_less, ~says_less)
    )
    return Flaw(
        id="F2",
        size=less - more,
        sentence="The weights depend on the estimates they weigh: the opt-in users count for "
        f"{less:.2f} on average where they say less than the clients and for {more:.2f} where they "
        "say more, which pulls rare records down.",
    )


def _f3(result: BlenderResult) -> Flaw:
    cells = result.head_list.cells
    other_url = cells.star_of_query[:-1]
    mass = float(result.clients.cells.probability[other_url].sum())
    return Flaw(
        id="F3",
        size=mass,
        sentence="Listed queries with another URL are counted as everything else by the opt-in "
        f"users and under their query by the clients: {mass:.2%} of all records, by the clients' "
        "estimate.",
    )


def _f4(result: BlenderResult) -> Flaw:
    """Compare ⟨⋆,⋆⟩'s variance with one that counts one draw of noise per trimmed record."""
    n = result.curated.opt_in.total
    draws = 1 + result.curated.candidate_records - len(result.head_list.records())
    used = float(result.curated.opt_in.cells.variance[-1])
    right = used + (draws - 1) * variance(result.parameters.laplace_scale) / (n * (n - 1))
    missing = 1 - used / right if right > 0 else 0.0
    return Flaw(
        id="F4",
        size=missing,
        sentence=f"Everything else adds up {draws} draws of noise but its opt-in variance counts "
        f"one: {missing:.0%} too small.",
    )


def _f5(result: BlenderResult) -> Flaw:
    opted_in = result.curated.discovery_users + result.curated.estimation_users
    share = result.curated.discovery_users / opted_in
    return Flaw(
        id="F5",
        size=share,
        sentence=f"{share:.0%} of the opt-in users only name records; their counts are not used.",
    )


def _f6(result: BlenderResult) -> Flaw:
    promised, tight = result.parameters.epsilon, tight_client_epsilon(result)
    return Flaw(
        id="F6",
        size=promised - tight,
        sentence=f"LocalAlg is promised ε = {promised:g} and its reports differ by at most "
        f"{tight:.3f}. Spending the rest would have made the estimates more accurate.",
    )


def tight_client_epsilon(result: BlenderResult) -> float:
    """Return the pure ε of all m_C reports of a client."""
    channel = LocalAlgChannel.of(result.head_list.cells, result.head_list.mechanism)
    return result.head_list.mechanism.records_per_client * channel.tight_epsilon()
