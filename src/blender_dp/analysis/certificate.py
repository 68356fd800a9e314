"""Certificate of a list or a result, from Python: with its registry record and its label."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from blender_dp.analysis.result import RunResult
from blender_dp.core.certificate.certify import HasCurated
from blender_dp.core.certificate.certify import certify as compute
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.core.curator.budget import Branch
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters
from blender_dp.pages.disclosure.deployment import Deployment
from blender_dp.pages.disclosure.disclosed import Disclosed
from blender_dp.pages.disclosure.privacy_label import privacy_label
from blender_dp.pages.disclosure.registry_record import registry_record
from blender_dp.pages.disclosure.yaml_text import yaml_text
from blender_dp.wire.published.release import user_counts


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CertificateResult(ListCertificate):
    """Exact privacy cost for every group of users, which can be published as record and label."""

    created: str | None = None
    """Time of the result, in ISO 8601; None for a head list."""
    users: Mapping[str, int] = field(default_factory=dict)
    """Sizes of the groups; empty for a head list."""
    from_log: bool = False
    """Whether the raw records of all users were in one log."""

    def registry(self, deployment: Deployment | None = None) -> str:
        """Return the record for the Differential Privacy Deployments Registry, as YAML.

        Args:
            deployment: What only the organisation knows; what is left out is marked TO FILL IN.
        """
        return yaml_text(registry_record(self._disclosed(), _checked(deployment)))

    def label(self, deployment: Deployment | None = None) -> str:
        """Return a privacy label that people can read, as SVG.

        Args:
            deployment: Name and curator are shown, if they are given.
        """
        return privacy_label(self._disclosed(), _checked(deployment))

    def _disclosed(self) -> Disclosed:
        return Disclosed(
            certificate=self, created=self.created, users=self.users, from_log=self.from_log
        )


def certify(
    head_list: HeadList | HasCurated,
    parameters: Parameters | None = None,
    branch: Branch | None = None,
    *,
    has_small_batch: bool = False,
) -> CertificateResult:
    """Compute the exact privacy cost of a head list or a result for every group of users.

    Args:
        head_list: The published list, enough for the clients' cost; or the result of a run, which
            also states the promise.
        parameters: The promise, and how the list was made; adds the opt-in users' cost.
        branch: The branch of discovery of ``sharp``; both if None.
        has_small_batch: Whether a relay's batch came that had fewer valid reports than the list
            says. What such a batch hides is not certified.
    """
    found = compute(head_list, parameters, branch, has_small_batch=has_small_batch)
    parts = {part.name: getattr(found, part.name) for part in fields(ListCertificate)}
    if not isinstance(head_list, RunResult):
        return CertificateResult(**parts)
    users = user_counts(head_list.blender)
    return CertificateResult(**parts, created=head_list.created, users=users, from_log=True)


def _checked(deployment: Deployment | None) -> Deployment:
    if deployment is not None and not isinstance(deployment, Deployment):
        raise ParameterError("deployment", "a Deployment", type(deployment).__name__)
    return deployment or Deployment()
