"""Report tokens of many simulated devices, each asked for as a device does."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial

from blender_dp.client.crowd.crowd import Crowd
from blender_dp.core.errors import BlenderError
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.tokens.report_token import RESPONSE_BYTES, TokenRules, TokenSecret


def token_requests(
    crowd: Crowd, enrolments: Sequence[str], rules: TokenRules, keep: Callable[[bytes], None]
) -> Iterator[Callable[[], Awaitable[int]]]:
    """Yield one request per enrolment; each keeps the token that it gets."""
    path = f"campaigns/{rules.campaign}/report-token"

    async def one(enrolment: str) -> int:
        secret = TokenSecret.draw(rules.key)
        body = canonical({"version": 1, "request": to_text(rules.request(secret))})
        answer = await crowd.send("POST", path, body=body, token=enrolment)
        response = from_text(str(answer.document("the token").get("response")), RESPONSE_BYTES)
        if response is None:
            raise BlenderError("the service gave no token")
        keep(rules.token(secret, response))
        return 1

    for enrolment in enrolments:
        yield partial(one, enrolment)
