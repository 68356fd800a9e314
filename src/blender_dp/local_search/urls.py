"""Normal form of URLs, without tracking parameters and without disguised hosts.

A log may hold full URLs, or bare hosts as AOL's does. Two records may name the same page, and an
attacker may have planted a link that looks like another one.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

from blender_dp.local_search.hosts import ascii_host, shown_host

_SCHEME = re.compile(r"(?:([a-z][a-z0-9+.-]*):)?//", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"[^/?#@\[\]]*:(?![0-9]+(?:[/?#]|$))")
"""Colon without a port after it: javascript:, data:, mailto: and other schemes."""
_PARTS = re.compile(r"([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.DOTALL)
_FORBIDDEN = re.compile(r'[\x00-\x20\x7f-\xa0\\<>"`{}|^\ud800-\udfff]')
_PLACE = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]{0,5}))?")
_PORTS = {"http": "80", "https": "443"}
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PLAIN = re.compile(r"[\w.~-]*", re.ASCII)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_TRACKING = re.compile(
    r"utm_.*|mtm_.*|pk_(?:campaign|kwd|source|medium)|gclid|gclsrc|dclid|gbraid|wbraid|fbclid"
    r"|msclkid|yclid|ysclid|_openstat|twclid|ttclid|li_fat_id|igshid|igsh|mc_cid|mc_eid|mkt_tok"
    r"|_hsenc|_hsmi|__hst[cs]|__hsfp|hsctatracking|vero_id|oly_anon_id|oly_enc_id|_ga|_gl|ref_src"
    r"|wickedid|s_cid|srsltid|phpsessid|jsessionid|sessionid|session_id",
    re.IGNORECASE,
)
_SESSION_IN_PATH = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;]*", re.IGNORECASE)
_MOST_LETTERS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAddress:
    """Address of a web page."""

    address: str
    """Spelling for programs: ASCII, ready to open."""
    shown: str
    """Spelling for people: the host in its own letters if they cannot mislead."""


def web_address(url: str) -> WebAddress | None:
    """Return a URL in canonical spelling, or None if it is not a web page.

    >>> web_address("HTTP://user@Example.com:80/a/../b?utm_source=x&q=1#top").address
    'http://example.com/b?q=1'
    >>> web_address("google.com").address, web_address("javascript:alert(1)")
    ('https://google.com/', None)
    """
    text = url.strip()
    if len(text) > _MOST_LETTERS or _FORBIDDEN.search(text):
        return None
    named = _SCHEME.match(text)
    scheme = (named[1] if named and named[1] else "https").lower()
    rest = text[named.end() :] if named else text
    parts = _PARTS.fullmatch(rest)
    is_other = not named and ":" in text and _OTHER_SCHEME.match(text)
    if scheme not in _PORTS or parts is None or is_other:
        return None
    place = _place(scheme, parts[1])
    if place is None:
        return None
    host, port = place
    page = _path(parts[2]) + _query(parts[3] or "")
    return WebAddress(
        address=f"{scheme}://{host}{port}{page}", shown=f"{scheme}://{shown_host(host)}{port}{page}"
    )


def _place(scheme: str, authority: str) -> tuple[str, str] | None:
    """Return host and port; a user name before an @ is dropped, since it may imitate a host."""
    found = _PLACE.fullmatch(authority.rpartition("@")[2])
    host = ascii_host(found[1]) if found else None
    if found is None or host is None:
        return None
    number = found[2] or ""
    if number and not 1 <= int(number) <= 65_535:
        return None
    port = str(int(number)) if number else ""
    return host, "" if port in ("", _PORTS[scheme]) else f":{port}"


def _path(path: str) -> str:
    segments: list[str] = []
    for segment in _SESSION_IN_PATH.sub("", path).split("/")[1:]:
        plain = _escaped(segment)
        if plain == "..":
            segments = segments[:-1]
        elif plain != ".":
            segments.append(plain)
    is_folder = path.endswith(("/", "/.", "/.."))
    joined = "/".join(["", *segments])
    return f"{joined}/" if not segments or (is_folder and segments[-1]) else joined


def _query(query: str) -> str:
    kept = [
        _escaped(part)
        for part in query.split("&")
        if part and not _TRACKING.fullmatch(unquote_to_bytes(part.split("=")[0]).decode("latin-1"))
    ]
    return "?" + "&".join(kept) if kept else ""


def _escaped(text: str) -> str:
    """Escape exactly the characters that must be escaped (RFC 3986, section 6.2.2)."""
    if _PLAIN.fullmatch(text):
        return text
    encoded = quote(text, safe="!$&'()*+,;=:@/?%-._~")
    return _ESCAPE.sub(_as_written, re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", encoded))


def _as_written(escape: re.Match[str]) -> str:
    byte = int(escape[1], 16)
    return chr(byte) if byte in _UNRESERVED else escape[0].upper()
