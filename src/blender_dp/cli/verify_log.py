"""``blender-dp verify-log``: checks a service's log, from a file or fetched."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from blender_dp.cli.options import Flag
from blender_dp.cli.terminal import RESULTS, print_json, say
from blender_dp.cli.token_file import read_token
from blender_dp.client.checked_log import check_log, digests_in_log, fetch_pieces
from blender_dp.client.transport import HttpTransport
from blender_dp.wire.documents.document import read_json
from blender_dp.wire.service.signatures import require_key

_PATHS = {"public": "log", "audit": "audit-log"}


def verify_log(
    log: str,
    /,
    *,
    chain: Literal["public", "audit"] = "public",
    key: str | None = None,
    contains: Annotated[tuple[Path, ...], Parameter(negative="")] = (),
    token_file: Path | None = None,
    json: Flag = False,
) -> None:
    """Check a service's log: that no entry was changed, removed or inserted, and who signed it.

    Exit status: 0 if all checks pass, 2 if not; the message names the entry and the error.

    Parameters
    ----------
    log
        A file that holds the answer of /v1/log from its beginning, or a service's address.
    chain
        The public log of what was published, or the audit log of who did what.
    key
        The service's public key, which must have signed the log. Default: the one it names.
    contains
        Files that the log must name: head_list.json or release.json.
    token_file
        File with the token of an auditor or operator, to fetch the audit log.
    json
        Print a summary for a program.
    """
    pinned = None if key is None else require_key(key)
    wanted = {path: digests_in_log(read_json(path)) for path in contains}
    with ExitStack() as connections:
        pieces = _pieces(log, chain, token_file, connections)
        checked = check_log(pieces, has_actors=chain == "audit", key=pinned)
    named = {
        str(path): checked.require(digests, str(path))["index"] for path, digests in wanted.items()
    }
    size = len(checked.entries)
    head = checked.entries[-1]["hash"] if size else None
    if json:
        summary = {"entries": size, "head": head, "public_key": checked.public_key}
        print_json({**summary, "contains": named})
        return
    RESULTS.print(f"{size:,} entries, unbroken; the last hash is {head or 'none'}")
    for name, index in named.items():
        RESULTS.print(f"{name}: entry {index}")
    if pinned is None:
        say(f"signed with the key {checked.public_key}; pass it as --key to be sure whose it is")


def _pieces(
    log: str, chain: str, token_file: Path | None, connections: ExitStack
) -> Iterable[Mapping[str, Any]]:
    if log.startswith(("http://", "https://")):
        token = None if token_file is None else read_token(token_file)
        transport = connections.enter_context(HttpTransport(log))
        return fetch_pieces(transport, _PATHS[chain], token)
    return [read_json(Path(log))]
