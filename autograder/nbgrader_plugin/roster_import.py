"""Import the class roster from a CSV file of Canvas, Moodle, Brightspace or made by hand into nbgrader's gradebook."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from glob import escape
from pathlib import Path
from types import MappingProxyType

from nbgrader.api import Gradebook, MissingEntry

from autograder.errors import CourseError, WorkFailed
from autograder.nbgrader_plugin import kept_roster_columns, roster_formats
from autograder.nbgrader_plugin.gradebook_scores import GradebookStudent
from autograder.nbgrader_plugin.kept_roster_columns import GROUPS, IDENTIFIER, MOODLE_NUMBER

_LONGEST = 128  # characters of a field in nbgrader's database
_SEPARATORS = ",;\t"
_SEPARATOR_LINE = "sep="  # the first line by which Excel is told the separator


class UnreadableRoster(CourseError):
    """A roster that cannot be read; nothing was changed."""


@dataclass(frozen=True)
class ImportCounts:
    """How many students an import added, changed and left unchanged."""

    new: int
    changed: int
    same: int


@dataclass(frozen=True)
class Roster:
    """The students of a roster file in its order, and its columns for which nbgrader has no field.

    A list of groups adds no student: it only says which groups the students of the gradebook are in.
    """

    people: list[GradebookStudent]
    columns: kept_roster_columns.Columns
    is_group_list: bool = False


# --- reading


def read_roster(path: Path) -> Roster:
    """Read the students of a CSV file; raise BadRoster, with the line number, if something is wrong."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableRoster(f"cannot read {path}: {error.strerror}. Is the name right?") from None
    lines = list(_lines(path, _text(path, data)))
    if not lines:
        raise UnreadableRoster(f"{path} is empty. Its first line names the columns, each other line is a student.")
    format_ = _format(path, lines[0][1])
    found = _Students(format_.is_group_list)
    for number, cells in lines[1:]:
        line = format_.line_of(cells)
        person = format_.person_of(line)
        if person is not None:
            found.add(f"{path}, line {number}", person, format_.columns_of(line))
    if not found.people:
        raise UnreadableRoster(f"{path} names its columns and no student. Nothing was changed.")
    return Roster(list(found.people.values()), found.columns, format_.is_group_list)


class _Students:
    """The students of a roster's lines; each has one line, but for a line for each group in a list of groups."""

    def __init__(self, is_group_list: bool) -> None:
        self.is_group_list = is_group_list
        self.people: dict[str, GradebookStudent] = {}
        self.columns: dict[str, dict[str, str]] = {}
        self._ids: dict[str, str] = {}
        self._numbers: dict[str, str] = {}
        self._names: dict[tuple[str, ...], str] = {}

    def add(self, where: str, person: GradebookStudent, columns: dict[str, str]) -> None:
        """Add the student of a line; raise BadRoster if the line is wrong, or contradicts one before it."""
        if columns.get(GROUPS) and not person.id:
            raise UnreadableRoster(f"{where}: the group {columns.get(GROUPS)!r} has no members. Nothing was changed.")
        _check(where, person)
        before = self.people.get(person.id)
        if before and self.is_group_list:
            groups = (self.columns[person.id].get(GROUPS), columns.get(GROUPS))
            columns = {**columns, GROUPS: ", ".join(dict.fromkeys(filter(None, groups)))}
        elif before:
            numbers = (before.lms_user_id, person.lms_user_id)
            told = f", with the numbers {' and '.join(numbers)}" if all(numbers) and numbers[0] != numbers[1] else ""
            raise UnreadableRoster(
                f"{where}: {person.id!r} is there twice{told}. Each student needs one line; nothing was changed."
            )
        self._check_others(where, person)
        self.people[person.id], self.columns[person.id] = person, columns

    def _check_others(self, where: str, person: GradebookStudent) -> None:
        """Raise BadRoster if another student has nearly this id, or this number, or this name and mail address."""
        other = self._ids.setdefault(person.id.casefold(), person.id)
        if other != person.id:
            raise UnreadableRoster(f"{where}: {_only_case(other, person.id)}")
        number = person.lms_user_id
        if number and (other := self._numbers.setdefault(number, person.id)) != person.id:
            raise UnreadableRoster(
                f"{where}: {other!r} and {person.id!r} have one number, {number}. Nothing was changed."
            )
        about = (person.first_name, person.last_name, person.email)
        if all(about) and (other := self._names.setdefault(about, person.id)) != person.id:
            raise UnreadableRoster(
                f"{where}: {other!r} and {person.id!r} have one name and one mail address. Is this one student? Then "
                "keep one line. Nothing was changed."
            )


def _only_case(one: str, other: str) -> str:
    return (
        f"{one!r} and {other!r} differ in capitals only, and on many disks they are one folder. Give one of them "
        "another id, or write both alike if they are one student. Nothing was changed."
    )


def _text(path: Path, data: bytes) -> str:
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))  # UTF-16, which spreadsheets call "Unicode text"
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableRoster(
            f"{path} is not UTF-8 text. Save it as `CSV UTF-8` in the spreadsheet, then again."
        ) from None


def _lines(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that are not empty, each with its number."""
    first = text.split("\n", 1)[0].strip()
    is_told = first.casefold().startswith(_SEPARATOR_LINE) and len(first) == len(_SEPARATOR_LINE) + 1
    separator = first[-1] if is_told else max(_SEPARATORS, key=first.count)
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells) and not (is_told and reader.line_num == 1):
                yield reader.line_num, cells
    except csv.Error as error:
        raise UnreadableRoster(f"{path}, line {reader.line_num}: {error}. Save it as CSV once more.") from None


def _format(path: Path, head: Sequence[str]) -> roster_formats.RosterFormat:
    found = roster_formats.recognize_format(head)
    if found is None:
        raise UnreadableRoster(
            f"{path} has the columns {', '.join(repr(name.strip().casefold()) for name in head)}. Expected `id` or "
            "`student_id` (a file made by hand), `SIS Login ID` (a gradebook exported from Canvas), `group_name` (its "
            "list of groups), `OrgDefinedId` (grades exported from Brightspace), or `Username`, `ID number` or `Email "
            "address` (a list from Moodle in English, German, French or Spanish)."
        )
    return found


def _check(where: str, person: GradebookStudent) -> None:
    """Raise BadRoster if an id cannot be the name of a student's folder, or a field is too long for the database."""
    name = person.id
    if not name:
        raise UnreadableRoster(f"{where}: this student has no id. Nothing was changed.")
    # The exchange names folders `STUDENT+ASSIGNMENT+TIME`, and nbgrader reads `*` and `?` in an id as a pattern.
    if name != escape(name) or name.startswith((".", " ")) or not name.isprintable() or set(name) & set("/\\+"):
        raise UnreadableRoster(
            f"{where}: {name!r} cannot be the name of a student's folder. No `/`, `\\`, `+`, `*`, `?` or `[`, and no "
            "dot in front. Nothing was changed."
        )
    for value in asdict(person).values():
        if len(value) > _LONGEST:
            raise UnreadableRoster(f"{where}: {value[:20]!r}… has more than {_LONGEST} letters. Nothing was changed.")


# --- writing


def overwritten_values(gradebook: Gradebook, roster: Roster, kept: kept_roster_columns.Columns) -> list[str]:
    """Return a line for each value of the gradebook, or of earlier rosters' columns, that the roster would replace.

    Raises BadRoster if a new id differs from one in the gradebook only in upper and lower case, or if a list of
    groups names somebody who is not in the gradebook.
    """
    known = {student.id: student for student in gradebook.students}
    alike = {id_.casefold(): id_ for id_ in known}
    found = []
    for person in roster.people:
        if person.id not in known:
            if person.id.casefold() in alike:
                raise UnreadableRoster(
                    f"{_only_case(alike[person.id.casefold()], person.id)} The first is in the gradebook."
                )
            if roster.is_group_list:
                raise UnreadableRoster(
                    f"the list of groups names {person.id!r}, who is not in the gradebook. Read the class first; "
                    "nothing was changed."
                )
            continue
        columns, before = roster.columns.get(person.id, {}), kept.get(person.id, {})
        values = _new_values(known[person.id], person, columns, before)
        if getattr(known[person.id], "lms_user_id", "") in map(before.get, kept_roster_columns.NUMBERS):
            values.pop("lms_user_id", None)  # that number stays, in its system's own column
        pairs = [(name, getattr(known[person.id], name) or "", value) for name, value in values.items()]
        pairs += [(name, before.get(name, ""), value) for name, value in columns.items() if name != IDENTIFIER]
        found += [f"{person.id}: {name} {old!r} -> {new!r}" for name, old, new in pairs if old and old != new]
    return found


def _new_values(
    known: object, person: GradebookStudent, columns: Mapping[str, str], before: Mapping[str, str]
) -> dict[str, str]:
    """Return the fields to write for a student of the gradebook (None: a new one).

    Moodle's ID number is a column of its own, so it does not replace a number that another system gave.
    """
    fields = {name: value for name, value in asdict(person).items() if value and name != "id"}
    number = getattr(known, "lms_user_id", None)
    if columns.get(MOODLE_NUMBER) and number not in (None, "", before.get(MOODLE_NUMBER, "")):
        fields.pop("lms_user_id", None)
    return fields


def import_roster_into_gradebook(
    gradebook: Gradebook,
    people: Sequence[GradebookStudent],
    columns: kept_roster_columns.Columns = MappingProxyType({}),
    kept: kept_roster_columns.Columns = MappingProxyType({}),
) -> ImportCounts:
    """Add new students and update known ones; an empty field keeps its value in the gradebook.

    `columns` and `kept` map student ids to the columns, of this roster and of earlier ones, for which nbgrader has
    no field. No student is removed. Raises WorkFailed if the gradebook cannot be written; the next call does the
    rest.
    """
    new = changed = 0
    try:
        for person in people:
            known = _known(gradebook, person.id)
            fields = _new_values(known, person, columns.get(person.id, {}), kept.get(person.id, {}))
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
