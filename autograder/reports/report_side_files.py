"""Make the files beside the report's pages: CSV tables for further analysis, and the lists that name students."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from autograder.grading.class_text_table import StudentRow
from autograder.nbgrader_plugin import csv_escaping
from autograder.reports import report_snapshots
from autograder.reports.class_results import ClassResults
from autograder.reports.item_analysis import analyse_items as items_of
from autograder.reports.misunderstandings import find_misunderstandings, group_by_sentence
from autograder.reports.misunderstandings import unexplained_answers as unexplained_of
from autograder.reports.similar_answers import SimilarStudents
from autograder.submission.choose_submitted_notebook import submitted_file_names
from autograder.submission.zip_archive import summarize_names
from autograder.terminal_text import replace_unprintable

UNREADABLE, MISUNDERSTOOD, EQUAL = "unreadable.txt", "misunderstandings-names.csv", "equal-answers.csv"


def student_files_content(course: Sequence[ClassResults], alike: Sequence[SimilarStudents]) -> dict[str, bytes]:
    """Return the bytes of each file that names students, by file name; b"" says that an old file is to be removed.

    They cover all chapters. `alike` are the pairs of students with answers of equal structure.
    """
    return {
        UNREADABLE: letters_about_unreadable_files(course),
        MISUNDERSTOOD: mistakes_by_student_table(course),
        EQUAL: similar_pairs_table(alike),
    }


def item_and_mistake_tables(course: Sequence[ClassResults]) -> dict[str, bytes]:
    """Return by file name each chapter's tables of its items and its known mistakes, which name no student."""
    items = {f"{report_snapshots.ITEMS}{each.stem}.csv": items_table(each) for each in course}
    return items | {f"{report_snapshots.MISTAKES}{each.stem}.csv": mistake_counts_table(each) for each in course}


def items_table(results: ClassResults) -> bytes:
    """Return the results of each exercise as CSV.

    `difficulty` is the share of passes among the students who attempted it, empty if nobody did.
    """
    loose = Counter[str]()
    for group in unexplained_of(results):
        loose[group.exercise] += len(group.students)
    head = ("exercise", "points", "extra credit", "passed", "wrong", "not attempted")
    rows: list[tuple[object, ...]] = [(*head, "difficulty", "separation", "unexplained answers")]
    for item in items_of(results):
        tried = item.passed + item.wrong
        counts = (item.passed, item.wrong, item.not_attempted, round(item.passed / tried, 3) if tried else None)
        apart = None if item.separation is None else round(item.separation, 3)
        rows.append((item.exercise, f"{item.points:g}", item.extra, *counts, apart, loose[item.exercise]))
    return csv_escaping.csv_bytes(rows) if len(rows) > 1 else b""


def mistake_counts_table(results: ClassResults) -> bytes:
    """Return as CSV how many students made each known mistake; empty if nobody made one."""
    found = find_misunderstandings(results)
    rows: list[tuple[object, ...]] = [("exercise", "mistake", "what was read", "students")]
    rows += [(each.exercise, each.tag, each.sentence, len(each.students)) for each in found]
    return csv_escaping.csv_bytes(rows) if found else b""


def mistakes_by_student_table(course: Sequence[ClassResults]) -> bytes:
    """Return as CSV which student read which sentence about a known mistake, in the order of the page."""
    rows: list[tuple[object, ...]] = [("chapter", "exercise", "what was read", "points lost", "student", "name")]
    for group in group_by_sentence(course):
        for results, each in group.found:
            for student, lost in zip(each.students, each.points, strict=True):
                details = (group.sentence, round(lost, 4), student, full_name_in_gradebook(results, student))
                rows.append((results.stem, each.exercise, *details))
    return csv_escaping.csv_bytes(rows) if len(rows) > 1 else b""


def similar_pairs_table(found: Sequence[SimilarStudents]) -> bytes:
    """Return the pairs as CSV, a line for each exercise that a pair shares; empty if there are no pairs."""
    rows: list[tuple[object, ...]] = [
        ("student", "other student", "weight of the pair", "chapter", "exercise", "students with this form", "nodes")
    ]
    for pair in found:
        for each in pair.alike:
            details = (each.stem, each.exercise, each.holders, each.size)
            rows.append((pair.first, pair.second, round(pair.weight, 2), *details))
    return csv_escaping.csv_bytes(rows) if found else b""


def full_name_in_gradebook(results: ClassResults, student: str) -> str:
    """Return the student's full name from the gradebook; "" if it has none."""
    person = results.people.get(student)
    return person.full_name if person and person.full_name != student else ""


def letters_about_unreadable_files(course: Sequence[ClassResults]) -> bytes:
    """Return letters to the students whose file could not be read or whose folder holds no notebook."""
    texts = [_letter(each, row) for each in course for row in (*each.unreadable, *each.without_notebook)]
    return "\n\n----\n\n".join(texts).encode("utf-8", "replace") + b"\n" if texts else b""


def _letter(results: ClassResults, row: StudentRow) -> str:
    person, named = results.people.get(row.student), full_name_in_gradebook(results, row.student)
    name = f"{named} ({row.student})" if named else row.student
    if row.is_empty:
        found = f"there is no notebook in it ({_lying(results, row.student)}). {_NOTEBOOK}"
    else:
        found = f"it could not be read: {row.verdict.trouble}" if row.verdict else row.reason
    head = ", ".join(filter(None, (name, person.email if person else "")))
    lines = (f"To: {head}", "", f'I could not grade what you handed in for "{results.title}": {found}', _LAST)
    return "\n".join(replace_unprintable(line, kept="") for line in lines)


_NOTEBOOK = (
    "What is needed is the .ipynb file itself: in JupyterLab choose File > Download, in Colab File > Download > "
    "Download .ipynb, and hand in that file."
)
_LAST = "Nothing in it has been graded so far. If you cannot find out how to go on, write to me."


def _lying(results: ClassResults, student: str) -> str:
    """List the files in a folder without a notebook, in words."""
    names = submitted_file_names(results.course / "submitted" / student / results.stem)
    return f"found: {summarize_names(names)}" if names else "it is empty"
