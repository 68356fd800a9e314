"""Figures and tables of the paper, one file each, in the order in which they are printed.

To add one, write its file and name it here.
"""

from blender_dp.evaluation.reproduction.figures import (
    budget_split,
    dataset_statistics,
    default_parameters,
    groups_apart,
    l1_by_epsilon,
    l1_by_opt_in,
    ndcg_by_epsilon,
    ndcg_by_opt_in,
    qin_comparison,
    tiny_groups_apart,
    tiny_opt_in,
    top_ten,
)
from blender_dp.evaluation.reproduction.figures.drawing.figure import Figure

FIGURES: tuple[Figure, ...] = (
    dataset_statistics.FIGURE,
    top_ten.FIGURE,
    budget_split.FIGURE,
    default_parameters.FIGURE,
    qin_comparison.FIGURE,
    l1_by_opt_in.FIGURE,
    l1_by_epsilon.FIGURE,
    ndcg_by_opt_in.FIGURE,
    ndcg_by_epsilon.FIGURE,
    groups_apart.FIGURE,
    tiny_opt_in.FIGURE,
    tiny_groups_apart.FIGURE,
)

__all__ = ["FIGURES", "Figure"]
