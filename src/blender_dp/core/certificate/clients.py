"""What a client's report spends, from the published head list alone: every column enumerated."""

from fractions import Fraction

from blender_dp.core.certificate.certificate import Account, Constant, Part, least_epsilon
from blender_dp.core.channels.local_alg import LocalAlgChannel
from blender_dp.core.channels.mechanism import LocalAlgMechanism, SubsetSelectionMechanism
from blender_dp.core.channels.subset_selection import SubsetChannel, SubsetChannels
from blender_dp.core.exact.enclosure import exp_enclosure, ln_enclosure
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters, exact

_BITS = 256


def client_account(head_list: HeadList, parameters: Parameters | None) -> Account:
    """Return what clients spend who report against ``head_list``.

    Args:
        head_list: The list and its mechanism.
        parameters: What was promised; if None, what the list itself says.
    """
    mechanism = head_list.mechanism
    epsilon = exact(mechanism.epsilon if parameters is None else parameters.epsilon)
    if isinstance(mechanism, SubsetSelectionMechanism):
        delta, part = Fraction(0), _subset_selection(head_list, mechanism, epsilon)
    else:
        delta = exact(mechanism.delta if parameters is None else parameters.delta)
        part = _local_alg(head_list, mechanism, epsilon, delta)
    return Account(
        to="clients",
        model="local",
        promised_epsilon=epsilon,
        promised_delta=delta,
        parts=(part,),
    )


def _subset_selection(
    head_list: HeadList, mechanism: SubsetSelectionMechanism, promised: Fraction
) -> Part:
    channels = SubsetChannels.of(head_list.cells, mechanism)
    asked = {"record": channels.records, "query": channels.queries}
    ratio = max(channel.likelihood_ratio() for channel in asked.values())
    return Part(
        release="report",
        method="Every report of either question, by whether it names the truth: the ratio of its "
        "two probabilities is a fraction, and ε its logarithm.",
        promised_epsilon=promised,
        promised_delta=Fraction(0),
        epsilon=_logarithm(ratio),
        delta=max(_subset_delta(channel, promised) for channel in asked.values()),
        is_tight=True,
        constants={
            f"{question}_{name}": value
            for question, channel in asked.items()
            for name, value in (
                ("items", channel.size),
                ("named", channel.subset_size),
                ("threshold", channel.threshold),
            )
        },
    )


def _subset_delta(channel: SubsetChannel, epsilon: Fraction) -> Fraction:
    """Return the hockey-stick divergence of two inputs at ε, rounded up.

    Reports that name one input and not the other are all that differ. They have probability pin
    times the share of (d-1)-subsets that leave the other input out.
    """
    ratio = channel.likelihood_ratio()
    if channel.size == 1 or ratio <= 1:
        return Fraction(0)
    telling = channel.exact_pin * Fraction(channel.size - channel.subset_size, channel.size - 1)
    return max(telling * (1 - _at_most_exp(epsilon) / ratio), Fraction(0))


def _local_alg(
    head_list: HeadList, mechanism: LocalAlgMechanism, epsilon: Fraction, delta: Fraction
) -> Part:
    channel = LocalAlgChannel.of(head_list.cells, mechanism)
    reports = mechanism.records_per_client

    def spent(together: Fraction) -> Fraction:
        return reports * channel.excess(together / reports)

    sizes = sorted(set(head_list.cells.urls_per_query.tolist()))
    threshold_of = dict(
        zip(head_list.cells.urls_per_query.tolist(), channel.url_thresholds, strict=True)
    )
    constants: dict[str, Constant] = {
        "reports": reports,
        "queries": head_list.cells.query_count,
        "query_threshold": channel.query_threshold,
        **{f"url_threshold_of_{size}": threshold_of[size] for size in sizes},
    }
    return Part(
        release="report" if reports == 1 else f"{reports} reports together",
        method="Every column of the channel, by what is true: the cell itself, another of its "
        "query, a cell of another query; the divergence of the two inputs that it hides least.",
        promised_epsilon=epsilon,
        promised_delta=delta,
        epsilon=least_epsilon(spent, delta, epsilon),
        delta=spent(epsilon),
        is_tight=reports == 1,
        constants=constants,
    )


def _logarithm(ratio: Fraction) -> Fraction:
    """Return ln of a ratio of at least 1, rounded up."""
    return Fraction(0) if ratio == 1 else ln_enclosure(ratio, _BITS).ends()[1]


def _at_most_exp(epsilon: Fraction) -> Fraction:
    """Return e^ε, rounded down."""
    return 1 / exp_enclosure(-epsilon, _BITS).ends()[1]
