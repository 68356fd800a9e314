"""``devices`` and ``download``: arguments that cannot work are one sentence, before anything."""

from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest
from cli.outcomes import Command

URL = "http://127.0.0.1:9"
CAMPAIGN = str(UUID(int=1))


@pytest.fixture
def token(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("secret\n", encoding="ascii")
    return path


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("--service", "http://collect.example", "--campaign", CAMPAIGN),
            "service must be https://",
        ),
        (("--service", URL), "give --campaign"),
        (("--service", URL, "--drive"), "needs a token: give --data"),
        (("--service", URL, "--campaign", "x"), "campaign"),
        (
            ("--service", URL, "--campaign", CAMPAIGN, "--batch", "0"),
            "batch must be from 1 to 10,000",
        ),
        (("--service", URL, "--campaign", CAMPAIGN, "--batch", "10001"), "batch must be from 1"),
        (("--service", URL, "--campaign", CAMPAIGN, "--connections", "0"), "connections must be"),
        (("--service", URL, "--campaign", CAMPAIGN, "--opt-in", "2"), "opt_in must be strictly"),
        (("--service", URL, "--campaign", CAMPAIGN, "--count", "9999999"), "count must be from 1"),
        (("--service", URL, "--campaign", CAMPAIGN, "--relay", "1.5"), "relay must be a share"),
        (("--service", URL, "--campaign", CAMPAIGN, "--relay-cap", "0"), "relay_cap must be"),
    ],
)
def test_wrong_arguments_of_devices(
    command: Command, log: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    outcome = command("devices", "--log", log, *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert sentence in outcome.err


def test_the_operators_token_is_asked_for_in_a_terminal(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))

    def type_nothing(text: str) -> str:
        asked.append(text)
        return ""

    monkeypatch.setattr("blender_dp.cli.devices.getpass", type_nothing)
    outcome = command("devices", "--service", URL, "--drive")
    assert "needs a token: give --data" in outcome.err
    assert asked == ["operator token: "]


def test_a_new_campaign_needs_a_promise(command: Command, log: Path, token: Path) -> None:
    given = ("--service", URL, "--drive", "--operator-token-file", token)
    outcome = command("devices", "--log", log, *given)
    assert outcome.status == 2
    assert "give --campaign, or --epsilon and --delta" in outcome.err


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((), "give --relay-address and --relay-key"),
        (("--relay-address", "http://relay.example"), "give --relay-address and --relay-key"),
        (("--relay-address", "http://relay.example", "--relay-key", "x"), "must be https://"),
        (("--relay-address", "https://relay.example", "--relay-key", "x"), "key must be 32 bytes"),
    ],
)
def test_relay_clients_of_a_new_campaign_need_a_relay(
    command: Command, log: Path, token: Path, given: tuple[str, ...], sentence: str
) -> None:
    promise = ("--epsilon", "4", "--delta", "1e-5", "--relay", "0.5")
    fixed = ("--service", URL, "--drive", "--operator-token-file", token)
    outcome = command("devices", "--log", log, *fixed, *promise, *given)
    assert outcome.status == 2
    assert sentence in outcome.err


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"", "one token"), (b"a b", "one token"), (b"\xff", "text file with a token")],
)
def test_a_token_file_holds_one_token(
    command: Command, log: Path, token: Path, content: bytes, sentence: str
) -> None:
    token.write_bytes(content)
    given = ("--service", URL, "--drive", "--operator-token-file", token)
    outcome = command("devices", "--log", log, *given)
    assert outcome.status == 2
    assert sentence in outcome.err


def test_a_token_file_that_is_not_there(command: Command, log: Path, tmp_path: Path) -> None:
    given = ("--service", URL, "--drive", "--operator-token-file", tmp_path / "none")
    outcome = command("devices", "--log", log, *given)
    assert (outcome.status, outcome.err) == (
        2,
        f"blender-dp: {tmp_path / 'none'}: no such file\n",
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("http://collect.example", CAMPAIGN), "url must be https://"),
        ((URL, CAMPAIGN, "--key", "short"), "key must be 32 bytes"),
        ((URL, "x"), "campaign"),
    ],
)
def test_wrong_arguments_of_download(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    outcome = command("download", *arguments, "-o", tmp_path / "out")
    assert outcome.status == 2
    assert sentence.lower() in outcome.err.lower()
    assert not (tmp_path / "out").exists()
