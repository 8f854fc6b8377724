"""The class report's further facts and files: unreadable submissions, lost points, letters to students."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.grading.class_text_table import StudentRow
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin.gradebook_scores import GradebookStudent
from autograder.reports import chapter_page_sections as chapter_sections
from autograder.reports import class_results as results_of
from autograder.reports import course_page_sections as course_sections
from autograder.reports import report_side_files, write_reports
from autograder.reports.class_results import ClassResults
from autograder.reports.misunderstandings import group_by_sentence

PASS = Verdict("works", Status.PASS)
KNOWN = Verdict("works", Status.FAIL, "You forgot `dim`.", "no-dim", "f(1)", "2", "3")
ADA = GradebookStudent("ada", "Ada", "Love", "ada@example.org", "7")
EMPTY = StudentRow("bob", None, "there is no notebook in the submission (found: notes.txt).", is_empty=True)


def verdict(*first: Verdict, worth: int = 2) -> SubmissionVerdict:
    """Return a verdict on exercises a, b, ..., each with one requirement."""
    names = "abcdefgh"[: len(first)]
    reports = tuple(Report(name, (each,)) for name, each in zip(names, first, strict=True))
    return SubmissionVerdict("ch", 1, "", reports, dict.fromkeys(names, worth), dict.fromkeys(names, 0))


BROKEN = StudentRow("ada", replace(verdict(KNOWN), trouble="the file is no notebook: it is a picture."))


def results(*rows: StudentRow, stem: str = "ch", course: Path = Path("/nowhere")) -> ClassResults:
    """Return the results of these rows."""
    return ClassResults(course, stem, f"Chapter {stem}", rows, None, {"ada": ADA})


def cells(text: str) -> list[str]:
    """Return the texts of a table's cells."""
    return [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", text)]


def test_who_could_not_be_read_is_counted_apart() -> None:
    """Unreadable and empty submissions are counted separately, for a chapter and in the course's table."""
    class_ = results(BROKEN, EMPTY, StudentRow("cid", verdict(PASS)))
    facts, course = cells(chapter_sections.overview_section(class_)), cells(course_sections.chapters_section([class_]))

    assert "1" == facts[facts.index("could not be read") + 1] == facts[facts.index("no notebook in the folder") + 1]
    assert ["2", "1", "1"] == course[course.index("Chapter ch") + 1 :][:3]


def lines(data: bytes) -> list[dict[str, str]]:
    """Return the rows of a CSV file by its header."""
    return list(csv.DictReader(data.decode().splitlines()))


def test_items_as_csv() -> None:
    """Difficulty counts only attempts, unknown values are empty, and unexplained answers are counted."""
    loose = Verdict("works", Status.FAIL, "", None, "f(1)", "2", "7")
    stub = Verdict("works", Status.NOT_ATTEMPTED)
    rows = [StudentRow(f"s{n}", verdict(each, stub)) for n, each in enumerate((PASS, loose, loose, KNOWN, stub))]
    first, second = lines(report_side_files.items_table(results(*rows)))

    assert ("a", "2", "0", "1", "3", "1", "0.25", "", "2") == tuple(first.values())
    assert ("5", "", "0") == (second["not attempted"], second["difficulty"], second["unexplained answers"])


def test_a_text_for_each_who_could_not_be_read(tmp_path: Path) -> None:
    """Each student with an unreadable submission gets a letter with reason and next step, and no control characters."""
    (tmp_path / "submitted" / "bob" / "ch").mkdir(parents=True)
    (tmp_path / "submitted" / "bob" / "ch" / "my\x1bnotes.txt").touch()
    first, second = (
        report_side_files.letters_about_unreadable_files(
            [results(BROKEN, EMPTY, StudentRow("cid", verdict(PASS)), course=tmp_path)]
        )
        .decode()
        .split("----")
    )

    assert "To: Love, Ada (ada), ada@example.org" in first and "it is a picture." in first
    assert "To: bob" in second and "notes.txt" in second and "hand in that file" in second and "\x1b" not in second
    assert "Ask for" not in second and "cid" not in first + second


def test_a_file_that_says_nothing_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of letters is removed if a later report has none."""
    class_ = [results(BROKEN, course=tmp_path)]
    monkeypatch.setattr(results_of, "assignments_with_results", lambda _: ["ch"])
    monkeypatch.setattr(results_of, "read_all", lambda *_: class_)
    monkeypatch.setattr(results_of, "assignment_title", lambda *_: "Chapter")
    monkeypatch.setattr(write_reports, "_run", lambda *_: nbformat.v4.new_notebook())
    write_reports.write_reports(tmp_path)
    written = tmp_path / "reports" / report_side_files.UNREADABLE

    assert "ada" in written.read_text()
    class_[:] = [results(StudentRow("ada", verdict(PASS)), course=tmp_path)]
    write_reports.write_reports(tmp_path)
    assert not written.exists() and (tmp_path / "reports" / "items-ch.csv").is_file()


def test_misunderstandings_stand_in_the_order_of_points_lost() -> None:
    """Misunderstandings are sorted by lost points, summed over exercises and divided among an answer's mistakes."""
    other = Verdict("also", Status.FAIL, "You forgot to divide.", "no-mean", "f(1)", "2", "3")
    both = SubmissionVerdict("ch", 1, "", (Report("a", (KNOWN, other)),), {"a": 3}, {"a": 0})
    dear = replace(other, sentence="You sort by rows.", mistake="rows")
    first = results(StudentRow("ada", both), StudentRow("bob", both), StudentRow("cid", both))
    second = results(StudentRow("ada", verdict(KNOWN, dear, worth=4)), stem="ch2")
    found = group_by_sentence([first, second])

    assert [("You forgot `dim`.", 8.5), ("You forgot to divide.", 4.5), ("You sort by rows.", 4)] == [
        (each.sentence, each.lost) for each in found
    ]
    assert ["8.5", "a 100% in ch, a 100% in ch2"] == cells(
        course_sections.costliest_misunderstandings_section([first, second])
    )[4:6]
    assert "4.5 points lost: 3 of 3 students in a" in re.sub(
        r"<[^>]*>", "", chapter_sections.misunderstandings_section(first)
    )


def test_who_misunderstood_stands_beside_the_page_alone() -> None:
    """Students with a misunderstanding are only in the CSV file, where formulas are quoted."""
    wild = replace(KNOWN, sentence="=2+3")
    class_ = results(StudentRow("ada", verdict(wild)))
    (line,) = lines(report_side_files.mistakes_by_student_table([class_]))

    assert ("ch", "a", "'=2+3", "2.0", "ada", "Love, Ada") == tuple(line.values())
    drawn = chapter_sections.misunderstandings_section(class_) + course_sections.costliest_misunderstandings_section(
        [class_]
    )
    assert (
        "ada" not in drawn and "Love" not in drawn and not report_side_files.mistakes_by_student_table([results(EMPTY)])
    )
