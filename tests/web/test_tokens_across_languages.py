"""Report tokens of 1,000 devices in TypeScript, issued and checked by Python."""

import json
import subprocess
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from web.client_site import ENVIRONMENT, WEB

from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.reports.service_report import report_id_of
from blender_dp.wire.tokens.blind_signer import BlindSigner, draw_signing_key, read_signing_key
from blender_dp.wire.tokens.report_token import (
    REQUEST_BYTES,
    TOKEN_BYTES,
    TokenRules,
    blinded_message_in,
)
from blender_dp.wire.tokens.token_key import TokenKey

pytestmark = pytest.mark.slow
DEVICES = 1000


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the client's part for tokens as one file that Node runs."""
    rolldown = WEB / "node_modules" / ".bin" / "rolldown"
    if not rolldown.exists():
        pytest.skip("what is in web/ is not installed; run: make .make/web")
    made = tmp_path_factory.mktemp("bundle") / "token.mjs"
    source = WEB / "client" / "src" / "token" / "token.ts"
    bundling = [str(rolldown), str(source), f"--file={made}", "--format=esm"]
    subprocess.run(bundling, cwd=WEB, env=ENVIRONMENT, check=True, capture_output=True)
    return made


def play(bundle: Path, step: str, key: TokenKey, cases: list[dict[str, str]]) -> Any:
    """Let the devices in TypeScript do a step."""
    script = Path(__file__).with_name("token_device.mjs")
    done = subprocess.run(
        ["node", script, bundle, step],
        input=json.dumps({"token_key": key.text, "cases": cases}),
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)


def test_tokens_of_one_language_are_issued_and_checked_by_the_other(bundle: Path) -> None:
    private = read_signing_key(draw_signing_key())
    key, signer = TokenKey(private.public_key()), BlindSigner(private)
    campaigns = [uuid4() for _ in range(DEVICES)]
    asked = play(bundle, "request", key, [{"campaign": str(one)} for one in campaigns])
    assert len({one["request"] for one in asked}) == DEVICES
    cases = []
    for campaign, one in zip(campaigns, asked, strict=True):
        request = from_text(one["request"], REQUEST_BYTES)
        assert request is not None
        response = to_text(signer.sign(blinded_message_in(request, key)))
        cases.append({**one, "campaign": str(campaign), "response": response})
    finished = play(bundle, "finish", key, cases)
    for campaign, one in zip(campaigns, finished, strict=True):
        token = from_text(one["token"], TOKEN_BYTES)
        assert token is not None
        assert TokenRules(key, campaign).is_valid(token)
        assert not TokenRules(key, uuid4()).is_valid(token)
        assert one["report_id"] == to_text(report_id_of(token))
