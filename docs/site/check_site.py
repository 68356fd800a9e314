"""Check of a built site: every link leads somewhere, and nothing is fetched from another host."""

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

RESOURCES = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "input": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "video": "src",
}
"""Elements whose address a browser fetches by itself, and the attribute that has it."""
_COLOURS = re.compile(r'</?span(?: class="[^"]*")?>')
"""Tags that colour code: most of the site's, none with a name or an address."""
_IN_STYLE = re.compile(r"(?:url\(|@import)\s*['\"]?\s*((?:https?:)?//[^'\")\s]+)")


class PageAddresses(HTMLParser):
    """Addresses of one page: what it fetches, where it leads, and its anchors."""

    def __init__(self, text: str) -> None:
        """Read a whole page."""
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(_COLOURS.sub("", text))  # a third faster
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the addresses and names of an element."""
        named = dict(attrs)
        for key in ("id", "name"):
            if named.get(key):
                self.anchors.add(str(named[key]))
        address = named.get(RESOURCES.get(tag, ""))
        if address and named.get("rel") != "canonical":
            self.fetched.append(address)
        if tag == "a" and named.get("href"):
            self.links.append(str(named["href"]))


def faults_of(site: Path) -> Iterator[str]:
    """Yield a sentence for every link that leads nowhere and every request to another host."""
    pages = {
        path.resolve(): PageAddresses(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        for address in page.fetched:
            if _is_elsewhere(address):
                yield f"{where} fetches {address}"
            elif not address.startswith("data:") and not _file_of(path, address).is_file():
                yield f"{where} fetches {address}, which is missing"
        for link in page.links:
            if not urlsplit(link).scheme and not _leads_somewhere(path, link, pages):
                yield f"{where} links to {link}, which is missing"
    for style in sorted(site.rglob("*.css")):
        for address in _IN_STYLE.findall(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site)} fetches {address}"


def _is_elsewhere(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def _file_of(page: Path, address: str) -> Path:
    """Return the file that an address of a page names; the page itself for a mere anchor."""
    path = unquote(urlsplit(address).path)
    return _file_at(page.parent, path) if path else page


@cache
def _file_at(folder: Path, path: str) -> Path:
    """Return a file; most links are in the navigation, which all pages of a folder share."""
    return (folder / path).resolve()


def _leads_somewhere(page: Path, link: str, pages: dict[Path, PageAddresses]) -> bool:
    target, anchor = _file_of(page, link), unquote(urlsplit(link).fragment)
    if target not in pages:
        return target.is_file()
    return not anchor or anchor in pages[target].anchors
