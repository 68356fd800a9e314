"""Certificate of a plan, of a head list, and of what a curator released."""

from blender_dp.core.blender import Curated
from blender_dp.core.certificate.certificate import Account, Certificate
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.core.certificate.opt_in import opt_in_accounts
from blender_dp.core.curator.budget import Branch
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters, exact


def certify(
    head_list: HeadList, parameters: Parameters | None = None, branch: Branch | None = None
) -> ListCertificate:
    """Compute exactly what everybody spends who has to do with ``head_list``.

    Args:
        head_list: As it is published; alone it says what clients spend.
        parameters: What was promised, and how the list was made; adds the opt-in users.
        branch: Which way of discovery was taken, where ``sharp`` has two; both if None.
    """
    if parameters is not None and head_list.mechanism.preset != parameters.preset:
        raise ParameterError(
            "preset",
            f"that of the head list, whose mechanism is {head_list.mechanism.name}",
            parameters.preset,
        )
    opt_in = opt_in_accounts(parameters, branch) if parameters is not None else ()
    return ListCertificate(
        accounts=(*opt_in, client_account(head_list, parameters)),
        head_list=head_list,
        parameters=parameters,
        branch=branch,
    )


def client_account(head_list: HeadList, parameters: Parameters | None) -> Account:
    """Return what clients spend who report against ``head_list``.

    Args:
        head_list: The list and its mechanism.
        parameters: What was promised; if None, what the list itself says.
    """
    mechanism, promised = head_list.mechanism, parameters or head_list.mechanism
    epsilon = exact(promised.epsilon)
    delta = exact(promised.delta if mechanism.delta else 0.0)
    return Account(
        to="clients",
        model="local",
        promised_epsilon=epsilon,
        promised_delta=delta,
        parts=(mechanism.certify(head_list.cells, epsilon, delta),),
    )


def certify_plan(parameters: Parameters) -> Certificate:
    """Compute what a run with these parameters will spend of the opt-in users, before any data."""
    return Certificate(accounts=tuple(opt_in_accounts(parameters, None)))


def certify_curated(curated: Curated) -> ListCertificate:
    """Compute what everybody spends on a head list and on every result that is made with it."""
    return certify(curated.head_list, curated.parameters, curated.branch)
