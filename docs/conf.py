"""Sphinx's configuration of the course's site; `make site` gathers the pages around it and runs it there."""

from pathlib import Path

from autograder.authoring import address

_ADDRESS = address.read(Path(__file__).resolve().parents[1])
_ON_GITHUB = _ADDRESS.startswith("https://github.com/")

project = "PyTorch Basics"
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
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}  # as the reader's system is
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
