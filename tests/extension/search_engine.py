"""Pages that look like a search engine, and the sites that it leads to."""

import html
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast
from urllib.parse import parse_qs, quote, urlsplit

ENGINE = "127.0.0.1"
SITE = "results.example"


def result_page(query: str, port: int) -> str:
    """Return a page with results, an advertisement, a counted link and a link to the next page."""
    spelled = quote(query)
    site = f"http://{SITE}:{port}"
    counted = quote(f"{site}/counted/{quote(query)}?utm_source=engine", safe="")
    return f"""<!doctype html><html lang="en"><title>Search</title>
<form action="/search"><input name="q" value="{html.escape(query)}"></form>
<aside><a id="advertisement" href="{site}/advertisement">Buy now</a></aside>
<main>
  <article><a id="plain" href="{site}/page/{spelled}?utm_source=engine&amp;id=7#part">
    <b>First</b> result</a></article>
  <article><a id="counted" href="/away?to={counted}">Second result</a></article>
  <a id="next" href="/search?q={spelled}&amp;page=2">Next page</a>
</main></html>"""


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        url = urlsplit(self.path)
        asked = parse_qs(url.query)
        if url.path == "/away":
            self.send_response(302)
            self.send_header("Location", asked["to"][0])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        port = cast("ThreadingHTTPServer", self.server).server_port
        is_search = url.path == "/search"
        page = result_page(asked.get("q", [""])[0], port) if is_search else "<title>Here</title>"
        content = page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def search_engine() -> Iterator[int]:
    """Serve the pages on a free port; the engine is 127.0.0.1, its results are elsewhere."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Pages) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()
