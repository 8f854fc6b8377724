"""A page for each student over all chapters, and the section to teach again for a misunderstanding."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import nbformat
import pytest

from autograder.course.course import course_in
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.grading.class_text_table import StudentRow
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin.gradebook_scores import AssignmentScore, GradebookStudent, MarkedAssignment
from autograder.reports import chapter_page_sections, student_reports, write_reports
from autograder.reports import class_results as results_of
from autograder.reports.class_results import ClassResults
from autograder.reports.item_analysis import analyse_items
from autograder.reports.lesson_links import SITE, lesson_section_link
from tests.second_course import CHAPTER, COURSE, EXERCISE, make_second_course
from tests.small_chapter import PROJECT

PASS = Verdict("works", Status.PASS)
KNOWN = Verdict("works", Status.FAIL, "You forgot `dim`.", "no-dim", "f(1)", "2", "3")
STUB = Verdict("works", Status.NOT_ATTEMPTED, "Not written.")
WHO = GradebookStudent("ada", "Ada", "Lovelace", "", "")
EVIL = "<script>alert('x')</script>"


def verdict(stem: str, *first: Verdict, **about: object) -> SubmissionVerdict:
    """Return a verdict on exercises a, b, ..., each with one requirement and two points."""
    names = "abc"[: len(first)]
    reports = tuple(Report(name, (each,)) for name, each in zip(names, first, strict=True))
    return SubmissionVerdict(stem, 1, "", reports, dict.fromkeys(names, 2), dict.fromkeys(names, 0), **about)


def page(pages: dict[str, bytes], student: str) -> str:
    """Return the words of a student's page."""
    text = pages[f"students/{student}.html"].decode()
    assert "<script" not in text
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text.partition("<body>")[2])).split())


@pytest.mark.parametrize("student", ["n" * 240, "\x1b[2J"])
def test_a_name_that_no_file_can_have_stops_no_report(student: str, tmp_path: Path) -> None:
    """A student whose name is no file name has a page with another name, which the list links."""
    row = StudentRow(student, verdict("one", KNOWN))

    made = student_reports.student_pages([ClassResults(tmp_path, "one", "ONE", (row,), None, {})])
    (name,) = set(made) - {"students.html"}

    assert len(name) < 100 and name.isprintable() and f'href="{name}"' in made["students.html"].decode()


@pytest.fixture
def pages(tmp_path: Path) -> dict[str, bytes]:
    """Return the pages of a class of three with two chapters and a teacher's own assignment."""
    error = {"output_type": "error", "ename": "AssertionError", "evalue": EVIL}
    own = verdict("hw", tests={"seen": (0.0, 3.0), "share": (1.0, 1.0)}, outputs={"seen": [error]})
    mark = AssignmentScore(True, None, 2.0, 0.5, seconds_late=26 * 3600.0)
    rows = {
        "one": (StudentRow("ada", verdict("one", KNOWN, PASS, STUB, repairs=("it was renamed.",))),),
        "two": (StudentRow("ada", verdict("two", PASS, trouble="it is no JSON.")), StudentRow("bob", None, "", True)),
        "hw": (StudentRow("ada", own),),
    }
    tasks = {"one": MarkedAssignment("one", None, 6.0, {"ada": mark})}
    people = {"ada": WHO, "cy": GradebookStudent("cy", "", "", "", "")}
    return student_reports.student_pages(
        [ClassResults(tmp_path, s, s.upper(), each, tasks.get(s), people) for s, each in rows.items()]
    )


def test_what_a_student_has_in_all_chapters(pages: dict[str, bytes]) -> None:
    """The page has points and lateness by chapter, lost points with messages, repairs and unreadable files."""
    told = page(pages, "ada")

    assert "Lovelace, Ada (ada)" in told
    assert "ONE 1.5 of 6 yes 1 d 2 h, -0.5 points" in told and "HW 1 of 4 yes" in told
    assert "a 2 of 2 You forgot dim . c 2 of 2 not begun" in told and " b 2 of 2" not in told
    assert "Repaired, which cost nothing: it was renamed." in told
    assert "could not be read: it is no JSON." in told
    assert f"seen 3 of 3 AssertionError: {EVIL}" in told and "share 1" not in told


def test_everybody_has_one(pages: dict[str, bytes]) -> None:
    """Every student has a page that the list links."""
    assert {"students.html", *(f"students/{who}.html" for who in ("ada", "bob", "cy"))} == set(pages)
    assert "ONE – no" in page(pages, "cy") and "TWO – no notebook" in page(pages, "bob")
    assert 'href="students/ada.html"' in pages["students.html"].decode()


def test_pages_of_those_who_are_gone_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new report removes the pages of students who are gone."""
    monkeypatch.setattr(results_of, "assignments_with_results", lambda _: ["one"])
    monkeypatch.setattr(results_of, "assignment_title", lambda *_: "One")
    monkeypatch.setattr(write_reports, "_run", lambda *_: nbformat.v4.new_notebook())
    for who in ("ada", "bob"):
        rows = (StudentRow(who, verdict("one", PASS)),)
        monkeypatch.setattr(results_of, "read_all", lambda *_, rows=rows: [ClassResults(tmp_path, "one", "One", rows)])
        write_reports.write_reports(tmp_path)

    assert ["bob.html"] == [path.name for path in (tmp_path / "reports" / "students").iterdir()]


def test_test_cells_are_items(tmp_path: Path) -> None:
    """A test cell counts as passed with full points, else as wrong."""
    rows = tuple(StudentRow(str(n), verdict("hw", PASS, tests={"seen": (float(n), 2.0)})) for n in range(3))
    exercise, cell = analyse_items(ClassResults(tmp_path, "hw", "Homework", rows))

    assert ("a", 3, "2") == (exercise.exercise, exercise.passed, exercise.worth)
    assert ("seen", 1, 2, 0, "2") == (cell.exercise, cell.passed, cell.wrong, cell.not_attempted, cell.worth)


def test_every_exercise_of_this_course_is_taught_somewhere() -> None:
    """Each exercise of this course has a section above it."""
    course = PROJECT / "course"
    for chapter in course_in(course).listed:
        for name in chapter.exercises:
            told = re.sub(r"<[^>]*>", "", lesson_section_link(course, chapter.stem, name))
            assert told and "{" not in told and not told.startswith("Exercise"), name


def test_a_misunderstanding_leads_to_its_section(tmp_path: Path) -> None:
    """A misunderstanding links to its section on the built site, whatever the assignment."""
    course = make_second_course(tmp_path) / COURSE
    (course / "shipped").mkdir()
    listed = f'{{"{CHAPTER}": {{"title": "Ends", "exercises": {{"{EXERCISE}": [2, 0]}}}}}}'
    (course / "shipped" / "points.json").write_text(listed)
    judged = SubmissionVerdict("hw", 1, "", (Report(EXERCISE, (KNOWN,)),), {EXERCISE: 2}, {EXERCISE: 0})
    found = ClassResults(course, "hw", "Homework", (StudentRow("ada", judged),))

    assert "To teach again: Ends" in chapter_page_sections.misunderstandings_section(found)
    site = tmp_path / SITE / f"{CHAPTER}.html"
    site.parent.mkdir(parents=True)
    site.touch()

    way = re.findall(r'href="([^"]*)"', chapter_page_sections.misunderstandings_section(found))
    assert [f"../../build/site/html/notebooks/{CHAPTER}.html#section-ends"] == way
    assert (course / "reports" / way[0].partition("#")[0]).resolve() == site
