"""Certificate as a document: ``certificate.json``, and a field of releases; version 1.

Promises and constants are exact fractions. What is spent is rounded up and slack is rounded
down, to 30 digits, so that whoever computes it again with other tools can check every number.
"""

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, cast, get_args

from blender_dp.core.certificate.certificate import Account, Certificate, Part
from blender_dp.core.certificate.certify import certify
from blender_dp.core.curator.budget import Branch
from blender_dp.core.errors import HeadListMismatchError, InputError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters
from blender_dp.wire.documents.document import read_document, read_json, verified, with_digest
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.published.head_list import head_list_digest
from blender_dp.wire.published.parameters import parameters_document, read_parameters

FORMAT = "blender-dp certificate"
_AS_CERTIFIED = "must be that of the certificate"
DIGITS = 30
ROUNDING = (
    "promised and constants are exact; spent and tight_epsilon are rounded up, slack is rounded "
    f"down, to {DIGITS} digits"
)


def certificate_document(
    certificate: Certificate,
    head_list: HeadList,
    parameters: Parameters | None = None,
    branch: Branch | None = None,
) -> dict[str, Any]:
    """Return the certificate with all that it was computed from, sealed.

    Args:
        certificate: What each group of users spends.
        head_list: Against which clients report.
        parameters: The promise to the opt-in users, if theirs is certified.
        branch: Which way of discovery was taken, if known.
    """
    return with_digest(
        {
            "format": FORMAT,
            "version": 1,
            "private": head_list.private,
            "head_list": head_list_digest(head_list),
            "parameters": None if parameters is None else parameters_document(parameters),
            "branch": branch,
            "rounding": ROUNDING,
            "verdict": _verdict(is_kept=certificate.is_kept),
            "sentence": certificate.sentence,
            "accounts": [_account(account) for account in certificate.accounts],
        }
    )


def planned_document(certificate: Certificate) -> dict[str, Any]:
    """Return what a plan will spend, before there is a list."""
    return {
        "rounding": ROUNDING,
        "verdict": _verdict(is_kept=certificate.is_kept),
        "sentence": certificate.sentence,
        "accounts": [_account(account) for account in certificate.accounts],
    }


def certified_document(
    head_list: HeadList, parameters: Parameters | None, branch: Branch | None
) -> dict[str, Any]:
    """Compute a certificate and return it as a document."""
    certificate = certify(head_list, parameters, branch)
    return certificate_document(certificate, head_list, parameters, branch)


def require_same(path: Path, document: dict[str, Any], head_list: HeadList) -> dict[str, Any]:
    """Compute an earlier certificate again from what it names; refuse it if anything differs.

    Args:
        path: The file it was found in, for the refusal.
        document: The earlier certificate.
        head_list: The list it must be about.
    """
    fields = verified(path, document, FORMAT)
    if not fields.names("head_list", head_list_digest(head_list)):
        raise HeadListMismatchError(f"{path}: has the certificate of another head list")
    again = certified_document(head_list, *_made_with(fields))
    if again != document:
        raise InputError(
            path,
            "is not what the head list and the parameters in it give; it was changed, or made by "
            "another version",
            where="certificate",
        )
    return again


def read_certificate(path: Path, head_list: HeadList) -> dict[str, Any]:
    """Read a certificate file and compute it again."""
    read_document(path, FORMAT)
    return require_same(path, read_json(path), head_list)


def attached_certificate(path: Path, head_list: HeadList) -> dict[str, Any]:
    """Return the certificate in a release or in the account of a run, computed again.

    The file is refused if it states another promise: its readers look there, not here.
    """
    document = read_json(path)
    attached = document.get("certificate")
    if not isinstance(attached, dict):
        raise InputError(path, "has none", where="field certificate")
    again = require_same(path, attached, head_list)
    _require_stated(Fields(path, document), again)
    return again


def _require_stated(fields: Fields, certificate: dict[str, Any]) -> None:
    """Refuse a release or the account of a run that states another promise than its certificate."""
    parameters, _ = _made_with(Fields(fields.path, certificate))
    certified = {} if parameters is None else parameters.document()
    if fields.has("promise"):
        _require_equal(fields.part("promise"), {n: certified.get(n) for n in ("epsilon", "delta")})
    if fields.has("preset"):
        _require_equal(fields, {"preset": certified.get("preset")})
    if fields.has("parameters"):
        stated = fields.part("parameters")
        stated.only(*certified)
        _require_equal(stated, certified)
    if fields.has("promises"):
        _require_same_promises(fields, certificate["accounts"])


def _require_same_promises(fields: Fields, accounts: list[dict[str, Any]]) -> None:
    promises = fields.parts("promises")
    if len(promises) != len(accounts):
        fields.refuse("promises", "must be those of the certificate")
    for promise, account in zip(promises, accounts, strict=True):
        if not promise.text("to").endswith(f" {account['to']}"):
            promise.refuse("to", _AS_CERTIFIED)
        promised, spent = account["promised"], account["spent"]
        _require_equal(
            promise,
            {"model": account["model"], "epsilon": float(Fraction(promised["epsilon"]))},
        )
        # A run may promise as little as was spent.
        deltas = [float(Fraction(delta)) for delta in (promised["delta"], spent["delta"])]
        if promise.value("delta") not in deltas:
            promise.refuse("delta", _AS_CERTIFIED)


def _require_equal(stated: Fields, certified: Mapping[str, object]) -> None:
    for name, value in certified.items():
        if stated.value(name) != value:
            stated.refuse(name, _AS_CERTIFIED)


def _made_with(fields: Fields) -> tuple[Parameters | None, Branch | None]:
    has_parameters = fields.value("parameters") is not None
    parameters = read_parameters(fields.part("parameters")) if has_parameters else None
    branch = fields.value("branch")
    if branch is not None and branch not in get_args(Branch):
        fields.refuse("branch", f"must be null or one of {', '.join(get_args(Branch))}")
    return parameters, cast("Branch | None", branch)


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
