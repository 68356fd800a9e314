"""EstimateOptinProbabilities as the paper states it (Fig. 4, ``fig:opt-in-alg-frequencies``).

Privacy: (ε, 0) in the trusted-curator model; see PRIVACY.md beside this file.
"""

from fractions import Fraction

import numpy as np

from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.curator.discovery import Discovery
from blender_dp.core.curator.opt_in_tally import OptInTally
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.estimation.estimates import Estimate, GroupEstimates
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace, variance
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import Cells, FloatArray, IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters
from blender_dp.core.population import OptInUsers


def two_parts(users: OptInUsers, parameters: Parameters) -> tuple[OptInUsers, OptInUsers]:
    """Divide O into S and T (Fig. 2 line 1)."""
    return users.split(parameters.head_list_user_fraction)


def local_alg(head_list: HeadList, opt_in: GroupEstimates, clients: int) -> Mechanism:  # noqa: ARG001 - nothing to choose
    """Return the mechanism of clients: LocalAlg, as in the candidates."""
    return head_list.mechanism


def estimate_optin_probabilities(
    users: OptInUsers, candidates: Discovery, parameters: Parameters, randomness: Randomness
) -> tuple[HeadList, GroupEstimates]:
    """Return the final head list HL, and the opt-in users' p̂_O and σ̂²_O on its cells.

    Paper: Fig. 4, all lines.

    Args:
        users: T; each gives m_O records.
        candidates: HL_S of CreateHeadList.
        parameters: ε, m_O and M.
        randomness: Source of the noise.
    """
    m_o = parameters.records_per_optin_user
    noise = sum_noise(parameters)
    hl_s = candidates.head_list
    folded = fold_other_urls(users.cell_counts(hl_s, m_o), hl_s.cells)
    noisy = folded + np.array([noise.draw(randomness) for _ in folded], dtype=np.int64)
    head_list, noisy = trim(hl_s, noisy, parameters.head_list_size)
    return head_list, estimate_published(noisy, head_list, parameters, users.size)


def sum_noise(parameters: Parameters) -> DiscreteLaplace:
    """Return the noise of every released count; the certificate uses it too."""
    return DiscreteLaplace(parameters.laplace_scale)


def fold_other_urls(counts: IntArray, cells: Cells) -> IntArray:
    """Count records outside HL_S as ⟨⋆,⋆⟩, then keep listed cells and ⟨⋆,⋆⟩ only (line 5).

    HL_S holds no ⟨q,⋆⟩ at this point: a listed query with another URL is ⟨⋆,⋆⟩ too. The
    clients count it as ⟨q,⋆⟩; that is flaw F3, kept.
    """
    listed = counts[cells.is_listed]
    return np.append(listed, counts.sum() - listed.sum())


def trim(
    candidates: HeadList, noisy: IntArray, most_queries: int | None
) -> tuple[HeadList, IntArray]:
    """Keep the M queries of the largest estimates; the rest joins ⟨⋆,⋆⟩ (lines 14-15).

    M counts queries, each with all its listed URLs (reading R1); ties go by byte order.
    """
    cells = candidates.cells
    query = cells.query_of_cell[cells.listed]
    totals = np.bincount(query, weights=noisy[:-1], minlength=len(candidates.queries))
    ranking = np.argsort(-totals, kind="stable")[:most_queries]
    kept = np.isin(query, ranking)
    rest = noisy[-1] + noisy[:-1][~kept].sum()
    return candidates.keeping(np.sort(ranking).tolist()), np.append(noisy[:-1][kept], rest)


def estimate_published(
    published: OptInTally | IntArray, head_list: HeadList, parameters: Parameters, users: int
) -> GroupEstimates:
    """Estimate from the noisy counts that were published of the given number of users."""
    if isinstance(published, OptInTally):
        raise BrokenInvariantError("paper estimates need noisy counts")
    total = parameters.records_per_optin_user * users
    return opt_in_estimates(published, head_list.cells, total=total, scale=parameters.laplace_scale)


def opt_in_estimates(
    noisy: IntArray, cells: Cells, *, total: int, scale: Fraction
) -> GroupEstimates:
    """Turn released noisy counts (listed cells, then ⟨⋆,⋆⟩) into estimates.

    Post-processing of the release. ⟨q,⋆⟩ has no opt-in estimate. The
    estimate of a query is the sum of its records'; its variance is computed "naively" by the
    same theorem (paper section 4.2), as if it had one draw of noise (flaw F4, kept).
    """
    released = np.append(cells.is_listed[:-1], True)
    counts = np.zeros(cells.cell_count, dtype=np.int64)
    counts[released] = noisy
    p_hat = counts / total
    by_cell = np.where(released, p_hat, np.nan)
    by_query = cells.by_query(p_hat)
    return GroupEstimates(
        cells=Estimate(probability=by_cell, variance=sample_variance(by_cell, total, scale)),
        queries=Estimate(probability=by_query, variance=sample_variance(by_query, total, scale)),
        counts=counts,
        total=total,
    )


def sample_variance(p_hat: FloatArray, total: int, scale: Fraction) -> FloatArray:
    """Return σ̂²_O (line 13, ``theorem:opt-in-variance``); negative where p̂ is (flaw F1, kept).

    The noise variance is that of the discrete law, where the paper has 2b².
    """
    return p_hat * (1 - p_hat) / (total - 1) + variance(scale) / (total * (total - 1))
