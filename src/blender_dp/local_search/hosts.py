"""Host names in two spellings: one for programs, and one for people that avoids look-alikes.

A name may hold letters of any script; programs see those as Punycode (``xn--…``). Letters of
different scripts can look alike. So a name is shown in its own letters only if they are of one
script and do not all look like Latin letters (Unicode Technical Standard 39).
"""

import re
import unicodedata
from ipaddress import AddressValueError, IPv4Address, IPv6Address

_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")
_DOTS = re.compile("[.\u3002\uff0e\uff61]")
_PREFIX = "xn--"
_MOST_LETTERS = 253
_SCRIPTS = frozenset(
    (
        *("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "GEORGIAN", "HEBREW", "ARABIC", "THAANA"),
        *("DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU", "KANNADA"),
        *("MALAYALAM", "SINHALA", "TIBETAN", "MYANMAR", "THAI", "LAO", "KHMER", "ETHIOPIC"),
        *("HANGUL", "HIRAGANA", "KATAKANA", "BOPOMOFO", "CJK"),
    )
)
"""Scripts in common modern use (Unicode Standard Annex 31, table 5); few people read others."""
_TOGETHER = (
    frozenset({"CJK", "HIRAGANA", "KATAKANA"}),
    frozenset({"CJK", "HANGUL"}),
    frozenset({"CJK", "BOPOMOFO"}),
)
"""Scripts that one language mixes."""
_LOOK_LATIN = frozenset(
    "\u0430\u0441\u0501\u0435\u04bb\u0456\u0458\u04cf\u043e\u0440\u051b\u0455\u051d\u0445\u0443"
    "\u044a\u044c\u0432\u043a\u043c\u043d\u0442\u0433\u043f"  # Cyrillic
    "\u03b1\u03b3\u03b5\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c3\u03c4\u03c5\u03c7\u03c9"  # Greek
    "\u0585\u057d\u0578\u0570\u0575\u0581\u0566"  # Armenian
)


def ascii_host(host: str) -> str | None:
    """Return a host in the spelling for programs, or None if it is not a host.

    >>> ascii_host("WWW.München.example."), ascii_host("127.1"), ascii_host("a b")
    ('www.xn--mnchen-3ya.example', None, None)
    """
    if host.startswith("["):
        return _ipv6(host)
    text = (host if host.isascii() else unicodedata.normalize("NFKC", host)).lower()
    labels = [_ascii_label(label) for label in _DOTS.split(text.removesuffix("."))]
    if any(label is None for label in labels):
        return None
    name = ".".join(label or "" for label in labels)
    if _NUMERIC.fullmatch(labels[-1] or ""):
        return _ipv4(name)
    return name if len(labels) > 1 and len(name) <= _MOST_LETTERS else None


def shown_host(host: str) -> str:
    """Return a host of :func:`ascii_host` in the spelling for people.

    >>> shown_host("xn--mnchen-3ya.example"), shown_host("xn--80ak6aa92e.example")
    ('münchen.example', 'xn--80ak6aa92e.example')
    """
    return ".".join(map(_shown_label, host.split(".")))


def _ascii_label(label: str) -> str | None:
    if not label.isascii():
        if not all(unicodedata.category(c)[0] in "LMN" or c == "-" for c in label):
            return None
        label = _PREFIX + label.encode("punycode").decode()
    return label if _LABEL.fullmatch(label) else None


def _shown_label(label: str) -> str:
    if not label.startswith(_PREFIX):
        return label
    try:
        letters = label.removeprefix(_PREFIX).encode().decode("punycode")
    except (UnicodeError, ValueError, OverflowError):
        return label
    # A name that does not convert back to the same code may mislead.
    is_itself = ascii_host(f"{letters}.example") == f"{label}.example"
    return letters if is_itself and _is_plain(letters) else label


def _is_plain(letters: str) -> bool:
    """Tell whether letters are of one common script and do not all look like Latin letters."""
    special = [c for c in letters if not ("0" <= c <= "9" or c == "-")]
    scripts = {_script(c) for c in special if unicodedata.category(c)[0] != "M"}
    # Letters beyond the basic plane: few fonts have them, and each Unicode version adds some.
    if any(unicodedata.category(c)[0] == "N" or c > "\uffff" for c in special):
        return False
    if scripts == {"LATIN"}:
        return all("a" <= c <= "z" or _is_accented(c) for c in special)
    if not scripts or not scripts <= _SCRIPTS:
        return False
    one_language = len(scripts) == 1 or any(scripts <= mixed for mixed in _TOGETHER)
    return one_language and not all(c in _LOOK_LATIN for c in special)


def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").split(" ")[0].split("-")[0]


def _is_accented(letter: str) -> bool:
    """Tell whether a Latin letter has a visible accent, or is a German or Nordic letter."""
    return letter in "ßæøœþð" or "a" <= unicodedata.normalize("NFD", letter)[0] <= "z"


def _ipv4(host: str) -> str | None:
    """Return an address of four plain numbers; other spellings are used to hide an address."""
    try:
        return str(IPv4Address(host))
    except AddressValueError:
        return None


def _ipv6(host: str) -> str | None:
    if "%" in host:  # a network card of the device that wrote the link
        return None
    try:
        return f"[{IPv6Address(host.removeprefix('[').removesuffix(']'))}]"
    except AddressValueError:
        return None
