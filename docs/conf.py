"""Sphinx's configuration of the course's site; `make site` gathers the pages around it and runs it there."""

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from autograder.authoring import project_address_setting
from autograder.authoring.site.lazy_figures import defer_figures
from autograder.authoring.site.packed_films import pack_films

_HERE = Path(__file__).resolve().parent
_ADDRESS = project_address_setting.read_address(_HERE.parent)

project = "PyTorch Basics"
author = "the PyTorch Basics project"
html_title = project
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
language = "en"

extensions = ["myst_nb"]
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_block"]  # the class of side paths
# Chapters come with their outputs; explorers are shown as their picture, which needs no scripts from elsewhere.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
nb_merge_streams = True

html_theme = "basic"  # of which the search is left; the layout stands in _templates, and its look in site.css
html_sidebars: dict[str, list[str]] = {"**": []}
html_permalinks_icon = "#"
html_use_index = False
# What plays recorded explorers, and the drawing of the pad, which a page names itself where it has one.
html_static_path = ["_static", "../explorers/static/moving.js", "../explorers/static/pad.js"]
html_extra_path = ["_extra"]
_EXPLORERS = _HERE.parent / "explorers" / "static"
_STYLES = (_EXPLORERS / "explorer.css", _EXPLORERS / "quiz.css", _HERE / "site.css")


def _without_comments(style: str) -> str:
    """Return a style sheet without comments and indents."""
    return re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL))


_SCRIPTS = ("page.js", "asks.js", "moving.js", "near.js")
html_js_files = [(name, {"defer": "defer"}) for name in _SCRIPTS]
html_favicon = "_static/favicon.svg"
templates_path = ["_templates"]
# Where the site will stand, with / at its end; previews want whole addresses. Without it they are relative.
html_baseurl = os.environ.get("SITE_ADDRESS", "")
_GITHUB = "https://github.com/"
_NAME = _ADDRESS.removeprefix(_GITHUB)
html_context = {
    # It stands in each page: asking for it would take longer than it is.
    "style": _without_comments("".join(path.read_text(encoding="utf-8") for path in _STYLES)),
    "scripts": _SCRIPTS,
    "repository": _ADDRESS,
    # Both open a notebook of a public repository on GitHub: a name, and what stands before and behind the notebook's.
    "services": [
        ("Colab", f"https://colab.research.google.com/github/{_NAME}/blob/main/", ""),
        ("Binder", f"https://mybinder.org/v2/gh/{_NAME}/main?urlpath=lab/tree/", ""),
    ]
    if _ADDRESS.startswith(_GITHUB)
    else [],
    "about": "A course of notebooks from no PyTorch to a model that you wrote, trained by a loop that you wrote, "
    "which reads the digit that you draw. Wrong answers are told which misunderstanding they show.",
}
# Names and signs in code have the color of the page: without a box around each, a page has half as many parts.
_CHAPTERS = "notebooks/"
_PLAIN = re.compile(r'<span class="(?:n|nn|p|o|w|pre)">([^<]*)</span>')
_MINUTES = re.compile(r" \(\d+ minutes?\b[^)<]*\)")  # which stand in the heading itself


def _draw_preview(app: Sphinx) -> None:
    """Draw the picture that previews of a link show: pixels on paper, for no service takes lines."""
    from course.figures import ch01

    figure = ch01.first_page()
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "preview.png", dpi=150, facecolor="white", bbox_inches="tight", pad_inches=0.4)


def _lighten(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """Leave out what a page does not need; a summary is named by its own words."""
    body = _PLAIN.sub(r"\1", context.get("body", "").replace("<span></span>", ""))
    context["body"] = pack_films(defer_figures(body.replace(' aria-label="Toggle hidden content"', "")))
    context["toc"] = _MINUTES.sub("", _PLAIN.sub(r"\1", context.get("toc", "")))


def _keep_to_readers(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """Name in the menu only pages for the readers of this one: chapters for students, guides for everybody else.

    Neither is the last chapter's next page a guide.
    """
    _, chapters, *guides = context["toctree"](maxdepth=1, titles_only=True, includehidden=True).split("<p ")
    is_for_students = page in (app.config.root_doc, "search") or page.startswith(_CHAPTERS)
    shown = [chapters] if is_for_students else guides
    context["menu"] = "".join(f"<p {part}" for part in shown).replace(' role="heading"', "")
    if page.startswith(_CHAPTERS) and context["next"] and not _is_beside(context["next"]):
        context["next"] = None
    if not is_for_students and context["prev"] and _CHAPTERS in context["prev"]["link"]:
        context["prev"] = None


def _is_beside(relation: dict[str, str]) -> bool:
    return "/" not in relation["link"]


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    app.connect("builder-inited", _draw_preview)
    app.connect("html-page-context", _lighten)
    app.connect("html-page-context", _keep_to_readers)
