"""Sphinx's configuration of the course's site; `make site` gathers the pages around it and runs it there."""

import os
from pathlib import Path

from sphinx.application import Sphinx

from autograder.authoring import address

_ADDRESS = address.read(Path(__file__).resolve().parents[1])
_ON_GITHUB = _ADDRESS.startswith("https://github.com/")

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

html_theme = "sphinx_book_theme"
html_static_path = ["_static", "../explorers/static/moving.js"]  # which plays what explorers recorded
html_extra_path = ["_extra"]
html_css_files = ["site.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("asks.js", "moving.js", "films.js")]
html_favicon = "_static/favicon.svg"
templates_path = ["_templates"]
# Where the site will stand, with / at its end; previews want whole addresses. Without it they are relative.
html_baseurl = os.environ.get("SITE_ADDRESS", "")
html_context = {
    "default_mode": "auto",  # as the reader's system is
    "about": "A course of notebooks from no PyTorch to a model that you wrote, trained by a loop that you wrote, "
    "which reads the digit that you draw. Wrong answers are told which misunderstanding they show.",
}
html_theme_options = {
    "use_download_button": False,
    "show_toc_level": 2,
    "navbar_persistent": [],  # its search stands in the sidebar
    "repository_url": _ADDRESS,
    "repository_branch": "main",
    "use_repository_button": bool(_ADDRESS),
    "path_to_docs": "",
    # Both services open a notebook of a public repository on GitHub.
    "launch_buttons": {
        "colab_url": "https://colab.research.google.com",
        "binderhub_url": "https://mybinder.org",
        "notebook_interface": "jupyterlab",
    }
    if _ON_GITHUB
    else {},
}


def _draw_preview(app: Sphinx) -> None:
    """Draw the picture that previews of a link show: pixels on paper, for no service takes lines."""
    from course.figures import ch01_tensors

    figure = ch01_tensors.first_page()
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "preview.png", dpi=150, facecolor="white", bbox_inches="tight", pad_inches=0.4)


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    app.connect("builder-inited", _draw_preview)
