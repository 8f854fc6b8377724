"""Import the class roster from a CSV file of Canvas, of Moodle or made by hand into nbgrader's gradebook."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from glob import escape
from pathlib import Path
from types import MappingProxyType

from nbgrader.api import Gradebook, MissingEntry

from autograder.errors import CourseError, WorkFailed
from autograder.nbgrader_plugin import kept_roster_columns
from autograder.nbgrader_plugin.gradebook_scores import Person

_LONGEST = 128  # characters of a field in nbgrader's database
_SEPARATORS = ",;\t"
RosterLine = Mapping[str, str]


class BadRoster(CourseError):
    """A roster that cannot be read; nothing was changed."""


@dataclass(frozen=True)
class ImportCounts:
    """How many students an import added, changed and left unchanged."""

    new: int
    changed: int
    same: int


@dataclass(frozen=True)
class Roster:
    """The students of a roster file in its order, and its columns that only Canvas and Moodle need."""

    people: list[Person]
    columns: kept_roster_columns.Columns


# --- reading


def read_roster(path: Path) -> Roster:
    """Read the students of a CSV file; raise BadRoster, with the line number, if something is wrong."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadRoster(f"cannot read {path}: {error.strerror}. Is the name right?") from None
    lines = list(_lines(path, _text(path, data)))
    if not lines:
        raise BadRoster(f"{path} is empty. Its first line names the columns, each other line is a student.")
    head = [name.strip().casefold() for name in lines[0][1]]
    person_of = _kind(path, head)
    people: dict[str, Person] = {}
    others: dict[str, dict[str, str]] = {}
    for number, cells in lines[1:]:
        line = dict(zip(head, (cell.strip() for cell in cells), strict=False))
        person = person_of(line)
        if person is None:
            continue
        where = f"{path}, line {number}"
        _check(where, person)
        if person.id in people:
            raise BadRoster(f"{where}: {person.id!r} is there twice. Each student needs one line; nothing was changed.")
        people[person.id], others[person.id] = person, kept_roster_columns.of_line(line)
    if not people:
        raise BadRoster(f"{path} names its columns and no student. Nothing was changed.")
    return Roster(list(people.values()), others)


def _text(path: Path, data: bytes) -> str:
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))  # UTF-16, which spreadsheets call "Unicode text"
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise BadRoster(f"{path} is not UTF-8 text. Save it as `CSV UTF-8` in the spreadsheet, then again.") from None


def _lines(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that are not empty, each with its number."""
    first = text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text), delimiter=max(_SEPARATORS, key=first.count))
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise BadRoster(f"{path}, line {reader.line_num}: {error}. Save it as CSV once more.") from None


def _kind(path: Path, head: Sequence[str]) -> Callable[[RosterLine], Person | None]:
    if "id" in head and {"student", "lastname"}.intersection(head):
        return _from_canvas
    if "id" in head or "student_id" in head:
        return _plain
    for name in ("username", "id number", "email address"):
        if name in head:
            return lambda line: _from_moodle(line, name)
    raise BadRoster(
        f"{path} has the columns {', '.join(map(repr, head))}. Expected `id` or `student_id` (a file made by hand), "
        "`SIS Login ID` (a gradebook exported from Canvas), or `Username`, `ID number` or `Email address` (a list from "
        "Moodle)."
    )


def _plain(line: RosterLine) -> Person:
    fields = (line.get(name, "") for name in ("first_name", "last_name", "email", "lms_user_id"))
    return Person(line.get("id") or line.get("student_id") or "", *fields)


def _from_canvas(line: RosterLine) -> Person | None:
    """Return the student in a line of Canvas's gradebook export; None for a line of points or the test student.

    If the export has no login, Canvas's number is the id.
    """
    id_ = line.get("sis login id") or line.get("id", "")
    name = line.get("student") or ", ".join(filter(None, (line.get("lastname"), line.get("firstname"))))
    if name.startswith(("Points Possible", "Student, Test")) or not (id_ or name):
        return None
    last, _, first = name.partition(",")
    return Person(id_, first.strip(), last.strip(), "", line.get("id", ""))


def _from_moodle(line: RosterLine, key: str) -> Person:
    first, _, last = line.get("full name", "").rpartition(" ")  # a column of the grading worksheet of an assignment
    first, last = line.get("first name") or first, line.get("last name") or line.get("surname") or last
    return Person(line.get(key, ""), first, last, line.get("email address", ""), line.get("id number", ""))


def _check(where: str, person: Person) -> None:
    """Raise BadRoster if an id cannot be the name of a student's folder, or a field is too long for the database."""
    name = person.id
    if not name:
        raise BadRoster(f"{where}: this student has no id. Nothing was changed.")
    # The exchange names folders `STUDENT+ASSIGNMENT+TIME`, and nbgrader reads `*` and `?` in an id as a pattern.
    if name != escape(name) or name.startswith((".", " ")) or not name.isprintable() or set(name) & set("/\\+"):
        raise BadRoster(
            f"{where}: {name!r} cannot be the name of a student's folder. No `/`, `\\`, `+`, `*`, `?` or `[`, and no "
            "dot in front. Nothing was changed."
        )
    for value in asdict(person).values():
        if len(value) > _LONGEST:
            raise BadRoster(f"{where}: {value[:20]!r}… has more than {_LONGEST} letters. Nothing was changed.")


# --- writing


def import_into(
    gradebook: Gradebook,
    people: Sequence[Person],
    columns: kept_roster_columns.Columns = MappingProxyType({}),
    kept: kept_roster_columns.Columns = MappingProxyType({}),
) -> ImportCounts:
    """Add new students and update known ones; an empty field keeps its value in the gradebook.

    `columns` are the roster's own, and `kept` those of earlier rosters. Moodle's ID number is kept there too, so it
    does not replace a number that another system gave, by which Canvas finds a student. No student is removed. Raises
    WorkFailed if the gradebook cannot be written; the next call does the rest.
    """
    new = changed = 0
    try:
        for person in people:
            fields = {name: value for name, value in asdict(person).items() if value and name != "id"}
            known = _known(gradebook, person.id)
            of_moodle, before = (each.get(person.id, {}).get("ID number", "") for each in (columns, kept))
            if of_moodle and getattr(known, "lms_user_id", None) not in (None, "", before):
                fields.pop("lms_user_id", None)
            if known is None:
                gradebook.add_student(person.id, **fields)
                new += 1
            elif any(getattr(known, name) != value for name, value in fields.items()):
                gradebook.update_or_create_student(person.id, **fields)
                changed += 1
    except Exception as error:  # errors of the database, which nbgrader wraps in several ways
        raise WorkFailed(
            f"the gradebook did not take the students ({type(error).__name__}: {str(error).splitlines()[0]}). "
            "Those before are in it. Close other programs that use it, then run the command again."
        ) from error
    return ImportCounts(new, changed, len(people) - new - changed)


def _known(gradebook: Gradebook, student: str) -> object | None:
    try:
        found: object = gradebook.find_student(student)
    except MissingEntry:
        return None
    return found
