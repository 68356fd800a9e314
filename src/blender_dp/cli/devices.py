"""``blender-dp devices``: simulates a population that takes part in a campaign."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from getpass import getpass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from uuid import UUID, uuid4

from cyclopts import Parameter

from blender_dp.cli.log_options import LogOptions
from blender_dp.cli.options import Flag, RelayOptions
from blender_dp.cli.service_options import ServiceOptions, require_service_extra
from blender_dp.cli.terminal import RESULTS, StepProgress, print_json, say, shown_progress
from blender_dp.cli.token_file import read_token
from blender_dp.client.crowd.people import People, read_people
from blender_dp.client.crowd.population import Stage, play
from blender_dp.client.operator import Operator
from blender_dp.client.transport import HttpTransport, require_address
from blender_dp.core.errors import BlenderError, InputError, ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.engine.log import Log, Workspace
from blender_dp.engine.synthetic import Shape, synthesize, write_log
from blender_dp.wire.service.signatures import require_key

_SYNTHETIC_USERS = 40_000
_CONSENT = "I am a simulated user and hand over my simulated records."


@Parameter(name="*", group="Relay")
@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRelay(RelayOptions):
    """Clients who report through the campaign's relay; all but the share are for a new campaign."""

    relay_address: str | None = None
    """Address of the relay, such as http://127.0.0.1:8090."""
    relay_key: str | None = None
    """Public key of the relay, which it prints when it starts."""
    relay_batch: int | None = None
    """Fewest reports that the relay passes on; default: all relay clients of this simulation."""

    def fields(self, people: People) -> dict[str, Any]:
        """Return the relay of the new campaign; nothing without relay clients."""
        rules = self.rules()
        if not people.relayed:
            return {}
        if self.relay_address is None or self.relay_key is None:
            raise BlenderError("give --relay-address and --relay-key for relay clients")
        return {
            "relay": {
                "address": require_address(self.relay_address, "relay_address") + "/",
                "public_key": require_key(self.relay_key),
                "least_batch": self.relay_batch or len(people.relayed),
                "epsilon_cap": rules.epsilon_cap,
                "dishonest": rules.dishonest,
            }
        }


@Parameter(name="*", group="New campaign")
@dataclass(frozen=True, slots=True, kw_only=True)
class NewCampaign:
    """Promise of a new campaign, made with --drive and without --campaign."""

    epsilon: float | None = None
    """ε of the new campaign."""
    delta: float | None = None
    """δ of the new campaign."""
    head_list_size: int | None = None
    """Most queries of its head list; all that are found if left out."""
    tokens: Flag = False
    """Whether every report of the new campaign needs a token."""

    def document(self, people: People, service: str) -> dict[str, Any]:
        """Return the request for the new campaign."""
        if self.epsilon is None or self.delta is None:
            raise BlenderError("give --campaign, or --epsilon and --delta of a new one")
        return {
            "name": "Simulated devices",
            "purpose": "A trial of the service with a simulated population.",
            "controller": "The operator of this service",
            "contact": "The operator of this service; every device is simulated.",
            "privacy_policy": service,
            "consent": {"version": "1", "text": _CONSENT},
            "parameters": {
                "epsilon": self.epsilon,
                "delta": self.delta,
                "head_list_size": self.head_list_size,
            },
            "expected_clients": len(people.clients),
            **({"reports": "token"} if self.tokens else {}),
        }


def devices(
    *,
    service: str,
    log: Annotated[list[str] | None, Parameter(negative="")] = None,
    campaign: UUID | None = None,
    count: int | None = None,
    opt_in: float = 0.05,
    data: Path | None = None,
    operator_token_file: Path | None = None,
    drive: Flag = False,
    batch: int = 1000,
    connections: int = 8,
    patience: float = 600.0,
    relay_options: DeviceRelay = DeviceRelay(),  # noqa: B008 - frozen
    new: NewCampaign = NewCampaign(),  # noqa: B008 - frozen
    log_options: LogOptions = LogOptions(),  # noqa: B008 - frozen
    json: Flag = False,
) -> None:
    """Simulate a population of devices, taken from a log or made up, with a running service.

    Opt-in users enrol and contribute their rows; every client reports one of its rows, drawn
    uniformly and randomised, to the service or through the campaign's relay. Between the phases it
    waits for the campaign to move, or moves it.
    Exit status: 0 when all devices were simulated, 2 if the service refused or a job failed.

    Parameters
    ----------
    service
        The service's address, such as http://127.0.0.1:8080.
    log
        Files, folders or patterns with raw records; may be given several times. Default: a
        synthetic log like AOL's.
    campaign
        The campaign's id. With --drive it may be left out: then a campaign is created.
    count
        Number of people of the log who take part. Default: all, and 40,000 of a synthetic log.
    opt_in
        Share of them who opt in; or use --group.
    data
        Directory of a service on this machine: an operator's token is made there for this
        simulation, and revoked at its end.
    operator_token_file
        File with an operator's token: for enrolment tokens, and for --drive, which asks for the
        token in the terminal if there is neither --data nor a file. Without any of them the
        campaign's enrolment must be open.
    drive
        Make the operator's moves too, from draft to release.
    batch
        Reports per request; 1 sends each alone, as devices do.
    connections
        Most requests at the same time.
    patience
        Seconds to wait for each state of the campaign.
    json
        Print a summary for a program.
    """
    _require_numbers(batch, connections)
    if campaign is None and not drive:
        raise BlenderError("give --campaign, the id of a campaign of this service")
    address = require_address(service, "service")
    with (
        _operator_token(data, operator_token_file, drive=drive) as token,
        HttpTransport(address) as transport,
        shown_progress(time_left=True) as progress,
    ):
        operator = Operator(transport=transport, token=token)
        with _paths(log, count, progress) as paths:
            relay = relay_options.rules().share
            people = _people(log_options.log(paths), count, opt_in, relay, progress)
        if campaign is None:
            document = new.document(people, address) | relay_options.fields(people)
            chosen = operator.create(document)
        else:
            chosen = campaign
            _require_relay(operator, chosen, people)
        stage = Stage(
            url=address,
            campaign=chosen,
            operator=operator,
            drives=drive,
            batch=batch,
            connections=connections,
            patience=patience,
            step=progress.step,
            share=progress.share,
        )
        played = play(people, stage, Randomness.secure())
    if json:
        print_json({"campaign": str(chosen), **asdict(played)})
        return
    if campaign is None:
        say(f"made the campaign {chosen}")
    relayed = f"{played.relayed:,} clients reported through the relay, " if people.relayed else ""
    RESULTS.print(
        f"{played.contributed:,} opt-in users contributed, {relayed}{played.reported:,} clients "
        f"reported ({played.accepted:,} counted); the campaign is {played.state}"
    )


@contextmanager
def _operator_token(data: Path | None, file: Path | None, *, drive: bool) -> Iterator[str | None]:
    """Yield an operator's token: a new one of a service on this machine, or a given one."""
    if data is None:
        token = None if file is None else read_token(file)
        if drive and token is None and sys.stdin.isatty():
            token = getpass("operator token: ").strip()
        if drive and not token:
            raise BlenderError(
                "--drive makes the operator's moves and needs a token: give --data, the directory "
                "of a service on this machine, or --operator-token-file"
            )
        yield token
        return
    if file is not None:
        raise ParameterError("operator_token_file", "left out with --data", str(file))
    storage = ServiceOptions(data=data)
    if not Path(storage.url).is_file():
        raise InputError(data, "is not the directory of a service that has been started")
    require_service_extra("devices")
    from blender_dp.cli.service_tokens import create_token, revoke_token  # noqa: PLC0415 - an extra

    name = f"simulated-devices-{uuid4().hex[:8]}"
    token = create_token(storage, name, "operator")
    try:
        yield token
    finally:
        revoke_token(storage, name)


def _require_relay(operator: Operator, campaign: UUID, people: People) -> None:
    if people.relayed and operator.read(campaign).get("relay") is None:
        raise BlenderError("the campaign has no relay; leave --relay out")


@contextmanager
def _paths(log: list[str] | None, count: int | None, progress: StepProgress) -> Iterator[list[str]]:
    """Return the files of the log; a synthetic one lasts as long as the block."""
    if log is not None:
        yield log
        return
    progress.step("make a synthetic log")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "log.parquet"
        users = _SYNTHETIC_USERS if count is None else count
        write_log(synthesize(Shape.AOL, users=users, progress=progress.share), file)
        yield [str(file)]


def _people(
    log: Log, count: int | None, opt_in: float, relay: float, progress: StepProgress
) -> People:
    progress.step("read the log")
    return read_people(
        log,
        count=count,
        opt_in=opt_in,
        relay=relay,
        workspace=Workspace(percent=progress.percent),
        randomness=Randomness.secure(),
    )


def _require_numbers(batch: int, connections: int) -> None:
    if not 1 <= batch <= 10_000:
        raise ParameterError("batch", "from 1 to 10,000", batch)
    if not 1 <= connections <= 1_000:
        raise ParameterError("connections", "from 1 to 1,000", connections)
