"""Gather the pages of the site in one folder, and build it with Sphinx."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from pathlib import Path

import nbformat
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import docutils_namespace

from autograder.authoring import project_address_setting
from autograder.authoring.site.chapter_page import chapter_page
from autograder.authoring.site.example_report import example_class_report
from autograder.authoring.site.executed_chapters import execute_chapters
from autograder.authoring.site.fill_page_placeholders import PlaceholderFiller, chapters_used_on_page
from autograder.authoring.site.live_drawing_pad import live_pad_of_chapter
from autograder.errors import CourseNotFound, WorkFailed
from autograder.grading.verdict_store import SEED_VARIABLE
from autograder.notebook import progress_log
from explorers.recorded_animation import RECORD

# Files in the project folder that become pages, and the names of these pages.
_BESIDE = {"CONTRIBUTING.md": "authors.md", "CHANGELOG.md": "changes.md"}
_FILLED = ("index.md", "class-report.md")  # pages with {{...}} marks, which fill_page_placeholders.py fills in
_SEED = "1"  # fixed fresh cases for the example class, so that its report is the same each time


def build(project: Path, target: Path, chapters: Collection[str] = ()) -> Path:
    """Build the site of a project in `target`/html, and return the path of its first page.

    With `chapters`, by stem, only these and those whose results stand on other pages are run; the pages of the others
    have the results of an earlier build, or none. Raises CourseNotFound if `project` is not a clone of the course, and
    WorkFailed if a chapter does not run or Sphinx reports a warning or an error. An older site is replaced only after
    the new one is complete.
    """
    if not (project / "docs" / "conf.py").is_file():
        raise CourseNotFound(f"expected docs/conf.py in {project}, found none. Run this in the project folder.")
    source, fresh, html = target / "source", target / "fresh", target / "html"
    os.environ.setdefault(progress_log.PROGRESS_VARIABLE, "off")  # these runs must not count as a student's progress
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # chapters run in parallel; more threads would slow one another down
    os.environ[RECORD] = "all"
    os.environ.setdefault(SEED_VARIABLE, _SEED)
    for folder in (source, fresh):
        shutil.rmtree(folder, ignore_errors=True)
    _gather(project, source, target / "executed", chapters)
    _sphinx(project / "docs", source, fresh, target / "doctrees")
    shutil.rmtree(html, ignore_errors=True)
    fresh.rename(html)
    return html / "index.html"


def _gather(project: Path, source: Path, cache: Path, chapters: Collection[str]) -> None:
    """Write the files that Sphinx reads into the folder `source`: the guides, and a page for each chapter."""
    shutil.copytree(project / "docs", source, ignore=shutil.ignore_patterns("conf.py", "__pycache__"))
    for name, page in _BESIDE.items():
        shutil.copyfile(project / name, source / page)
    solutions = sorted((project / "solutions").glob("*.ipynb"))
    shown = chapters_used_on_page("".join((source / page).read_text(encoding="utf-8") for page in _FILLED))
    asked = {*chapters, *shown} if chapters else {each.stem for each in solutions}
    ran = execute_chapters(solutions, project / "course", cache, asked)
    for path in source.glob("*.md"):
        path.write_text(_linked(path.read_text(encoding="utf-8")), encoding="utf-8")
    filler = PlaceholderFiller(
        project / "course",
        ran,
        lambda stem: example_class_report(project, stem, cache),
        lambda *about: live_pad_of_chapter(project, cache, *about),
        project_address_setting.read_address(project),
    )
    for page in _FILLED:
        path = source / page
        path.write_text(filler.filled(path.read_text(encoding="utf-8"), f"docs/{page}"), encoding="utf-8")
    (source / "notebooks").mkdir()
    for stem, worked in ran.items():
        student = nbformat.read(project / "notebooks" / f"{stem}.ipynb", as_version=4)
        nbformat.write(chapter_page(stem, student, worked), source / "notebooks" / f"{stem}.ipynb")


def _linked(text: str) -> str:
    """Return the text of a page, with its links to the project's files changed to links to pages of the site."""
    for name, page in _BESIDE.items():
        text = text.replace(f"](../{name}", f"]({page}").replace(f"]({name}", f"]({page}")
    return text.replace("](docs/", "](")


def _sphinx(settings: Path, source: Path, html: Path, doctrees: Path) -> None:
    """Run Sphinx; raise WorkFailed for an error or a warning, such as that of a broken link."""
    try:
        with docutils_namespace():  # a second build in this process registers all nodes again
            app = Sphinx(source, settings, html, doctrees, "html", status=None, warningiserror=True)
            app.build()
    except SphinxError as error:
        raise WorkFailed(f"the site could not be built: {error}. Mend the page, then run `make site` again.") from error
    if app.statuscode:
        raise WorkFailed("the site could not be built; the complaints stand above. Mend them, then run it again.")
