"""``blender-dp certify``: the privacy cost of a published list or a result for each group."""

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from blender_dp.cli.certificate_table import certificate_table
from blender_dp.cli.disclosure_files import Certified, disclosure_texts
from blender_dp.cli.options import Flag
from blender_dp.cli.terminal import RESULTS, print_json, say
from blender_dp.core.certificate.certify import certify as compute
from blender_dp.core.errors import BrokenPromiseError, InputError, ParameterError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import KNOBS, Parameters
from blender_dp.pages.disclosure.deployment import Deployment, read_deployment
from blender_dp.wire.documents.document import write_document
from blender_dp.wire.published.certificate import (
    PublishedCertificate,
    attached_certificate,
    certificate_document,
    read_certificate,
)
from blender_dp.wire.published.estimates import read_opt_in
from blender_dp.wire.published.head_list import read_head_list

BROKEN = 1
"""Exit status if a cost is above its promise."""


def certify(
    published: Path,
    opt_in_estimates: Path | None = None,
    /,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    one_record_each: Flag = False,
    records_per_optin_user: int = 1,
    registry: Path | None = None,
    label: Path | None = None,
    about: Path | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json: Flag = False,
) -> None:
    """Compute exactly the privacy cost of a published head list or a result.

    Uses published files only, in exact arithmetic: every column of the clients' channel, discovery
    over all replacements of a user, noise against sensitivity, and their sum. The certificates in a
    result are computed again and must be equal.
    Exit status: 0 if every promise is kept, 1 if not, 2 if a file is invalid.

    Parameters
    ----------
    published
        A head_list.json, for the clients' cost; or the directory of a result.
    opt_in_estimates
        opt_in_estimates.json of the same list; adds the opt-in users' cost.
    epsilon
        Promised ε to compare the list with, with --delta; adds the opt-in users' cost.
    delta
        Promised δ to compare the list with, with --epsilon.
    one_record_each
        Users were declared to have one record each (a list for subset selection).
    records_per_optin_user
        m_O, the records per opt-in user (a list for LocalAlg).
    registry
        File to write a record for the Differential Privacy Deployments Registry to, such as
        searches.yaml.
    label
        File to write a privacy label for people to, such as label.svg.
    about
        TOML file with what only you know, for both: name, curator, intended_use and others.
    output
        File to write the certificate to, such as certificate.json.
    json
        Print the certificate instead of the table.
    """
    promise = {"epsilon": epsilon, "delta": delta}
    if published.is_dir() or opt_in_estimates is not None:
        _require_left_out(promise)
    deployment = Deployment() if about is None else read_deployment(about)
    if published.is_dir():
        certified = _of_directory_or_exit(published)
    else:
        head_list, parameters, branch = read_head_list(published), None, None
        if opt_in_estimates is not None:
            curated = read_opt_in(opt_in_estimates, head_list).estimate()
            parameters, branch = curated.parameters, curated.branch
        elif epsilon is not None or delta is not None:
            knobs = {
                "one_record_each": one_record_each,
                "records_per_optin_user": records_per_optin_user,
            }
            parameters = _parameters_of(head_list, promise, knobs)
        certified = Certified(certificate=compute(head_list, parameters, branch))
    document = certificate_document(certified.certificate)
    texts = disclosure_texts(certified, deployment, registry=registry, label=label)
    if output is not None:
        write_document(output, document)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    _show(document, as_json=json)


def _of_directory_or_exit(directory: Path) -> Certified:
    try:
        return _of_directory(directory)
    except BrokenPromiseError as error:
        say(f"blender-dp: {error}")
        sys.exit(BROKEN)


def _of_directory(directory: Path) -> Certified:
    """Compute the certificate of a result again; all its files must state it."""
    head_list = read_head_list(directory / "head_list.json")
    found = []
    if (directory / "certificate.json").exists():
        found.append(read_certificate(directory / "certificate.json", head_list))
    for name in ("run.json", "release.json"):
        if (directory / name).exists():
            found.append(attached_certificate(directory / name, head_list))
    if not found:
        raise InputError(directory, "must hold a certificate.json, run.json or release.json")
    first = found[0]
    certificate = compute(
        head_list, first.parameters, first.branch, has_small_batch=first.has_small_batch
    )
    for one in found:
        if _inputs(one) != _inputs(first):
            raise InputError(directory, "holds certificates of different promises")
        one.require(certificate)
    return Certified(certificate=certificate, holders=[one.holder for one in found if one.holder])


def _inputs(published: PublishedCertificate) -> tuple[object, ...]:
    return published.parameters, published.branch, published.has_small_batch


def _require_left_out(promise: dict[str, float | None]) -> None:
    for name, value in promise.items():
        if value is not None:
            raise ParameterError(name, "left out if a file states the promise", value)


def _parameters_of(
    head_list: HeadList, promise: dict[str, float | None], knobs: dict[str, Any]
) -> Parameters:
    """Return the parameters of a list that was made under this promise."""
    mechanism = head_list.mechanism
    given = {**knobs, **{name: value for name, value in promise.items() if value is not None}}
    for name in promise:
        if name not in given:
            raise ParameterError(name, "given too: a promise has an ε and a δ", None)
    knobs_of_devices = {
        name: getattr(mechanism, name)
        for name in KNOBS[mechanism.preset]
        if hasattr(mechanism, name)
    }
    return Parameters(preset=mechanism.preset, **knobs_of_devices, **given)


def _show(document: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        RESULTS.print(certificate_table(document, RESULTS.width))
        if document["verdict"] == "kept":
            RESULTS.print(f"\n{document['sentence']}")
    if not document["private"]:
        say("Made with a seed: the mechanism is certified, this list is an experiment.")
    if document["verdict"] != "kept":
        sys.stdout.flush()
        say(f"blender-dp: {document['sentence']}")
        sys.exit(BROKEN)
