"""Texts of a campaign that people read before they decide: rules for each kind of text."""

import re

from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.visible_names import JOINERS, visible
from blender_dp.local_search.urls import web_address

LINE_RULE = "one line with at least one letter, without invisible signs"
TEXT_RULE = "lines with at least one letter, without invisible signs but line breaks"
WEB_ADDRESS_RULE = "a web address without a user name, invisible signs or backslashes"
_AUTHORITY = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)


class UnreadableTextError(ParameterError):
    """People could not read a text as it is meant."""


def require_line(name: str, text: str) -> None:
    """Refuse a line that nobody could read as it is meant."""
    if not _is_readable(text):
        raise UnreadableTextError(name, LINE_RULE, text)


def require_text(name: str, text: str) -> None:
    """Refuse a text of several lines that nobody could read as it is meant."""
    if not _is_readable(text.replace("\n", " ")):
        raise UnreadableTextError(name, TEXT_RULE, text)


def require_web_address(name: str, text: str) -> None:
    """Refuse what is no web address, or looks like another one than it opens."""
    if not is_plain_web_address(text):
        raise UnreadableTextError(name, WEB_ADDRESS_RULE, text)


def is_plain_web_address(text: str) -> bool:
    """Tell whether a text is a web address that opens what people read.

    >>> is_plain_web_address("https://library.example/@us/privacy")
    True
    >>> is_plain_web_address("https://library.example@evil.example/")
    False
    """
    place = _AUTHORITY.match(text)
    if place is None or "@" in place[1] or not text.isprintable():
        return False
    return web_address(text) is not None


def shown_lines(text: str) -> str:
    """Return a text of several lines without invisible signs, for what was stored before."""
    return "\n".join(map(visible, text.split("\n")))


def _is_readable(text: str) -> bool:
    letters = [sign for sign in text if not sign.isspace() and sign not in JOINERS]
    return bool(letters) and visible(text) == text
