"""Search HTML pages made from submissions for anything that a browser would run."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader import handlers
from traitlets.config import Config


class Running(HTMLParser):
    """Collects what a page runs or opens, by itself or at a click: scripts, handlers, addresses, styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the attributes of a tag, except those that cannot run anything."""
        self.found += [f"{tag} {name}={value}" for name, value in attrs if name not in ("title", "alt", "id", "class")]
        self._inside = tag if tag in ("script", "style", "iframe") else ""

    def handle_endtag(self, tag: str) -> None:
        """Leave the element whose text runs."""
        self._inside = ""

    def handle_data(self, data: str) -> None:
        """Collect the text of a script, style or iframe."""
        self.found += [data] if self._inside else []

    @property
    def bad(self) -> list[str]:
        """Return what a student put there: all of it contains the number 4242."""
        return [text for text in self.found if "4242" in text and not text.startswith("a href=http")]


def formgraders_view(notebook: Path) -> str:
    """Return the page that formgrader shows for an autograded notebook."""
    config = Config()
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    about = {"index": 0, "total": 1, "base_url": "", "notebook_id": notebook.stem}
    page, _ = HTMLExporter(config=config).from_filename(str(notebook), resources=about)
    return str(page)
