"""Writes a class's report: a page for each assignment that was graded, one for the course, and one for each student."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jupytext  # type: ignore[import-untyped,unused-ignore]
import nbformat
from nbformat import NotebookNode

from autograder.errors import CourseNotFound
from autograder.files import write_all
from autograder.papermill_run import run_notebook
from autograder.reports import class_answers, class_results, csv_files, similar_answers, student_pages
from autograder.reports.html_page import page

_NOTEBOOKS = Path(__file__).with_name("notebooks")
INDEX = "index"


def write(course: Path, stems: Sequence[str] = ()) -> list[Path]:
    """Write the pages of these assignments (none named: all of which anything was handed in), and the course's page.

    A page that is not there yet is written too: the course's page leads to it. Each page lies in `reports/`
    of the course folder beside the notebook that made it; with them lie the files of `beside`, and a page for each
    student. Raises CourseNotFound where nothing has been handed in, WorkFailed where a page cannot be made; the old
    pages stay as they were.
    """
    course = course.resolve()
    there = _there(course, stems)
    wanted = [
        stem for stem in there if not stems or stem in stems or not (course / "reports" / f"{stem}.html").is_file()
    ]
    made = {stem: _run("chapter", {"course": str(course), "stem": stem}) for stem in wanted}
    classes = class_results.read_all(course, there)
    answered = class_answers.answered(classes)
    alike = similar_answers.pairs(answered)
    counts = {"equal_pairs": len(alike), "by_chance": similar_answers.by_chance(answered)}
    made[INDEX] = _run("course", {"course": str(course), "stems": there} | counts)
    titles = {stem: class_results.title(course, stem) for stem in wanted} | {INDEX: "The course"}
    files: dict[Path, bytes] = {}
    for name, notebook in made.items():
        links = {} if name == INDEX else {"The course": f"{INDEX}.html"}
        links |= {"The students": student_pages.LIST}
        files[course / "reports" / f"{name}.html"] = page(notebook, titles[name], links)
        files[course / "reports" / f"{name}.ipynb"] = (nbformat.writes(notebook) + "\n").encode()
    _write(course / "reports", files, csv_files.files(classes, wanted, alike), student_pages.pages(classes))
    return [path for path in files if path.suffix == ".html"]


def _there(course: Path, stems: Sequence[str]) -> list[str]:
    """The assignments of which anything was handed in; raises CourseNotFound where none was, or of one of `stems`."""
    there = class_results.graded(course)
    if not there:
        raise CourseNotFound(
            f"expected submissions to an assignment in {course / 'submitted'}, found none. Run `nbgrader collect` "
            "first, or `python -m autograder collect FILE.zip CHAPTER`; then grade."
        )
    for stem in set(stems).difference(there):
        raise CourseNotFound(f"nothing of {stem!r} was handed in. What has submissions: {', '.join(there)}.")
    return there


def _write(
    reports: Path, pages: Mapping[Path, bytes], others: Mapping[str, bytes], people: Mapping[str, bytes]
) -> None:
    """Write the pages and the other files, and remove those of an earlier report that have nothing to say now."""
    named = {reports / name: data for name, data in {**others, **people}.items() if data}
    write_all({**pages, **named})
    for path in set((reports / student_pages.FOLDER).glob("*.html")).difference(named):
        path.unlink()
    for name in [name for name, data in others.items() if not data]:
        (reports / name).unlink(missing_ok=True)


def _run(name: str, parameters: dict[str, Any]) -> NotebookNode:
    """One of the notebooks in `notebooks/`, executed."""
    notebook = jupytext.reads((_NOTEBOOKS / f"{name}_report.py").read_text(encoding="utf-8"), fmt="py:percent")
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    advice = "The old pages are as they were. This is our fault: please report it."
    return run_notebook(notebook, f"the {name}'s page could not be made", advice, parameters)
