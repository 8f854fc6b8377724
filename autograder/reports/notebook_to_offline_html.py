"""Render an executed notebook as one HTML page that opens offline and runs no script."""

from __future__ import annotations

from pathlib import Path

from nbconvert import HTMLExporter
from nbformat import NotebookNode

from autograder.notebook.html_markup import Html, join, tag

# Forbid scripts, files and addresses outside the page: a second defense in case the escaping has a gap.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = Path(__file__).with_name("page.css")


def page_from_notebook(notebook: NotebookNode, title: str, links: dict[str, str]) -> bytes:
    """Return the page with the notebook's prose and outputs; `links` maps names of other pages to addresses."""
    exporter = HTMLExporter(template_name="basic", exclude_input=True, exclude_output_prompt=True)
    body, _ = exporter.from_notebook_node(notebook)
    return complete_html_page(title, Html(body), links)


def complete_html_page(title: str, body: Html, links: dict[str, str]) -> bytes:
    """Return a complete HTML page with the given title, body and links."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("title", title),
        tag("style", Html(_STYLE.read_text(encoding="utf-8"))),
    )
    ways = [tag("a", name, href=address) for name, address in links.items()]
    top = tag("nav", *ways, aria_label="Other pages") if ways else Html("")
    whole = tag("html", head, tag("body", top, tag("main", tag("h1", title), body)), lang="en")
    return join(Html("<!doctype html>\n"), whole, Html("\n")).encode()
