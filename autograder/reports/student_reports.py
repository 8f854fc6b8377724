"""Make a report page for each student: points in all chapters, points lost and why, repairs, and lateness."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from autograder.diagnosis.verdict import Report
from autograder.files import sha256_of_texts
from autograder.grading.class_text_table import StudentRow
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin.apply_deadlines import duration_text
from autograder.notebook.html_markup import Html, join, sentence_to_html, table, tag
from autograder.reports.class_results import ClassResults
from autograder.reports.item_analysis import is_attempted
from autograder.reports.notebook_to_offline_html import complete_html_page

FOLDER, LIST = "students", "students.html"
_LONGEST_NAME = 200  # bytes of the student's id in a file name, which may have 255 with the ending
_POINTS = "Points are those of nbgrader's gradebook, with scores by hand, extra credit and late penalties."
_LONGEST = 200  # characters of an error message of a test cell
_LOST = "What an exercise lost is the checks' own: a score by hand may have given it back."


def student_pages(course: Sequence[ClassResults]) -> dict[str, bytes]:
    """Return the pages by their paths below `reports/`: one for each student, and the list of all students."""
    students = sorted({student for results in course for student in (*results.people, *_rows(results))})
    rows = [_rows(results) for results in course]
    made = {LIST: _list(course, students)}
    for student in students:
        found = [(results, known.get(student)) for results, known in zip(course, rows, strict=True)]
        made[_file(student)] = _page(student, found)
    return made


def _rows(results: ClassResults) -> dict[str, StudentRow]:
    return {row.student: row for row in results.rows}


def _list(course: Sequence[ClassResults], students: Sequence[str]) -> bytes:
    """Return the page that lists all students with their points, with a link to each student's page."""
    rows = []
    for student in students:
        link = tag("a", _name(course, student), href=quote(_file(student)))
        rows.append((link, *(_score(results, student) for results in course)))
    heads = ("student", *(results.title for results in course))
    return complete_html_page(
        "The students", join(tag("p", _POINTS), table("Points", heads, rows)), {"The course": "index.html"}
    )


def _name(course: Sequence[ClassResults], student: str) -> str:
    person = next((each.people[student] for each in course if student in each.people), None)
    return f"{person.full_name} ({student})" if person and person.full_name != student else student


def _score(results: ClassResults, student: str) -> str:
    score, unscored = results.scores.get(student), results.mark(student).unscored
    rest = f" ({unscored} part{'s' if unscored > 1 else ''} not scored yet)" if unscored else ""
    return "–" if score is None else f"{score:g} of {results.max_score:g}{rest}"


def _file(student: str) -> str:
    return f"{FOLDER}/{student_page_file_name(student)}"


def student_page_file_name(student: str) -> str:
    """Return the name of a page about a student: the student's id, or a digest of it."""
    is_name = False
    with contextlib.suppress(UnicodeEncodeError):  # raised where file names are not UTF-8
        is_name = student.isprintable() and len(os.fsencode(student)) <= _LONGEST_NAME
    return f"{student if is_name else sha256_of_texts(student)}.html"


def _page(student: str, found: Sequence[tuple[ClassResults, StudentRow | None]]) -> bytes:
    """Return the page of one student; `found` pairs each class with the student's row in it, or None."""
    columns = ("", "points", "handed in", "late")
    lines = [(each.title, _score(each, student), _state(row), _late(each, student)) for each, row in found]
    chapters = [_chapter(results, row) for results, row in found if row is not None]
    body = join(tag("p", _POINTS), table("All chapters", columns, lines), *chapters, tag("p", _LOST))
    ways = {"The course": "../index.html", "The students": f"../{LIST}"}
    return complete_html_page(_name([each for each, _ in found], student), body, ways)


def _state(row: StudentRow | None) -> str:
    if row is None:
        return "no"
    if row.is_empty:
        return "no notebook"
    if row.verdict is None:
        return "not graded"
    return "could not be read" if row.verdict.trouble else "yes"


def _late(results: ClassResults, student: str) -> str:
    """Return how late a submission was and its penalty, in words; "" if it was in time."""
    mark = results.mark(student)
    cost = f", -{mark.penalty:g} points" if mark.penalty else ""
    return f"{duration_text(mark.seconds_late)}{cost}" if mark.seconds_late > 0 else cost.removeprefix(", ")


def _chapter(results: ClassResults, row: StudentRow) -> Html:
    """Return the section about one submission: feedback link, warnings, points lost, and repairs."""
    parts: list[Html] = [tag("h2", results.title)]
    if (results.course / "feedback" / row.student / results.stem / f"{results.stem}.html").is_file():
        way = f"../../feedback/{quote(os.fsencode(row.student))}/{results.stem}/{results.stem}.html"
        parts.append(tag("p", tag("a", "The feedback page", href=way)))
    parts += _listed("Look at this", row.troubles)
    if row.verdict and not row.verdict.trouble:
        lost = list(_lost(row.verdict))
        columns = ("", "points lost", "why")
        parts.append(table("What was lost", columns, lost) if lost else tag("p", "Nothing was lost."))
        parts += _listed("Repaired, which cost nothing", row.verdict.repairs)
    return join(*parts)


def _listed(title: str, lines: Sequence[str]) -> list[Html]:
    return [tag("p", f"{title}:"), tag("ul", *(tag("li", line) for line in lines))] if lines else []


def _lost(verdict: SubmissionVerdict) -> Iterator[tuple[str, str, Html]]:
    """Yield each exercise and test cell without full points: its name, the points lost, and the reason."""
    for report in verdict.reports:
        lost = verdict.points[report.exercise] - verdict.earned(report.exercise)
        if lost > 0:
            yield report.exercise, f"{lost:.4g} of {verdict.points[report.exercise]:g}", _why(report)
    for name, (earned, most) in verdict.tests.items():
        if earned < most:
            yield name, f"{most - earned:.4g} of {most:g}", join(_raised(verdict.outputs.get(name, ())))


def _why(report: Report) -> Html:
    """Return the sentences about the known mistakes; without any, the first requirement that is not met."""
    if not is_attempted(report):
        return join("not begun")
    first = report.first
    known = dict.fromkeys(each.sentence for each in report.verdicts if each.mistake and each.sentence)
    reasons = [*known] or ([first.sentence or f"not passed: {first.requirement}"] if first else [])
    return join(*(tag("div", sentence_to_html(each)) for each in reasons))


def _raised(outputs: Sequence[Mapping[str, object]]) -> str:
    """Return the error that stopped a test cell; "" if none did."""
    errors = (each for each in outputs if each.get("output_type") == "error")
    return next((f"{each.get('ename')}: {each.get('evalue')}".rstrip(": ")[:_LONGEST] for each in errors), "")
