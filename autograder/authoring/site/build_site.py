"""Gathers the pages of the site, and has Sphinx build it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nbformat
from sphinx.application import Sphinx
from sphinx.errors import SphinxError

from autograder.authoring import project_address
from autograder.authoring.site.chapter_page import chapter_page
from autograder.authoring.site.example_report import class_report
from autograder.authoring.site.executed_chapters import executed
from autograder.authoring.site.page_values import Filler
from autograder.errors import CourseNotFound, WorkFailed
from autograder.grading.verdict_store import SEED_VARIABLE
from autograder.notebook import progress_log
from explorers.animation import RECORD

# Files of the project that are pages too.
_BESIDE = {"CONTRIBUTING.md": "authors.md", "CHANGELOG.md": "changes.md"}
_FILLED = ("index.md", "class-report.md")  # pages that take something from the course
_SEED = "1"  # of the example class: the same report each time


def build(project: Path, target: Path) -> Path:
    """Build the site of a project into `target`/html; returns its first page.

    Raises CourseNotFound where this is no clone of the course, WorkFailed where a chapter does not run or Sphinx has
    a complaint; an older site stays as it was until the new one is whole.
    """
    if not (project / "docs" / "conf.py").is_file():
        raise CourseNotFound(f"expected docs/conf.py in {project}, found none. Run this in the project folder.")
    source, fresh, html = target / "source", target / "fresh", target / "html"
    os.environ.setdefault(progress_log.OFF, "off")  # these runs are nobody's progress
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # chapters run side by side, and would wait for one another's threads
    os.environ[RECORD] = "all"
    os.environ.setdefault(SEED_VARIABLE, _SEED)
    for folder in (source, fresh):
        shutil.rmtree(folder, ignore_errors=True)
    _gather(project, source, target / "executed")
    _sphinx(project / "docs", source, fresh, target / "doctrees")
    shutil.rmtree(html, ignore_errors=True)
    fresh.rename(html)
    return html / "index.html"


def _gather(project: Path, source: Path, cache: Path) -> None:
    """Put what Sphinx reads into one folder: the guides, and a page for each chapter."""
    shutil.copytree(project / "docs", source, ignore=shutil.ignore_patterns("conf.py", "__pycache__"))
    for name, page in _BESIDE.items():
        shutil.copyfile(project / name, source / page)
    ran = executed(sorted((project / "solutions").glob("*.ipynb")), project / "course", cache)
    for path in source.glob("*.md"):
        path.write_text(_linked(path.read_text(encoding="utf-8")), encoding="utf-8")
    filler = Filler(
        project / "course", ran, lambda stem: class_report(project, stem, cache), project_address.read(project)
    )
    for page in _FILLED:
        path = source / page
        path.write_text(filler.filled(path.read_text(encoding="utf-8"), f"docs/{page}"), encoding="utf-8")
    (source / "notebooks").mkdir()
    for stem, worked in ran.items():
        student = nbformat.read(project / "notebooks" / f"{stem}.ipynb", as_version=4)
        nbformat.write(chapter_page(stem, student, worked), source / "notebooks" / f"{stem}.ipynb")


def _linked(text: str) -> str:
    """A page whose links to files of the project lead to pages of the site."""
    for name, page in _BESIDE.items():
        text = text.replace(f"](../{name}", f"]({page}").replace(f"]({name}", f"]({page}")
    return text.replace("](docs/", "](")


def _sphinx(settings: Path, source: Path, html: Path, doctrees: Path) -> None:
    """Run Sphinx; a warning, such as one of a link that leads nowhere, is an error."""
    try:
        app = Sphinx(source, settings, html, doctrees, "html", status=None, warningiserror=True)
        app.build()
    except SphinxError as error:
        raise WorkFailed(f"the site could not be built: {error}. Mend the page, then run `make site` again.") from error
    if app.statuscode:
        raise WorkFailed("the site could not be built; the complaints stand above. Mend them, then run it again.")
