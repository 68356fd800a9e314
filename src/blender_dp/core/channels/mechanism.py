"""Mechanism: how devices report; each one describes itself in a file of this folder."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from blender_dp.core.certificate.certificate import Part
from blender_dp.core.channels.channel import Channel, Estimator
from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.relayed import RelayMechanism
from blender_dp.core.channels.report import Layout, Question
from blender_dp.core.channels.subset_selection import SubsetChannel, SubsetSelectionMechanism
from blender_dp.core.head_list.cells import Cells
from blender_dp.core.parameters import Preset


class Mechanism(Protocol):
    """The description that is published with a head list: a frozen dataclass.

    Its fields are written into ``head_list.json``; class variables are not.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    name: ClassVar[str]
    """The name in a head list and in a report."""
    version: ClassVar[int]
    """The version, which follows the name."""
    title: ClassVar[str]
    """The name for people."""
    preset: ClassVar[Preset]
    """The preset whose server steps read these reports."""
    layout: ClassVar[Layout]
    """How reports are written and counted."""

    def __init__(self, **described: Any) -> None: ...  # noqa: ANN401 - the fields of the dataclass

    @property
    def epsilon(self) -> float:
        """ε of all reports of a client together."""

    @property
    def delta(self) -> float:
        """δ of all reports of a client together; 0 if they are purely private."""

    @property
    def records_per_client(self) -> int:
        """m_C, the number of reports that a client sends, one per record."""

    @property
    def query_share(self) -> float:
        """φ, the share of clients that report only the query."""

    def channels(self, cells: Cells) -> Mapping[Question, Channel]:
        """Return the channel of every question that a list with these cells may ask."""

    def estimators(self, cells: Cells) -> Mapping[Question, Estimator]:
        """Return the estimators of the preset ``sharp``, by question."""

    def likelihood_ratio(self, cells: Cells) -> Fraction:
        """Return the largest ratio of a report's probabilities between two inputs, exactly."""

    def certify(self, cells: Cells, epsilon: Fraction, delta: Fraction) -> Part:
        """Compute the cost of all reports of a client, compared with a promise of (ε, δ)."""


class ThroughRelay(Mechanism, Protocol):
    """The description of a mechanism whose promise needs a relay that shuffles a whole batch."""

    @property
    def report_epsilon(self) -> float:
        """ε0 of one report by itself, without the batch."""

    @property
    def least_batch(self) -> int:
        """n_min, the number of reports in the smallest batch that a relay passes on."""

    @property
    def dishonest(self) -> float:
        """Share of a batch that may come from dishonest clients."""

    @property
    def honest(self) -> int:
        """Number of honest reports in such a batch, at least."""

    def channel(self, cells: Cells) -> SubsetChannel:
        """Return the channel of a report, which names one cell."""

    def keeps(self, cells: Cells, epsilon: Fraction, delta: Fraction) -> bool:
        """Tell whether a report in the smallest batch keeps (ε, δ); fast enough for a device."""

    def certify_report(self, cells: Cells) -> Part:
        """Compute the cost of one report by itself, compared with a promise of ε0."""


MECHANISMS: dict[str, type[Mechanism]] = {
    LocalAlgMechanism.name: LocalAlgMechanism,
    SubsetSelectionMechanism.name: SubsetSelectionMechanism,
}
"""Mechanisms of clients, by the name in a head list's ``mechanism``."""

RELAY_MECHANISMS: dict[str, type[ThroughRelay]] = {
    RelayMechanism.name: RelayMechanism,
}
"""Mechanisms of relay clients, by the name in a head list's ``relay``.

They are a table of their own because no client without a relay may use them.
"""
