"""A page for each student: the points in all chapters, what was lost and why, what was repaired, what came late."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from autograder.diagnosis.verdict import Report
from autograder.files import digest_of
from autograder.grading.class_table import StudentRow
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin.late_penalties import duration
from autograder.notebook.html_markup import Html, join, prose, table, tag
from autograder.reports.class_results import Results
from autograder.reports.html_page import shell
from autograder.reports.item_analysis import is_attempted

FOLDER, LIST = "students", "students.html"
_LONGEST_NAME = 200  # bytes, of the 255 that a file's name may have: ours have something before and behind it
_POINTS = "Points are those of nbgrader's gradebook, with scores by hand, extra credit and late penalties."
_LONGEST = 200  # characters of what a test cell raised
_LOST = "What an exercise lost is the checks' own: a score by hand may have given it back."


def pages(course: Sequence[Results]) -> dict[str, bytes]:
    """The pages by their places below `reports/`: one for each student of these classes, and the list of them."""
    students = sorted({student for results in course for student in (*results.people, *_rows(results))})
    rows = [_rows(results) for results in course]
    made = {LIST: _list(course, students)}
    for student in students:
        found = [(results, known.get(student)) for results, known in zip(course, rows, strict=True)]
        made[_file(student)] = _page(student, found)
    return made


def _rows(results: Results) -> dict[str, StudentRow]:
    return {row.student: row for row in results.rows}


def _list(course: Sequence[Results], students: Sequence[str]) -> bytes:
    """All students with their points, each a link to the student's page."""
    rows = []
    for student in students:
        link = tag("a", _name(course, student), href=quote(_file(student)))
        rows.append((link, *(_score(results, student) for results in course)))
    heads = ("student", *(results.title for results in course))
    return shell("The students", join(tag("p", _POINTS), table("Points", heads, rows)), {"The course": "index.html"})


def _name(course: Sequence[Results], student: str) -> str:
    person = next((each.people[student] for each in course if student in each.people), None)
    return f"{person.full_name} ({student})" if person and person.full_name != student else student


def _score(results: Results, student: str) -> str:
    score = results.scores.get(student)
    return "–" if score is None else f"{score:g} of {results.max_score:g}"


def _file(student: str) -> str:
    """The file of a student's page: of the student's name, where a file can have it."""
    is_name = False
    with contextlib.suppress(UnicodeEncodeError):  # where the system's names of files are not in UTF-8
        is_name = student.isprintable() and len(os.fsencode(student)) <= _LONGEST_NAME
    return f"{FOLDER}/{student if is_name else digest_of(student)}.html"


def _page(student: str, found: Sequence[tuple[Results, StudentRow | None]]) -> bytes:
    """The page of one student; `found` are the classes, each with what the student handed in there."""
    columns = ("", "points", "handed in", "late")
    lines = [(each.title, _score(each, student), _state(row), _late(each, student)) for each, row in found]
    told = [_chapter(results, row) for results, row in found if row is not None]
    body = join(tag("p", _POINTS), table("All chapters", columns, lines), *told, tag("p", _LOST))
    ways = {"The course": "../index.html", "The students": f"../{LIST}"}
    return shell(_name([each for each, _ in found], student), body, ways)


def _state(row: StudentRow | None) -> str:
    if row is None:
        return "no"
    if row.is_empty:
        return "no notebook"
    if row.verdict is None:
        return "not graded"
    return "could not be read" if row.verdict.trouble else "yes"


def _late(results: Results, student: str) -> str:
    """How late it came, and what that cost; "" in time."""
    mark = results.mark(student)
    cost = f", -{mark.penalty:g} points" if mark.penalty else ""
    return f"{duration(mark.seconds_late)}{cost}" if mark.seconds_late > 0 else cost.removeprefix(", ")


def _chapter(results: Results, row: StudentRow) -> Html:
    """What is to be said of one submission."""
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
    """Each exercise and test cell that did not give all of its points, with the sentence that was read."""
    for report in verdict.reports:
        lost = verdict.points[report.exercise] - verdict.earned(report.exercise)
        if lost > 0:
            yield report.exercise, f"{lost:.4g} of {verdict.points[report.exercise]:g}", _why(report)
    for name, (earned, most) in verdict.tests.items():
        if earned < most:
            yield name, f"{most - earned:.4g} of {most:g}", join(_raised(verdict.outputs.get(name, ())))


def _why(report: Report) -> Html:
    """The sentences of the known mistakes; where there are none, the first check that did not pass."""
    if not is_attempted(report):
        return join("not begun")
    first = report.first
    known = dict.fromkeys(each.sentence for each in report.verdicts if each.mistake and each.sentence)
    told = [*known] or ([first.sentence or f"not passed: {first.requirement}"] if first else [])
    return join(*(tag("div", prose(each)) for each in told))


def _raised(outputs: Sequence[Mapping[str, object]]) -> str:
    """How a test cell stopped; "" where it gave a number of points."""
    errors = (each for each in outputs if each.get("output_type") == "error")
    return next((f"{each.get('ename')}: {each.get('evalue')}".rstrip(": ")[:_LONGEST] for each in errors), "")
