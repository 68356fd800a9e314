"""Certificate as a document: ``certificate.json``, and a field of releases; version 1.

Promises and constants are exact fractions. Costs are rounded up and slack is rounded down, to 30
digits, so that other tools can compute and check every number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, cast, get_args

from blender_dp.core.certificate.certificate import Account, Certificate, Part
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.core.certificate.promises import RELAY_MODEL
from blender_dp.core.curator.budget import Branch
from blender_dp.core.errors import HeadListMismatchError, InputError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters
from blender_dp.wire.documents.document import read_json, verified, with_digest
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.published.head_list import head_list_digest
from blender_dp.wire.published.parameters import parameters_document, read_parameters
from blender_dp.wire.published.relay_estimates import Outcome

FORMAT = "blender-dp certificate"
_AS_CERTIFIED = "must be that of the certificate"
_BATCH = "relay_batch"
DIGITS = 30
ROUNDING = (
    "promised and constants are exact; spent, tight_epsilon and add_remove_epsilon are rounded "
    f"up, slack is rounded down, to {DIGITS} digits"
)


def certificate_document(certificate: ListCertificate) -> dict[str, Any]:
    """Return the certificate with all its inputs, and a digest."""
    head_list, parameters = certificate.head_list, certificate.parameters
    return with_digest(
        {
            "format": FORMAT,
            "version": 1,
            "private": head_list.private,
            "head_list": head_list_digest(head_list),
            "parameters": None if parameters is None else parameters_document(parameters),
            "branch": certificate.branch,
            **({_BATCH: Outcome.TOO_FEW} if certificate.has_small_batch else {}),
            **planned_document(certificate),
        }
    )


def planned_document(certificate: Certificate) -> dict[str, Any]:
    """Return the certificate of a plan, before there is a list."""
    return {
        "rounding": ROUNDING,
        "verdict": _verdict(is_kept=certificate.is_kept),
        "sentence": certificate.sentence,
        "accounts": [_account(account) for account in certificate.accounts],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedCertificate:
    """A certificate as a file states it, with the inputs that it names."""

    source: Path | str
    document: dict[str, Any]
    parameters: Parameters | None
    branch: Branch | None
    has_small_batch: bool
    holder: Fields | None = None
    """Fields of the ``release.json`` or ``run.json`` that contains it and states the promise."""

    def require(self, certificate: ListCertificate) -> None:
        """Refuse the file unless it states this certificate, and no other promise."""
        if certificate_document(certificate) != self.document:
            raise InputError(
                self.source,
                "is not what the head list and the parameters in it give; it was changed, or made "
                "by another version",
                where="certificate",
            )
        if self.holder is not None:
            _require_stated(self.holder, certificate)


def read_certificate(path: Path, head_list: HeadList) -> PublishedCertificate:
    """Read a certificate file about ``head_list``; it must then be computed again."""
    return certificate_in(path, read_json(path), head_list)


def attached_certificate(path: Path, head_list: HeadList) -> PublishedCertificate:
    """Read the certificate in ``release.json`` or ``run.json``."""
    document = read_json(path)
    attached = document.get("certificate")
    if not isinstance(attached, dict):
        raise InputError(path, "has none", where="field certificate")
    return replace(certificate_in(path, attached, head_list), holder=Fields(path, document))


def certificate_in(
    source: Path | str, document: dict[str, Any], head_list: HeadList
) -> PublishedCertificate:
    """Return the certificate in a document that came from ``source``, with the same rules."""
    fields = verified(source, document, FORMAT)
    if not fields.names("head_list", head_list_digest(head_list)):
        raise HeadListMismatchError(f"{source}: has the certificate of another head list")
    has_parameters = fields.value("parameters") is not None
    parameters = read_parameters(fields.part("parameters")) if has_parameters else None
    branch = fields.value("branch")
    if branch is not None and branch not in get_args(Branch):
        fields.refuse("branch", f"must be null or one of {', '.join(get_args(Branch))}")
    return PublishedCertificate(
        source=source,
        document=document,
        parameters=parameters,
        branch=cast("Branch | None", branch),
        has_small_batch=_has_small_batch(fields, head_list),
    )


def _has_small_batch(fields: Fields, head_list: HeadList) -> bool:
    """Tell whether the certificate is of a release whose relay passed on too few valid reports."""
    if not fields.has(_BATCH):
        return False
    if head_list.relay is None or fields.value(_BATCH) != Outcome.TOO_FEW:
        fields.refuse(_BATCH, f"must be {Outcome.TOO_FEW}, and only if the list has a relay")
    return True


def _require_stated(fields: Fields, certificate: ListCertificate) -> None:
    """Refuse a release or a ``run.json`` that states another promise than its certificate."""
    parameters = certificate.parameters
    certified = {} if parameters is None else parameters.document()
    if fields.has("promise"):
        _require_equal(fields.part("promise"), {n: certified.get(n) for n in ("epsilon", "delta")})
    if fields.has("preset"):
        _require_equal(fields, {"preset": certified.get("preset")})
    if fields.has("parameters"):
        stated = fields.part("parameters")
        stated.only(*certified)
        _require_equal(stated, certified)
    has_relay_clients = fields.has("users") and fields.part("users").has("relay_clients")
    if fields.has("promises"):
        without = None if has_relay_clients else RELAY_MODEL
        _require_same_promises(fields, [a for a in certificate.accounts if a.model != without])
    if fields.has(_BATCH):
        outcome = fields.part(_BATCH).text("outcome")
        if (outcome == Outcome.TOO_FEW) != certificate.has_small_batch:
            fields.part(_BATCH).refuse("outcome", _AS_CERTIFIED)
    if has_relay_clients:
        _require_batch(fields.part("users"), certificate.head_list)


def _require_batch(users: Fields, head_list: HeadList) -> None:
    """Refuse relay clients without a relay, and fewer of them than the list promises to."""
    reports = users.whole("relay_clients", at_least=1)
    if head_list.relay is None:
        users.refuse("relay_clients", "must be left out: the head list has no relay")
    head_list.for_batch(reports)


def _require_same_promises(fields: Fields, accounts: Sequence[Account]) -> None:
    promises = fields.parts("promises")
    if len(promises) != len(accounts):
        fields.refuse("promises", "must be those of the certificate")
    for promise, account in zip(promises, accounts, strict=True):
        if not promise.text("to").endswith(f" {account.to}"):
            promise.refuse("to", _AS_CERTIFIED)
        epsilon = float(account.promised_epsilon)
        _require_equal(promise, {"model": account.model, "epsilon": epsilon})
        # A run may state the δ that is really spent as its promise.
        if promise.value("delta") not in (float(account.promised_delta), float(account.delta)):
            promise.refuse("delta", _AS_CERTIFIED)


def _require_equal(stated: Fields, certified: Mapping[str, object]) -> None:
    for name, value in certified.items():
        if stated.value(name) != value:
            stated.refuse(name, _AS_CERTIFIED)


def _account(account: Account) -> dict[str, Any]:
    return {
        "to": account.to,
        "model": account.model,
        "verdict": _verdict(is_kept=account.is_kept),
        "promised": _exactly(account.promised_epsilon, account.promised_delta),
        "spent": {"epsilon": _up(account.epsilon), "delta": _up(account.delta)},
        "slack": {
            "epsilon": _down(account.promised_epsilon - account.epsilon),
            "delta": _down(account.promised_delta - account.delta),
        },
        "tight_epsilon": _up(account.tight_epsilon),
        "add_remove_epsilon": _up(account.add_remove_epsilon),
        "parts": [_part(part) for part in account.parts],
    }


def _part(part: Part) -> dict[str, Any]:
    return {
        "release": part.release,
        "method": part.method,
        "verdict": _verdict(is_kept=part.is_kept),
        "promised": _exactly(part.promised_epsilon, part.promised_delta),
        "spent": {"epsilon": _up(part.promised_epsilon), "delta": _up(part.delta)},
        "tight_epsilon": _up(part.epsilon),
        "add_remove_epsilon": _up(part.epsilon_of_presence),
        "is_tight": part.is_tight,
        "constants": {name: str(value) for name, value in part.constants.items()},
    }


def _verdict(*, is_kept: bool) -> str:
    return "kept" if is_kept else "broken"


def _exactly(epsilon: Fraction, delta: Fraction) -> dict[str, str]:
    return {"epsilon": str(epsilon), "delta": str(delta)}


def _up(number: Fraction | None) -> str | None:
    return None if number is None else _decimal(number, ROUND_CEILING)


def _down(number: Fraction) -> str:
    return _decimal(number, ROUND_FLOOR)


def _decimal(number: Fraction, rounding: str) -> str:
    context = Context(prec=DIGITS, rounding=rounding)
    quotient = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"{context.normalize(quotient)}"
