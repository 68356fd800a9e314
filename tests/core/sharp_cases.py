"""Inputs for tests of the ``sharp`` estimates: a channel, and two groups with known truth."""

from dataclasses import dataclass, replace
from math import ceil, exp

import numpy as np

from blender_dp.core.curator.budget import Branch
from blender_dp.core.estimation.client_views import ClientView, ClientViews
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.head_list.cells import Cells, FloatArray, IntArray


@dataclass(frozen=True)
class InOrOut:
    """A channel by how likely a report holds a cell: the true one, or any other."""

    pin: float
    pout: float

    @classmethod
    def of(cls, size: int, epsilon: float) -> "InOrOut":
        """Subset selection of d = size/(e^ε + 1) among ``size`` cells."""
        e = exp(epsilon)
        d = min(max(1, round(size / (e + 1))), size - 1)
        pin = d * e / (d * e + size - d)
        return cls(pin, pin * (d - 1) / (size - 1) + (1 - pin) * d / (size - 1))

    @property
    def fake_weight(self) -> float:
        return (1 - self.pout) / (self.pin - self.pout)

    def estimate(self, counts: IntArray | FloatArray, reports: int) -> FloatArray:
        return (counts / reports - self.pout) / (self.pin - self.pout)

    def variance(self, p: FloatArray, reports: int) -> FloatArray:
        inside, outside = self.pin * (1 - self.pin), self.pout * (1 - self.pout)
        spread: FloatArray = p * inside + (1 - p) * outside
        return spread / ((self.pin - self.pout) ** 2 * reports)


@dataclass(frozen=True, kw_only=True)
class TwoSlopes:
    """Noise Y with Pr[Y = y] falling as e^(-right·y) upwards and as e^(left·y) downwards."""

    right: float
    left: float

    @property
    def law(self) -> tuple[FloatArray, FloatArray]:
        """The values, as far as they matter, and their probabilities."""
        y = np.arange(-ceil(40 / self.left), ceil(40 / self.right) + 1.0)
        weight = np.exp(np.where(y >= 0, -self.right * y, self.left * y))
        return y, weight / weight.sum()

    @property
    def mean(self) -> float:
        y, probability = self.law
        return float(y @ probability)

    @property
    def variance(self) -> float:
        y, probability = self.law
        return float((y - self.mean) ** 2 @ probability)


@dataclass(frozen=True, kw_only=True)
class Groups:
    """What two groups of users released, and the distribution they were drawn from."""

    truth: FloatArray
    release: OptInViews
    cells: Cells
    clients: ClientViews
    users: int


def falling(cells: Cells, head: float = 0.5) -> FloatArray:
    """Return a distribution that falls from cell to cell, ⟨⋆,⋆⟩ having the rest."""
    weight = 1.0 / np.arange(1, cells.cell_count + 1)
    weight[-1] = 0.0
    p: FloatArray = head * weight / max(weight.sum(), 1.0)
    p[-1] = 1 - p[:-1].sum()
    return p


def draw_release(
    cells: Cells,
    p: FloatArray,
    rng: np.random.Generator,
    *,
    epsilon: float = 2.0,
    users: int = 20_000,
    branch: Branch = "laplace",
    one_record_each: bool = True,
) -> OptInViews:
    """Draw users with one record each; ``one_record_each`` is what is declared of them."""
    noise = TwoSlopes(right=0.7 * epsilon, left=0.15 * epsilon)
    size, scale, least = cells.cell_count, 2 / (0.15 * epsilon), ceil(13 / epsilon)
    counts = rng.multinomial(users, p).astype(np.float64)
    if branch == "laplace":
        y, law = noise.law
        mean, values = noise.mean, np.maximum(counts + rng.choice(y, size, p=law), least)
    else:
        mean, values = 0.0, np.maximum(counts + rng.normal(0, noise.variance**0.5, size), least)
    listed_sum, query_sum = counts[cells.is_listed].sum(), counts[:-1].sum()
    return OptInViews(
        cells=cells,
        users=users,
        branch=branch,
        one_record_each=one_record_each,
        values=np.where(cells.is_listed, values - mean, np.nan),
        value_variance=noise.variance,
        threshold=least - 0.5 - mean,
        slopes=(noise.right, noise.left) if branch == "laplace" else None,
        value_mean=mean,
        sums=counts + rng.laplace(0, scale, size),
        sum_variance=np.full(size, 2 * scale**2),
        record_squares=float(0.4 * listed_sum),
        query_squares=float(0.6 * query_sum),
        square_std_error=float(0.01 * users),
        most=32,
    )


def keep_queries(views: OptInViews, kept: IntArray) -> OptInViews:
    """Trim to these queries: what is dropped joins ⟨⋆,⋆⟩, its draws of noise included."""
    stays = np.isin(views.cells.query_of_cell, kept)
    return replace(
        views,
        cells=Cells.of((views.cells.urls_per_query[kept] - 1).tolist()),
        values=np.append(views.values[stays], np.nan),
        sums=np.append(views.sums[stays], views.sums[~stays].sum()),
        sum_variance=np.append(views.sum_variance[stays], views.sum_variance[~stays].sum()),
        trimmed_from=views.whole_list,
    )


def draw_clients(
    cells: Cells, p: FloatArray, rng: np.random.Generator, *, epsilon: float, reports: int
) -> ClientViews:
    """Draw estimates around the truth, half the clients asked for the record."""

    def view(truth: FloatArray) -> ClientView:
        channel = InOrOut.of(len(truth), epsilon)
        error = rng.normal(0, np.sqrt(channel.variance(truth, reports // 2)))
        return ClientView(
            estimate=truth + error - error.mean(), channel=channel, reports=reports // 2
        )

    return ClientViews(records=view(p), queries=view(cells.by_query(p)))


def draw_groups(
    urls: list[int],
    seed: int,
    *,
    epsilon: float = 2.0,
    opt_in: int = 20_000,
    clients: int = 200_000,
    branch: Branch = "laplace",
    one_record_each: bool = True,
    opt_in_truth: FloatArray | None = None,
) -> Groups:
    """Draw both groups, the opt-in users from ``opt_in_truth`` if they differ."""
    rng = np.random.default_rng(seed)
    cells = Cells.of(urls)
    p = falling(cells)
    release = draw_release(
        cells,
        p if opt_in_truth is None else opt_in_truth,
        rng,
        epsilon=epsilon,
        users=opt_in,
        branch=branch,
        one_record_each=one_record_each,
    )
    views = draw_clients(cells, p, rng, epsilon=epsilon, reports=clients)
    return Groups(truth=p, release=release, cells=cells, clients=views, users=opt_in + clients)
