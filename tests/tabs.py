"""Pages of a browser that tests take one after another: a new page takes three times the CPU."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Page, Request, WebError

_FORGET = "sessionStorage.clear(); localStorage.clear()"


@dataclass(frozen=True, slots=True)
class Watched:
    """What pages complained of, each with its kind, and the addresses that they asked."""

    complaints: list[tuple[str, str]] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)


class Tabs:
    """The pages of one browser; each test finds them as if they were new."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self._free: list[Page] = []
        self._taken: list[Page] = []

    def take(self, *, width: int = 1024, scheme: str = "light") -> Page:
        """Return a page that shows nothing and keeps nothing."""
        page = self._free.pop() if self._free else self.context.new_page()
        self._taken.append(page)
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(media="null", color_scheme="dark" if scheme == "dark" else "light")
        return page

    @contextmanager
    def watched(self) -> Iterator[Watched]:
        """Watch the pages of a test, and take them back at its end."""
        seen = Watched()

        def note_message(message: ConsoleMessage) -> None:
            seen.complaints.append((message.type, message.text))

        def note_error(error: WebError) -> None:
            seen.complaints.append(("error", str(error.error)))

        def note_request(request: Request) -> None:
            seen.addresses.append(request.url)

        noted = {"console": note_message, "weberror": note_error, "request": note_request}
        for event, note in noted.items():
            self.context.on(event, note)  # type: ignore[call-overload]  # each has its own type
        try:
            yield seen
        finally:
            forgetful = [page for page in self._taken if _forgets(page)]  # all is said by then
            for event, note in noted.items():
                self.context.remove_listener(event, note)
            self._take_back(forgetful)

    def _take_back(self, forgetful: list[Page]) -> None:
        """Empty pages that keep nothing and close the others; take back what was allowed."""
        self._taken.clear()
        self.context.clear_permissions()
        self.context.clear_cookies()
        for page in {*self.context.pages} - {*self._free, *forgetful}:
            page.close()
        for page in forgetful:
            page.unroute_all(behavior="ignoreErrors")
            page.goto("about:blank")
            self._free.append(page)


def _forgets(page: Page) -> bool:
    """Let a page forget what it keeps; return whether it did, and can be used again."""
    try:
        page.evaluate(_FORGET)
    except Error:  # it was closed, or shows what may keep nothing
        return False
    return True
