"""``blender-dp token``: creates, lists and revokes tokens of the service's API."""

from typing import Literal

from cyclopts import App

from blender_dp.cli.options import Flag
from blender_dp.cli.service_options import ServiceOptions, require_service_extra
from blender_dp.cli.terminal import RESULTS, print_json

token = App(name="token", help="Make, list and revoke the tokens of a collection service.")


@token.command
def create(
    name: str,
    /,
    *,
    role: Literal["operator", "analyst", "auditor"],
    storage: ServiceOptions = ServiceOptions(),  # noqa: B008 - frozen
    json: Flag = False,
) -> None:
    """Make a token and print it once: only its digest is stored.

    Exit status: 0 when made, 2 if the name is taken.

    Parameters
    ----------
    name
        Name of the holder; shown in the audit log.
    role
        operator creates campaigns and moves them; analyst reads progress and uses the planner;
        auditor also reads the audit log.
    json
        Print it for a program.
    """
    require_service_extra("token")
    from blender_dp.cli.service_tokens import create_token  # noqa: PLC0415 - an extra

    made = create_token(storage, name, role)
    if json:
        print_json({"name": name, "role": role, "token": made})
    else:
        RESULTS.print(made)


@token.command(name="list")
def list_tokens(
    *,
    storage: ServiceOptions = ServiceOptions(),  # noqa: B008 - frozen
    json: Flag = False,
) -> None:
    """List every token by name, with its role and whether it was revoked.

    Exit status: 0 when listed, 2 if the database cannot be opened.

    Parameters
    ----------
    json
        Print them for a program.
    """
    require_service_extra("token")
    from blender_dp.cli.service_tokens import all_tokens  # noqa: PLC0415 - an extra

    found = all_tokens(storage)
    if json:
        print_json({"tokens": found})
        return
    for one in found:
        ended = f"revoked {one['revoked_at']}" if one["revoked_at"] else "valid"
        RESULTS.print(f"{one['name']}  {one['role']}  {one['created_at']}  {ended}")


@token.command
def revoke(
    name: str,
    /,
    *,
    storage: ServiceOptions = ServiceOptions(),  # noqa: B008 - frozen
) -> None:
    """Revoke a token, at once and for good.

    Exit status: 0 when revoked, 2 if there is no such token.

    Parameters
    ----------
    name
        Name of the token.
    """
    require_service_extra("token")
    from blender_dp.cli.service_tokens import revoke_token  # noqa: PLC0415 - an extra

    revoke_token(storage, name)
    RESULTS.print(f"{name}: revoked")
