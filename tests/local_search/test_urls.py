"""URLs: one spelling, nothing that tracks, and no link that poses as another."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.local_search.hosts import ascii_host, shown_host
from blender_dp.local_search.urls import web_address

ONE_SPELLING = {
    "http://www.google.com": "http://www.google.com/",
    "HTTP://WWW.Google.COM:80/": "http://www.google.com/",
    "google.com": "https://google.com/",
    "google.com:443": "https://google.com/",
    "google.com:8080/a": "https://google.com:8080/a",
    "//google.com/a": "https://google.com/a",
    " google.com. ": "https://google.com/",
    "http://paypal.example@evil.example/": "http://evil.example/",
    "http://a:b@evil.example:080": "http://evil.example/",
    "http://a.example/b#c": "http://a.example/b",
    "http://a.example?": "http://a.example/",
    "http://a.example/b?utm_source=x&q=1&FBCLID=2&%75tm_medium=3": "http://a.example/b?q=1",
    "http://a.example/b;jsessionid=12ab?q=1": "http://a.example/b?q=1",
    "http://a.example/b/./c/../d": "http://a.example/b/d",
    "http://a.example/b/%2e%2e/../../c": "http://a.example/c",
    "http://a.example/b/..": "http://a.example/",
    "http://a.example/b/.": "http://a.example/b/",
    "http://a.example/%7euser/%e4%b8": "http://a.example/~user/%E4%B8",
    "http://a.example/50%": "http://a.example/50%25",
    "http://a.example/ä?ö=ü": "http://a.example/%C3%A4?%C3%B6=%C3%BC",
    "http://münchen.example": "http://xn--mnchen-3ya.example/",
    "http://faß.example": "http://xn--fa-hia.example/",
    "http://apple\u3002com": "http://apple.com/",
    "http://192.0.2.1": "http://192.0.2.1/",
    "http://[2001:DB8::0:1]:80": "http://[2001:db8::1]/",
}

REFUSED = (
    *("javascript:alert(1)", "JavaScript://a.example/%0aalert(1)", "data:text/html,x", "file:///x"),
    *("vbscript:x", "mailto:a@b.example", "ftp://a.example", "http:a.example", "about:blank"),
    *("http://good.example\\@evil.example", "http://a.example\n/b", "http://a.example/\x00"),
    *("http://a b.example", "http://a.example/<script>", "a.example/\u00a0b", "", "intranet", "17"),
    *("http://", "http://.", "http://a..example", "http://-a.example", "http://a.example:0"),
    *("http://a.example:99999", "http://2130706433", "http://0x7f.1", "http://127.1", "1.2.3.256"),
    *("http://[::1", "http://[x]", "http://a.example:b", "http://\uff0f.example", "\ud800.example"),
    *("http://a\u2044b.example", f"http://{'a' * 64}.example", f"http://{'a.' * 130}example"),
    *("http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "a.example:\u0668\u0660"),
    f"http://a.example/{'a' * 3000}",
)


@pytest.mark.parametrize(("url", "address"), ONE_SPELLING.items())
def test_a_page_has_one_spelling(url: str, address: str) -> None:
    found = web_address(url)
    assert found is not None
    assert found.address == address


@pytest.mark.parametrize("url", REFUSED)
def test_what_is_no_page_of_the_web_is_refused(url: str) -> None:
    assert web_address(url) is None


SHOWN = {
    "German": ("xn--mnchen-3ya", "münchen"),
    "German, sharp s": ("xn--fa-hia", "faß"),
    "Vietnamese": ("xn--vit-5kz", "việt"),
    "Chinese": ("xn--fiqs8s", "中国"),
    "Japanese, three scripts": ("xn--l8jua8f3f8650b", "ありがと空"),
    "Korean": ("xn--3e0b707e", "한국"),
    "Russian": ("xn--e1afmkfd", "пример"),
    "Greek": ("xn--hxajbheg2az3al", "παράδειγμα"),
    "Arabic": ("xn--mgbh0fb", "مثال"),
    "Hindi": ("xn--p1b6ci4b4b3a", "उदाहरण"),
}
KEPT_FROM_SIGHT = {
    "Cyrillic that reads apple": "xn--80ak6aa92e",
    "Latin with a Cyrillic o": "xn--gogle-kye",
    "Latin with a Greek o": "go\u03bfgle",
    "dotless i": "g\u0131thub",
    "script g": "\u0261oogle",
    "Greek that reads like Latin": "\u03bf\u03ba",
    "digits of another script": "\u0661\u0662",
    "a letter without a name": "xn--a",
    "Punycode of nothing": "xn--",
    "Punycode of plain letters": "xn--abc-",
    "broken Punycode": "xn--zzzzzz99999999",
    "an invisible joiner": "goo\u200dgle",
    "a script that few can read": "\u13a0\u13a1",
    "letters beyond the basic plane": "\U00020bb7",
    "accents without a letter": "\u0301\u0302",
}


@pytest.mark.parametrize(("label", "letters"), SHOWN.values(), ids=SHOWN)
def test_a_name_of_one_script_is_shown_in_its_own_letters(label: str, letters: str) -> None:
    host = ascii_host(f"{letters}.example")
    assert host is not None
    assert shown_host(host) == f"{letters}.example"
    assert host == f"{label}.example"


@pytest.mark.parametrize("label", KEPT_FROM_SIGHT.values(), ids=KEPT_FROM_SIGHT)
def test_a_name_that_could_pose_as_another_is_shown_as_programs_see_it(label: str) -> None:
    host = ascii_host(f"{label}.example")
    assert host is None or shown_host(host) == host


def test_the_codec_of_the_standard_library_agrees_on_old_names() -> None:
    """IDNA 2003 and the browsers' rule differ only in ß, ς and joiners."""
    for _, letters in SHOWN.values():
        if "ß" not in letters:
            assert ascii_host(f"{letters}.example") == f"{letters}.example".encode("idna").decode()


web_text = st.text(st.sampled_from(string.ascii_letters + string.digits + ":/?#@.%&=-_;[]éß天 "))


@given(web_text | st.text() | web_text.map(lambda text: f"http://a.example/{text}"))
def test_spelling_once_is_enough_and_gives_plain_ascii(url: str) -> None:
    found = web_address(url)
    if found is not None:
        again = web_address(found.address)
        assert again == found
        assert found.address.isascii()
        assert found.address.startswith(("http://", "https://"))
        assert not set(found.address) & set(" \"'<>\\^`{|}#\n") - {"'"}
        shown = web_address(found.shown)
        assert shown is not None
        assert shown.address == found.address
