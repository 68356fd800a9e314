"""Packages with the interfaces of the peers', and no noise: what adapters make of exact answers.

The real packages are heavy and live in an environment of their own (``make peers``).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np


class Client:
    """Reports the truth."""

    def __init__(self, *_given: object, **_named: object) -> None:
        pass

    def privatise(self, item: object) -> object:
        return item


class Server:
    """Counts, whatever it is given."""

    def __init__(self, *_given: object, **_named: object) -> None:
        self.counts: Counter[object] = Counter()
        self.n = 0

    def aggregate(self, report: object) -> None:
        self.counts[report] += 1
        self.n += 1

    def estimate_all(self, items: Iterable[object], *, suppress_warnings: bool) -> list[int]:
        assert suppress_warnings
        return [self.counts[item] for item in items]

    def get_hash_funcs(self) -> list[object]:
        return []

    def find_heavy_hitters(self, k: int) -> tuple[tuple[object, ...], tuple[int, ...]]:
        strings, counts = zip(*self.counts.most_common(k), strict=True)
        return strings, counts


def pure_ldp() -> dict[str, Any]:
    """Return the modules of pure-ldp that are used."""
    oracles = ("DE", "UE", "FastLH", "HadamardResponse", "SketchResponse")
    protocols = ("PEM", "SFP")
    return {
        "pure_ldp.frequency_oracles": _pairs(oracles),
        "pure_ldp.heavy_hitters": _pairs(protocols),
    }


def _pairs(names: Sequence[str]) -> SimpleNamespace:
    clients = {f"{name}Client": Client for name in names}
    return SimpleNamespace(**clients, **{f"{name}Server": Server for name in names})


def multi_freq_ldpy() -> dict[str, Any]:
    """Return the modules of multi-freq-ldpy that are used, and of numba."""
    oracles = "multi_freq_ldpy.pure_frequency_oracles"

    def one_hot(item: int, *, k: int, epsilon: float, optimal: bool) -> np.ndarray:
        assert epsilon > 0
        assert not optimal  # RAPPOR's probabilities are the symmetric ones
        hot = np.zeros(k)
        hot[item] = 1
        return hot

    def bits(reports: Any, _epsilon: float, *, optimal: bool) -> np.ndarray:
        assert not optimal
        return np.asarray(sum(reports) / len(reports))

    def subset(item: int, *, k: int, epsilon: float) -> list[int]:
        assert epsilon > 0
        assert item < k
        return [item]

    def shares(reports: Any, k: int, _epsilon: float) -> np.ndarray:
        return np.bincount([report[0] for report in reports], minlength=k) / len(reports)

    return {
        oracles: SimpleNamespace(),
        f"{oracles}.UE": SimpleNamespace(UE_Client=one_hot, UE_Aggregator_MI=bits),
        f"{oracles}.SS": SimpleNamespace(SS_Client=subset, SS_Aggregator_MI=shares),
        "numba": SimpleNamespace(njit=lambda function: function),
    }


class _Engine:
    def __init__(self, budget: SimpleNamespace, backend: str) -> None:
        assert backend == "local"
        self.budget = budget

    def aggregate(
        self, rows: Sequence[tuple[int, int]], params: dict[str, Any], extract: dict[str, Any]
    ) -> list[tuple[int, SimpleNamespace]]:
        assert (
            params["max_partitions_contributed"] == params["max_contributions_per_partition"] == 1
        )
        users: dict[int, set[int]] = {}
        for row in rows:
            user, record = extract["privacy_id_extractor"](row), extract["partition_extractor"](row)
            users.setdefault(record, set()).add(user)
        return [(r, SimpleNamespace(privacy_id_count=len(who))) for r, who in users.items()]


def pipeline_dp(told: Callable[[float, float], None]) -> dict[str, Any]:
    """Return PipelineDP, which tells the budget that it was given."""

    def budget(*, total_epsilon: float, total_delta: float) -> SimpleNamespace:
        told(total_epsilon, total_delta)
        return SimpleNamespace(compute_budgets=lambda: None)

    module = SimpleNamespace(
        NaiveBudgetAccountant=budget,
        DPEngine=_Engine,
        LocalBackend=lambda: "local",
        AggregateParams=dict,
        DataExtractors=dict,
        NoiseKind=SimpleNamespace(LAPLACE="laplace"),
        Metrics=SimpleNamespace(PRIVACY_ID_COUNT="users"),
    )
    return {"pipeline_dp": module}
