"""Write a class's report: a page for each graded assignment, for the course, and for each student."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import jupytext  # type: ignore[import-untyped,unused-ignore]
import nbformat
from nbformat import NotebookNode

from autograder.errors import CourseNotFound
from autograder.files import write_all
from autograder.reports import (
    answer_syntax_structures,
    class_results,
    report_comparison,
    report_side_files,
    report_snapshots,
    similar_answers,
    student_reports,
)
from autograder.reports.lecture_question_page import lecture_page, lecture_page_file_name
from autograder.reports.notebook_to_offline_html import page_from_notebook
from autograder.run_with_papermill import NotebookKernel, one_kernel_for_several_notebooks

_NOTEBOOKS = Path(__file__).with_name("notebooks")
INDEX = "index"


def write_reports(
    course: Path, stems: Sequence[str] = (), beside: Path | None = None, today: Callable[[], date] = date.today
) -> list[Path]:
    """Write the pages of these assignments (default: of all with submissions), of the course, and of the students.

    Missing pages of other assignments are written too, since the course's page links to them. The pages go to
    `reports/` in the course folder, each beside the notebook that made it, with the files of `report_side_files`, for
    each assignment a page with questions for the lecture, and a page that compares these assignments with the tables
    of an earlier report in the folder `beside`. The tables of the day that `today` returns are kept. Returns the paths
    of the pages of the assignments, the course and the comparison. Raises CourseNotFound if there are no submissions,
    WorkFailed if a page cannot be made or nothing compared; then the old pages stay unchanged.
    """
    course = course.resolve()
    there = _there(course, stems)
    wanted = [stem for stem in there if not stems or stem in stems or not _page_path(course, stem).is_file()]
    classes = class_results.read_all(course, there)  # before any page is made: here a locked gradebook is one line
    titles = {stem: class_results.assignment_title(course, stem) for stem in wanted} | {INDEX: "The course"}
    tables = report_side_files.item_and_mistake_tables([each for each in classes if each.stem in wanted])
    compared = report_comparison.comparison_page(beside, tables, titles) if beside else b""
    answered = answer_syntax_structures.read_answer_structures(classes)
    alike = similar_answers.similar_pairs(answered)
    counts = {"equal_pairs": len(alike), "pairs_expected_by_chance": similar_answers.pairs_expected_by_chance(answered)}
    with one_kernel_for_several_notebooks() as kernel:
        made = {stem: _run(kernel, "chapter", {"course": str(course), "stem": stem}) for stem in wanted}
        made[INDEX] = _run(kernel, "course", {"course": str(course), "stems": there} | counts)
    lectures = {lecture_page_file_name(each.stem): lecture_page(each) for each in classes if each.stem in wanted}
    pages = _pages(course, made, titles, _links(compared), lectures)
    named = report_side_files.student_files_content(classes, alike)
    _write(
        course / "reports",
        pages | report_snapshots.dated_tables(course, tables, today()),
        {**tables, **named, **lectures, report_comparison.PAGE: compared},
        student_reports.student_pages(classes),
    )
    return [_page_path(course, name) for name in (*made, *([report_comparison.NAME] if compared else []))]


def _links(compared: bytes) -> dict[str, str]:
    """Return the links of all pages; the page that compares has one where it was made."""
    links = {"The students": student_reports.LIST}
    return {**links, report_comparison.TITLE: report_comparison.PAGE} if compared else links


def _page_path(course: Path, name: str) -> Path:
    return course / "reports" / f"{name}.html"


def _pages(
    course: Path,
    made: Mapping[str, NotebookNode],
    titles: Mapping[str, str],
    links: Mapping[str, str],
    lectures: Mapping[str, bytes],
) -> dict[Path, bytes]:
    """Return each notebook and the page that it makes, by their paths; `links` are those of all pages."""
    files: dict[Path, bytes] = {}
    for name, notebook in made.items():
        whole = {} if name == INDEX else {"The course": f"{INDEX}.html"}
        own = (
            {"Questions for the lecture": lecture_page_file_name(name)}
            if lectures.get(lecture_page_file_name(name))
            else {}
        )
        path = _page_path(course, name)
        files[path] = page_from_notebook(notebook, titles[name], {**whole, **links, **own})
        files[path.with_suffix(".ipynb")] = (nbformat.writes(notebook) + "\n").encode()
    return files


def _there(course: Path, stems: Sequence[str]) -> list[str]:
    """Return the assignments with submissions; raise CourseNotFound if there are none, or none of one of `stems`."""
    there = class_results.assignments_with_results(course)
    if not there:
        raise CourseNotFound(
            f"expected submissions to an assignment in {course / 'submitted'}, found none. Run `nbgrader collect` "
            "first, or `autograder collect FILE.zip CHAPTER`; then grade."
        )
    for stem in set(stems).difference(there):
        raise CourseNotFound(f"nothing of {stem!r} was handed in. What has submissions: {', '.join(there)}.")
    return there


def _write(
    reports: Path, pages: Mapping[Path, bytes], others: Mapping[str, bytes], people: Mapping[str, bytes]
) -> None:
    """Write the pages and other files, and remove the files of an earlier report that would be empty now."""
    named = {reports / name: data for name, data in {**others, **people}.items() if data}
    write_all({**pages, **named})
    for path in set((reports / student_reports.FOLDER).glob("*.html")).difference(named):
        path.unlink()
    for name in [name for name, data in others.items() if not data]:
        (reports / name).unlink(missing_ok=True)


def _run(kernel: NotebookKernel, name: str, parameters: dict[str, Any]) -> NotebookNode:
    """Execute `notebooks/NAME_report.py` as a notebook and return it."""
    notebook = jupytext.reads((_NOTEBOOKS / f"{name}_report.py").read_text(encoding="utf-8"), fmt="py:percent")
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    advice = "The old pages are as they were. This is our fault: please report it."
    return kernel.run(notebook, f"the {name}'s page could not be made", advice, parameters)
