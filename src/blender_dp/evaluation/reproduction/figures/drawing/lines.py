"""Lines that several figures draw."""

from collections.abc import Callable

from blender_dp.evaluation.reproduction.series import Axis, Line, Panel, Role
from blender_dp.evaluation.reproduction.sweeps import EPSILONS, OPT_IN_SHARES, Setting, Setup

BY_OPT_IN = Axis(label="opt-in users (% of all users)", place="{:g} %")
BY_EPSILON = Axis(label="ε", place="ε = {:g}")
L1 = Axis(label="L1 of listed queries", logarithmic=True)
NDCG = Axis(label="NDCG")
GROUPS: tuple[tuple[str, Role, str], ...] = (
    ("blended", "blended", ""),
    ("opt-in group", "opt-in", "_opt_in"),
    ("clients", "clients", "_clients"),
)
"""Label, role, and suffix of the measure's name, for each line."""

Sweep = Callable[[Setup, int], tuple[tuple[float, Setting], ...]]


def over_opt_in(
    setup: Setup, size: int, shares: tuple[float, ...] = OPT_IN_SHARES
) -> tuple[tuple[float, Setting], ...]:
    """Return settings by the share of the users who opt in, placed in percent."""
    return tuple(
        (round(100 * share, 3), setup.setting(opt_in=share, head_list_size=size))
        for share in shares
    )


def over_epsilon(
    setup: Setup, size: int, epsilons: tuple[float, ...] = EPSILONS
) -> tuple[tuple[float, Setting], ...]:
    """Return settings by ε."""
    return tuple((e, setup.setting(epsilon=e, head_list_size=size)) for e in epsilons)


def size_label(size: int) -> str:
    """Return the label of a line of this list size."""
    return f"list size {size}"


def by_size(
    setup: Setup, *, measure: str, sweep: Sweep, x: Axis, y: Axis, title: str = ""
) -> Panel:
    """Return a panel with a line for every list size of the data set."""
    return sized_panel(
        setup.list_sizes, setup, measure=measure, sweep=sweep, axes=(x, y), title=title
    )


def sized_panel(
    sizes: tuple[int, ...],
    setup: Setup,
    *,
    measure: str,
    sweep: Sweep,
    axes: tuple[Axis, Axis],
    title: str,
) -> Panel:
    """Return a panel with a line for each of these list sizes."""
    lines = tuple(
        Line(label=size_label(size), measure=measure, role="size", settings=sweep(setup, size))
        for size in sizes
    )
    return Panel(title=title, x=axes[0], y=axes[1], lines=lines)


def group_panel(
    title: str, measure: str, settings: tuple[tuple[float, Setting], ...], axes: tuple[Axis, Axis]
) -> Panel:
    """Return a panel with the blend and each group alone."""
    lines = tuple(
        Line(label=label, measure=f"{measure}{suffix}", role=role, settings=settings)
        for label, role, suffix in GROUPS
    )
    return Panel(title=title, x=axes[0], y=axes[1], lines=lines)
