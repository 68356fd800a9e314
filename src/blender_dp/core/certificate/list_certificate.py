"""Certificate of one head list, with its inputs."""

from dataclasses import dataclass

from blender_dp.core.certificate.certificate import Certificate
from blender_dp.core.curator.budget import Branch
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ListCertificate(Certificate):
    """Accounts of every group of users of a head list, with the inputs of the computation."""

    head_list: HeadList
    parameters: Parameters | None
    """The promise to the opt-in users; None if theirs is not certified."""
    branch: Branch | None
    """Branch of discovery that was taken, if known."""
    has_small_batch: bool = False
    """Whether a relay's batch came that had fewer valid reports than the list says."""

    @property
    def sentence(self) -> str:
        """Return the verdict as a sentence."""
        relay = self.head_list.relay
        if not self.is_kept or not self.has_small_batch or relay is None:
            return Certificate(accounts=self.accounts).sentence
        return (
            "Every promise is kept, except one to the relay clients. Too few of their reports were "
            f"valid, so for them only ε = {relay.report_epsilon:g} is certified, the promise if "
            "the relay and the organisation work together."
        )
