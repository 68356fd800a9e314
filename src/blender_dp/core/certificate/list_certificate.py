"""Certificate of one head list, with what it was computed from."""

from dataclasses import dataclass

from blender_dp.core.certificate.certificate import Certificate
from blender_dp.core.curator.budget import Branch
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCertificate(Certificate):
    """The accounts of everybody who has to do with a head list, and what they follow from."""

    head_list: HeadList
    parameters: Parameters | None
    """The promise to the opt-in users; None if theirs is not certified."""
    branch: Branch | None
    """Which way of discovery was taken, if known."""
