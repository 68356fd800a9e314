"""HTTP hook: a server of the operator says who a caller is."""

import httpx

from blender_dp.core.errors import InputError
from blender_dp.issuer.logins.login import (
    MOST_ANSWER_BYTES,
    MOST_SUBJECT,
    SECONDS,
    LoginRefusedError,
    LoginUnavailableError,
)
from blender_dp.wire.documents.strict_json import read_object

_REFUSED = (401, 403)


class HttpHook:
    """A login that passes ``Authorization`` on: 200 and a subject, or 401 or 403."""

    def __init__(self, address: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._address = address
        self._client = httpx.AsyncClient(
            timeout=SECONDS, headers={"user-agent": "blender-dp"}, transport=transport
        )

    async def subject(self, credential: str) -> str:
        """Return the text ``subject`` of the hook's answer."""
        headers = {"authorization": f"Bearer {credential}"}
        try:
            answer = await self._client.get(self._address, headers=headers)
        except httpx.HTTPError:
            raise LoginUnavailableError from None
        if answer.status_code in _REFUSED:
            raise LoginRefusedError
        if answer.status_code != 200 or len(answer.content) > MOST_ANSWER_BYTES:
            raise LoginUnavailableError
        try:
            subject = read_object("the login's answer", answer.content).get("subject")
        except InputError:
            raise LoginUnavailableError from None
        if not isinstance(subject, str) or not 0 < len(subject) <= MOST_SUBJECT:
            raise LoginUnavailableError
        return subject

    async def close(self) -> None:
        """End all connections."""
        await self._client.aclose()
