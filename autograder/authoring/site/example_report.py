"""Make the class report of the example class as Markdown for a page: what a teacher gets, with invented students."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.authoring import example_class
from autograder.course.course_location import ANSWERS, EXERCISES, chapter_path, find_course
from autograder.errors import WorkFailed
from autograder.files import write_all
from autograder.grading.assignment import grader_digest
from autograder.reports import write_reports
from autograder.sandbox.confinement_self_test import confinement_problem

# Student ids as a school assigns them: a first name, and a number if the name is taken.
# fmt: off
_NAMES = (
    "ada", "ravi", "mei", "tom", "zoe", "omar", "lena", "kofi", "ines", "yuki", "paul", "nora", "amir", "ella", "juan",
    "sofia", "finn", "aisha", "leo", "marta", "hugo", "priya", "noah", "clara", "ivan", "fatima", "max", "rosa", "emil",
    "linh", "otto", "vera", "luca", "hana", "ben", "iris", "samuel", "olga", "theo", "amara", "erik", "salma",
    "jonas", "chloe", "kenji", "laila", "oscar", "maya", "viktor", "elsa", "rahul", "greta", "diego", "freya", "yusuf",
    "anna", "pavel", "lucia", "arun", "helen", "carl", "naomi", "simon",
)
# fmt: on


def invented_student_ids(count: int) -> list[str]:
    """Return `count` different student ids, the same ones each time."""
    rounds = (place // len(_NAMES) for place in range(count))
    return [f"{_NAMES[place % len(_NAMES)]}{turn + 1 if turn else ''}" for place, turn in enumerate(rounds)]


def example_class_report(project: Path, stem: str, folder: Path) -> str:
    """Return the report of a chapter's example class as Markdown, with its tables and pictures as HTML.

    Making and grading the class takes minutes, so the report is cached in `folder` until a file changes that it depends
    on. Raises CourseError if there is no such chapter, or if it cannot be graded.
    """
    course = find_course(project)
    kept = folder / f"report-{stem}-{_digest(course, stem)}.ipynb"
    if not kept.is_file():
        write_all({kept: (nbformat.writes(_made(project, stem, folder / "class")) + "\n").encode()})
    notebook: NotebookNode = nbformat.read(kept, as_version=4)
    return "\n\n".join(_parts(notebook))


def _made(project: Path, stem: str, folder: Path) -> NotebookNode:
    """Make and grade the class, and return the notebook of its report; remove the class afterwards."""
    # All answers are the course's own code, so a machine without a sandbox may run them unconfined.
    unconfined = confinement_problem() is not None
    empty = example_class.recreate_folder(folder)
    made = example_class.run_example_class(
        project, empty, stem, pages=(), ids=invented_student_ids, unconfined=unconfined
    )
    if made.failures:
        student, reason = next(iter(made.failures.items()))
        raise WorkFailed(
            f"{len(made.failures)} of {len(made.students)} made students could not be graded; {student}: {reason}"
        )
    write_reports.write_reports(made.course, [stem])
    text = (made.course / "reports" / f"{stem}.ipynb").read_text(encoding="utf-8")
    shutil.rmtree(folder)
    there = text.replace(f"{folder.resolve()}/", "")  # commands name the class where a teacher has one
    notebook: NotebookNode = nbformat.reads(there, as_version=4)
    return notebook


def _digest(course: Path, stem: str) -> str:
    """Return a digest of the report's sources: chapter, answers, exercises, and the code that makes and grades it."""
    whole = hashlib.sha256(grader_digest().encode())
    engine = Path(__file__).parents[2]
    course_parts = [chapter_path(course, stem), course / ANSWERS / stem, course / EXERCISES / stem]
    parts = [*course_parts, *(engine / "authoring").glob("example_*.py"), engine / "reports"]
    for part in parts:
        for path in sorted(part.rglob("*.*")) if part.is_dir() else [part]:
            if path.suffix in (".py", ".css"):
                whole.update(path.read_bytes())
    return whole.hexdigest()[:16]


def _parts(notebook: NotebookNode) -> Iterator[str]:
    """Yield Markdown cells unchanged, and each output as HTML on one line, since an empty line would end the HTML."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield cell.source
            continue
        for output in cell.outputs:
            shown = output.get("data", {}).get("text/html", "").strip()
            if shown:
                yield f'<div class="taken class-report">{shown.replace(chr(10), "&#10;")}</div>'
