"""Share page and invitation of a campaign, as HTML and as plain text; no script is needed."""

import io
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from urllib.parse import urlsplit

from blender_dp.core.certificate.plain_words import guess_example, guess_limit, scientific
from blender_dp.service.campaign import Campaign, Reports, State
from blender_dp.service.share_page.words import (
    OVER,
    RESULT_STAYS,
    limit_fails,
    needs_code,
    opt_in_time,
    report_time,
    state_sentence,
    suggestions_time,
)
from blender_dp.service.shown_texts import is_plain_web_address, shown_lines

NO_SUCH_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>No such campaign</title>
<link rel="stylesheet" href="/join/style.css">
</head>
<body>
<main>
<h1>There is no such campaign here</h1>
<p>Is the whole link there? Ask the person who gave it to you.</p>
</main>
</body>
</html>
"""
EXTENSION = "Blender: popular searches, privately"
"""Name of the browser extension, as people find it; it is in the extension's manifest too."""
_BY_RELAY = "one report through a relay, "
_NOT_SAID = "not said in this older campaign"
_COUNTED_ONCE = (
    "With a report goes a token, so that everybody counts once. A token is like a ticket without a "
    "name: it shows that you are one person. $host signs it without seeing it, as if through a "
    "closed envelope, and learns only that you take part. Nobody can tell by the token which "
    "report is yours. Your device sends the report later, at a random time.$code"
)
_CODE_FOR_IT = " For a token you need a code, which the organisation gives to each person."
_CODE = (
    "For this choice you also need a code, which the organisation gives to each person. The "
    "extension asks you for it. If the organisation notes who got which code, it can tell that "
    "the searches are yours."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharePage:
    """Page about one campaign, at one address."""

    campaign: Campaign
    link: str
    """Address of the page as people are given it."""
    has_release: bool = False
    """Whether the campaign published a result; it stays public when the campaign is purged."""
    relay_epsilon: float | None = None
    """ε0 of the published list: what relay and collector together can learn. None before that."""

    def html(self) -> str:
        """Return the page."""
        campaign, parameters = self.campaign, self.campaign.parameters
        values = {
            "host": urlsplit(self.link).netloc,
            "name": campaign.name,
            "purpose": campaign.purpose,
            "controller": campaign.controller or _NOT_SAID,
            "contact": campaign.contact or _NOT_SAID,
            "opt_in_time": opt_in_time(campaign),
            "report_time": report_time(campaign),
            "code": _CODE if needs_code(campaign) else "",
            "limit": guess_limit(parameters.epsilon),
            "example": guess_example(parameters.epsilon),
            "fails": limit_fails(campaign),
            "epsilon": scientific(parameters.epsilon),
            "delta_number": scientific(parameters.delta),
        }
        return Template(read_asset("page.html")).substitute(
            {name: _shown(value) for name, value in values.items()},
            state=self._state(),
            relay_choice=self._relay_part("relay_choice.html"),
            relay_limit=self._relay_part("relay_limit.html"),
            token=self._token(),
            joining=self._joining(),
            privacy_policy=_link(campaign.privacy_policy),
        )

    def invitation(self) -> str:
        """Return a text that an operator sends to people."""
        campaign = self.campaign
        text = (
            f"{campaign.controller or _NOT_SAID} invites you to take part in: {campaign.name}\n\n"
            f"{campaign.purpose}\n\n"
            "You decide what is sent: your searches as they are, one private report, "
            f"{_BY_RELAY if campaign.relay else ''}or nothing. Read more and decide here:\n"
            f"{self.link}\n\n"
            f"Questions: {campaign.contact or _NOT_SAID}\n"
            f"Privacy policy: {campaign.privacy_policy or _NOT_SAID}\n"
        )
        return shown_lines(text)

    def _relay_part(self, name: str) -> str:
        """Return a part of the page that only campaigns with a relay have."""
        relay, parameters = self.campaign.relay, self.campaign.parameters
        if relay is None:
            return ""
        together = relay.epsilon_cap if self.relay_epsilon is None else self.relay_epsilon
        values = {
            "report_time": report_time(self.campaign),
            "host": urlsplit(relay.address).netloc,
            "least_batch": f"{relay.least_batch:,}",
            "limit": guess_limit(together),
            "example": guess_example(together),
            "epsilon": scientific(parameters.epsilon),
            "together": f"{'at most ' if self.relay_epsilon is None else ''}{scientific(together)}",
        }
        return Template(read_asset(name)).substitute(
            {name: _shown(value) for name, value in values.items()}
        )

    def _joining(self) -> str:
        """Return what a person does next: take part, or get the suggestions; nothing if neither."""
        is_over = self.campaign.state in OVER
        when = suggestions_time(self.campaign.state, has_release=self.has_release)
        if is_over and not when:
            return ""
        values = {
            "id": str(self.campaign.id),
            "link": self.link,
            "extension": EXTENSION,
            "invitation": self.invitation(),
            "when": when,
        }
        return Template(
            read_asset("get_suggestions.html" if is_over else "take_part.html")
        ).substitute({name: _shown(value) for name, value in values.items()})

    def _token(self) -> str:
        """Return what is said of tokens where reports need one."""
        campaign = self.campaign
        if campaign.reports is not Reports.TOKEN:
            return ""
        issuer = campaign.issuer
        host = urlsplit(self.link if issuer is None else issuer.address).netloc
        needs_code = issuer is not None or not campaign.open_enrolment
        text = Template(_COUNTED_ONCE).substitute(
            host=host, code=_CODE_FOR_IT if needs_code else ""
        )
        return f"<p>{_shown(text)}</p>\n"

    def _state(self) -> str:
        is_kept = self.campaign.state is State.PURGED and self.has_release
        sentence = escape(RESULT_STAYS if is_kept else state_sentence(self.campaign.state))
        if not self.has_release:
            return sentence
        return f'{sentence} <a href="/#/campaigns/{self.campaign.id}/release">See the result</a>'


def qr_code(link: str) -> bytes:
    """Return a QR code of an address as SVG, dark on light in every colour scheme."""
    import segno  # noqa: PLC0415 - only this picture needs it

    picture = io.BytesIO()
    segno.make_qr(link, error="m").save(picture, kind="svg", scale=4, dark="#000", light="#fff")
    return picture.getvalue()


@cache
def read_asset(name: str) -> str:
    """Return the content of a file of this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _shown(text: str) -> str:
    """Return a text as HTML, without invisible characters."""
    return escape(shown_lines(text))


def _link(address: str | None) -> str:
    """Return a link; the service takes web addresses only, but took others before."""
    if address is None:
        return _NOT_SAID
    if not is_plain_web_address(address):
        return f"<bdi>{_shown(address)}</bdi>"
    return f'<a href="{escape(address)}" rel="noreferrer">{escape(address)}</a>'
