"""Certificate of a plan, of a head list, and of a curator's release."""

from fractions import Fraction
from typing import Protocol

from blender_dp.core.blender import PRESETS, Curated
from blender_dp.core.certificate.certificate import Account, Certificate
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.core.certificate.promises import IF_COLLUSION, RELAY_MODEL, UNLESS_COLLUSION
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.curator.budget import Branch
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters, exact


class HasCurated(Protocol):
    """Result of a run, or anything else with what a curator released."""

    @property
    def curated(self) -> Curated:
        """What the curator released."""
        ...


def certify(
    head_list: HeadList | HasCurated,
    parameters: Parameters | None = None,
    branch: Branch | None = None,
    *,
    has_small_batch: bool = False,
) -> ListCertificate:
    """Compute the exact privacy cost of ``head_list`` for every group of users.

    Args:
        head_list: The published list, enough for the clients' cost; or the result of a run, which
            also states the promise.
        parameters: The promise, and how the list was made; adds the opt-in users' cost.
        branch: The branch of discovery of ``sharp``; both if None.
        has_small_batch: Whether a relay's batch came that had fewer valid reports than the list
            says. What such a batch hides is not certified.
    """
    if isinstance(curated := getattr(head_list, "curated", None), Curated):
        if parameters is not None:
            raise ParameterError("parameters", "left out: the result states them", parameters)
        return certify_curated(curated)
    if not isinstance(head_list, HeadList):
        rule = "a head list, or the result of a run"
        raise ParameterError("head_list", rule, type(head_list).__name__)
    if parameters is not None and head_list.mechanism.preset != parameters.preset:
        raise ParameterError(
            "preset",
            f"that of the head list, whose mechanism is {head_list.mechanism.name}",
            parameters.preset,
        )
    opt_in = _opt_in_accounts(parameters, branch) if parameters is not None else ()
    return ListCertificate(
        accounts=(
            *opt_in,
            client_account(head_list, parameters),
            *relay_accounts(head_list, parameters)[int(has_small_batch) :],
        ),
        head_list=head_list,
        parameters=parameters,
        branch=branch,
        has_small_batch=has_small_batch,
    )


def client_account(head_list: HeadList, parameters: Parameters | None) -> Account:
    """Return the account of clients who report against ``head_list``.

    Args:
        head_list: The list and its mechanism.
        parameters: The promise; the list itself makes one too, and the smaller one counts.
    """
    mechanism = head_list.mechanism
    epsilon, delta = _smaller_promise(mechanism, parameters)
    return Account(
        to="clients",
        model="local",
        promised_epsilon=epsilon,
        promised_delta=delta,
        parts=(mechanism.certify(head_list.cells, epsilon, delta),),
    )


def relay_accounts(head_list: HeadList, parameters: Parameters | None) -> tuple[Account, ...]:
    """Return what relay clients spend: unless relay and collector collude, and if they do.

    Args:
        head_list: The list; there is no account if it names no relay.
        parameters: The promise; the list itself makes one too, and the smaller one counts.
    """
    relay = head_list.relay
    if relay is None:
        return ()
    cells, (epsilon, delta) = head_list.cells, _smaller_promise(relay, parameters)
    return (
        Account(
            to=f"relay clients, {UNLESS_COLLUSION}",
            model=RELAY_MODEL,
            promised_epsilon=epsilon,
            promised_delta=delta,
            parts=(relay.certify(cells, epsilon, delta),),
        ),
        Account(
            to=f"relay clients, {IF_COLLUSION}",
            model=RELAY_MODEL,
            promised_epsilon=exact(relay.report_epsilon),
            promised_delta=Fraction(0),
            parts=(relay.certify_report(cells),),
        ),
    )


def _smaller_promise(
    mechanism: Mechanism, parameters: Parameters | None
) -> tuple[Fraction, Fraction]:
    """Return the smaller ε and the smaller δ of what the list and the parameters promise."""
    epsilon, delta = exact(mechanism.epsilon), exact(mechanism.delta)
    if parameters is None:
        return epsilon, delta
    return min(epsilon, exact(parameters.epsilon)), min(delta, exact(parameters.delta))


def _opt_in_accounts(parameters: Parameters, branch: Branch | None) -> list[Account]:
    return PRESETS[parameters.preset].opt_in_accounts(parameters, branch)


def certify_plan(parameters: Parameters) -> Certificate:
    """Compute the opt-in users' cost of a run with these parameters, before any data is read."""
    return Certificate(accounts=tuple(_opt_in_accounts(parameters, None)))


def certify_curated(curated: Curated, *, has_small_batch: bool = False) -> ListCertificate:
    """Compute the cost for every group of a head list and of every result made with it."""
    return certify(
        curated.head_list, curated.parameters, curated.branch, has_small_batch=has_small_batch
    )
