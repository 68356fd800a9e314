"""Privacy label: one picture that tells people what a result may reveal about them."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Literal

from blender_dp.core.certificate.certificate import Account
from blender_dp.core.certificate.plain_words import (
    certainty,
    guess_limit,
    one_in,
    scientific,
    surest_after,
)
from blender_dp.core.certificate.promises import IF_COLLUSION, RELAY_MODEL
from blender_dp.pages.disclosure.deployment import Deployment
from blender_dp.pages.disclosure.disclosed import Disclosed, at_most

_WIDTH = 560
_MARGIN = 24
_LETTER = {False: 0.55, True: 0.63}
"""Width of an average letter, plain and bold, in sizes of the font; that of DejaVu, a wide one."""

Style = Literal["title", "heading", "limit", "plain", "small"]
_SIZES: dict[Style, int] = {"title": 30, "heading": 17, "limit": 17, "plain": 15, "small": 12}
_BOLD = ("title", "heading", "limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line of text, or a rule of this thickness."""

    text: str = ""
    style: Style = "plain"
    rule: int = 0

    @property
    def height(self) -> float:
        return self.rule + 14 if self.rule else _SIZES[self.style] * 1.4


def privacy_label(disclosed: Disclosed, deployment: Deployment) -> str:
    """Return the label as an SVG picture that needs no other file, 560 pixels wide."""
    lines = list(_lines(disclosed, deployment))
    y, drawn = float(_MARGIN), []
    for line in lines:
        y += line.height
        drawn.append(_drawn(line, y))
    height = round(y + _MARGIN)
    words = " ".join(line.text for line in lines if line.text)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-labelledby="title words" '
        'font-family="Helvetica, Arial, sans-serif" fill="#111">\n'
        f'<title id="title">Privacy label</title>\n<desc id="words">{escape(words)}</desc>\n'
        f'<rect x="2" y="2" width="{_WIDTH - 4}" height="{height - 4}" fill="#fff" '
        'stroke="#111" stroke-width="3"/>\n' + "\n".join(drawn) + "\n</svg>\n"
    )


def _drawn(line: _Line, y: float) -> str:
    if line.rule:
        place = f'x="{_MARGIN}" y="{y - line.rule - 4:g}" width="{_WIDTH - 2 * _MARGIN}"'
        return f'<rect {place} height="{line.rule}"/>'
    weight = ' font-weight="bold"' if line.style in _BOLD else ""
    colour = ' fill="#444"' if line.style == "small" else ""
    size = _SIZES[line.style]
    return (
        f'<text x="{_MARGIN}" y="{y - size * 0.3:g}" font-size="{size}"{weight}{colour}>'
        f"{escape(line.text)}</text>"
    )


def _lines(disclosed: Disclosed, deployment: Deployment) -> Iterator[_Line]:
    yield _Line(text="Privacy facts", style="title")
    for text in (deployment.name, deployment.curator and f"by {deployment.curator}"):
        yield from _wrapped(text or "", "heading" if text == deployment.name else "plain")
    if disclosed.created:
        yield _Line(text=f"{disclosed.people:,} people, published {disclosed.created[:10]}")
    yield _Line(rule=8)
    for account in disclosed.accounts:
        yield from _group(disclosed, account)
        yield _Line(rule=1)
    yield from _wrapped(_example(disclosed), "plain")
    yield _Line(rule=1)
    yield from _wrapped(_NOT_HIDDEN, "plain")
    yield _Line(rule=4)
    yield from _wrapped(_HOW, "small")


_NOT_HIDDEN = (
    "Not hidden: that somebody takes part, how many people do, and what many people have in "
    "common. These limits are for this result only. Another result from the same people adds to "
    "them."
)
_HOW = (
    "ε and δ measure what can be learned about one person; smaller is safer. Costs were computed "
    "from published files with exact fractions, and rounded up. To compute them again: "
    "blender-dp certify"
)


def _group(disclosed: Disclosed, account: Account) -> Iterator[_Line]:
    people = disclosed.people_of(account)
    who = _who(account)
    yield from _wrapped(who if people is None else f"{people:,} {who}", "heading")
    yield from _wrapped(_trust(disclosed, account), "plain")
    epsilon, delta = float(account.promised_epsilon), float(account.promised_delta)
    limit = guess_limit(epsilon)
    yield from _wrapped(f"{limit[0].upper()}{limit[1:]}.", "limit")
    fails = "This limit never fails."
    if delta:
        fails = f"This limit may fail with a chance of at most {one_in(delta)}."
    yield from _wrapped(fails, "plain")
    yield from _wrapped(
        f"Promised: {_equals('ε', at_most(account.promised_epsilon))}, "
        f"{_equals('δ', scientific(delta))}. Cost if a person's data are exchanged: "
        f"{_equals('ε', at_most(account.tight_epsilon))}; if they are added or removed: "
        f"{_equals('ε', at_most(account.add_remove_epsilon))}.",
        "small",
    )


def _equals(name: str, number: str) -> str:
    return f"{name}\u00a0=\u00a0{number}"


def _who(account: Account) -> str:
    if account.model == RELAY_MODEL:
        return "people who reported through the relay"
    if account.model == "local":
        return "people who sent a private report"
    return account.to.replace("opt-in users", "people who opted in")


def _trust(disclosed: Disclosed, account: Account) -> str:
    """Return who saw the raw records of a group."""
    if account.model == RELAY_MODEL:
        if account.to.endswith(IF_COLLUSION):
            return "If the relay and the organisation work together against them:"
        return "As long as the relay and the organisation do not work together:"
    if account.model != "local":
        return "The organisation saw their records. What it published has random noise."
    if disclosed.from_log:
        return (
            "The organisation had their records in a log. It used only one scrambled report of "
            "each, as a device would send."
        )
    return "Nobody saw their records. Their device sent one scrambled report."


def _example(disclosed: Disclosed) -> str:
    """Return what the largest promise means for a guess that somebody makes."""
    epsilon = float(max(account.promised_epsilon for account in disclosed.accounts))
    few, half = surest_after(0.001, epsilon), surest_after(0.5, epsilon)
    return (
        "An example, for the largest ε above: somebody thinks the chance is 1 in 1,000 that a "
        "certain thing is true of you. Afterwards they can think it is "
        f"{certainty(few) if few > 0.1 else one_in(few)} at most. Somebody who was half sure can "
        f"be {certainty(half)} sure at most. Usually they learn far less."
    )


def _wrapped(text: str, style: Style) -> Iterator[_Line]:
    letters = int((_WIDTH - 2 * _MARGIN) / (_SIZES[style] * _LETTER[style in _BOLD]))
    for line in wrap(text, letters):
        yield _Line(text=line, style=style)
