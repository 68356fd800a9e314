"""Configuration of Sphinx for the site; ``build.py`` gives it the version and the sources."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.application import Sphinx

project = "blender-dp"
author = "the blender-dp authors"
root_doc = "index"
extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
exclude_patterns = [".doctrees"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["misc.highlighting_failure"]  # examples have "…" where JSON has none
highlight_language = "console"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_theme = "furo"
html_title = "blender-dp"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("versions_menu.js", {"defer": "defer"})]
html_extra_path: list[str] = []
templates_path = ["templates"]
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which a page without a server may not
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
copybutton_exclude = ".linenos, .gp, .go"


def source_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield a page with numbered lines for every source file that another page names."""
    listed = Path(app.srcdir) / "source" / "files.json"
    for path, text in json.loads(listed.read_text(encoding="utf-8")).items():
        try:
            lexer = get_lexer_for_filename(path)
        except ClassNotFound:
            lexer = TextLexer()
        lines = HtmlFormatter(linenos="inline", lineanchors="line", anchorlinenos=True)
        body = f"<h1>{path}</h1>\n{highlight(text, lexer, lines)}"
        yield f"source/{path}", {"title": path, "body": body}, "page.html"


def shared_navigation(
    _app: Sphinx, page: str, _template: str, context: dict[str, Any], _document: object
) -> None:
    """Let source files that lie equally deep share one navigation, which names none of them."""
    if page.startswith("source/"):
        make, depth = context["toctree"], page.count("/")
        context["toctree"] = lambda **how: _navigation(make, depth, **how)


def _navigation(make: Callable[..., str], depth: int, **how: object) -> str:
    key = (depth, *sorted(how.items()))
    if key not in _NAVIGATIONS:
        _NAVIGATIONS[key] = make(**how)
    return _NAVIGATIONS[key]


_NAVIGATIONS: dict[tuple[object, ...], str] = {}


def setup(app: Sphinx) -> None:
    """Add the pages of source files."""
    app.connect("html-collect-pages", source_pages)
    app.connect("html-page-context", shared_navigation, priority=0)  # before the theme asks for it
