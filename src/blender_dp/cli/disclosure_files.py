"""Registry record and privacy label of what ``certify`` has certified, as files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from blender_dp.cli.terminal import say
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.pages.disclosure.deployment import Deployment
from blender_dp.pages.disclosure.disclosed import GROUPS, Disclosed
from blender_dp.pages.disclosure.privacy_label import privacy_label
from blender_dp.pages.disclosure.registry_record import registry_record
from blender_dp.pages.disclosure.registry_texts import TO_FILL_IN
from blender_dp.pages.disclosure.yaml_text import yaml_text
from blender_dp.wire.documents.fields import Fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """A certificate, and the files of a result that hold it."""

    certificate: ListCertificate
    holders: Sequence[Fields] = ()
    """Fields of run.json and release.json, if there are any."""

    def disclosed(self) -> Disclosed:
        """Return what the public may be told."""
        stated = [holder for holder in self.holders if holder.has("users")]
        if not stated:
            return Disclosed(certificate=self.certificate)
        users = stated[0].part("users")
        return Disclosed(
            certificate=self.certificate,
            created=stated[0].text("created"),
            users={name: users.whole(name, at_least=0) for name in GROUPS if users.has(name)},
            # Only a run on a log states what was read; a collection and a blend have no such field.
            from_log=any(holder.has("input") for holder in stated),
        )


def disclosure_texts(
    certified: Certified, deployment: Deployment, *, registry: Path | None, label: Path | None
) -> dict[Path, str]:
    """Return the content of each file that was asked for; none if a promise is broken."""
    if not certified.certificate.is_kept or (registry is None and label is None):
        return {}
    disclosed = certified.disclosed()
    texts = {}
    if registry is not None:
        texts[registry] = yaml_text(registry_record(disclosed, deployment))
        if deployment.unanswered:
            say(
                f"{registry}: look for {TO_FILL_IN}, or give these with --about FILE.toml: "
                f"{', '.join(deployment.unanswered)}."
            )
    if label is not None:
        texts[label] = privacy_label(disclosed, deployment)
    return texts
