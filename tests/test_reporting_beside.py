"""What the class report says and writes beside its pages: who was read, what was lost, whom to write to."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from autograder.gradebook.scores import Person
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.grading.summary import StudentRow
from autograder.judging.verdict import Report, Status, Verdict
from autograder.reporting import course_sections, sections
from autograder.reporting.results import Results

PASS = Verdict("works", Status.PASS)
KNOWN = Verdict("works", Status.FAIL, "You forgot `dim`.", "no-dim", "f(1)", "2", "3")
ADA = Person("ada", "Ada", "Love", "ada@example.org", "7")
EMPTY = StudentRow("bob", None, "there is no notebook in the submission (found: notes.txt).", is_empty=True)


def verdict(*first: Verdict, worth: int = 2) -> SubmissionVerdict:
    """A verdict on exercises a, b, ..., each with one check."""
    names = "abcdefgh"[: len(first)]
    reports = tuple(Report(name, (each,)) for name, each in zip(names, first, strict=True))
    return SubmissionVerdict("ch", 1, "", reports, dict.fromkeys(names, worth), dict.fromkeys(names, 0))


BROKEN = StudentRow("ada", replace(verdict(KNOWN), trouble="the file is no notebook: it is a picture."))


def results(*rows: StudentRow, stem: str = "ch", course: Path = Path("/nowhere")) -> Results:
    """A class of these."""
    return Results(course, stem, f"Chapter {stem}", rows, None, {"ada": ADA})


def cells(text: str) -> list[str]:
    """The texts of a table's cells."""
    return [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", text)]


def test_who_could_not_be_read_is_counted_apart() -> None:
    """In the facts of a chapter's page, and in its line of the course's table."""
    class_ = results(BROKEN, EMPTY, StudentRow("cid", verdict(PASS)))
    facts, course = cells(sections.overview(class_)), cells(course_sections.chapters([class_]))

    assert "1" == facts[facts.index("could not be read") + 1] == facts[facts.index("no notebook in the folder") + 1]
    assert ["2", "1", "1"] == course[course.index("Chapter ch") + 1 :][:3]
