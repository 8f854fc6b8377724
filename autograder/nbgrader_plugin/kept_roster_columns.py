"""Store the roster columns of Canvas, Moodle and Brightspace for which nbgrader has no field, for the exports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.errors import CourseError
from autograder.files import write_all

ROSTER_FILE = "roster.json"
IDENTIFIER = "Identifier"  # column of Moodle's grading worksheet: the number of a participant in one assignment
GROUPS = "Groups"
# The number of a student in each system. nbgrader has one field, `lms_user_id`: that of the roster that came first.
CANVAS_NUMBER, MOODLE_NUMBER, ORG_DEFINED_ID = "ID", "ID number", "OrgDefinedId"
NUMBERS = (CANVAS_NUMBER, MOODLE_NUMBER, ORG_DEFINED_ID)
# In the order in which Canvas's importer reads them, `Section` last.
CANVAS = ("SIS User ID", "SIS Login ID", "Integration ID", "Root Account", "Section")
MOODLE = ("Username", MOODLE_NUMBER, "Institution", "Department", GROUPS, IDENTIFIER)
Columns = Mapping[str, Mapping[str, str]]  # student's id > column > value


def kept_columns_of_line(line: Mapping[str, str]) -> dict[str, str]:
    """Return the columns to store from a line of a roster, whose keys are case-folded column names."""
    found = {name: line.get(name.casefold(), "") for name in (*CANVAS, *MOODLE)}
    return {name: value for name, value in found.items() if value}


def lms_student_number(column: str, known: Mapping[str, str], number: str) -> str:
    """Return a student's number in the LMS that `column` belongs to; "" if it is not known.

    `known` are the student's kept columns. If this one is not among them, nbgrader's `lms_user_id` (`number`) is
    taken, unless the columns show that it is the number in another LMS.
    """
    others = {known.get(each) for each in NUMBERS if each != column}
    return known.get(column) or ("" if number in others else number)


def groups_of_student(known: Mapping[str, str]) -> list[str]:
    """Return the groups of a student; Moodle separates them by commas, which a group's name may have too."""
    cell = known.get(GROUPS, "")
    return list(dict.fromkeys(name for each in (cell, *cell.split(",")) if (name := each.strip())))


def load_columns(course: Path) -> Columns:
    """Return the stored columns; empty if there is no file. Raises CourseError if it cannot be read."""
    try:
        kept = json.loads((course / ROSTER_FILE).read_text(encoding="utf-8"))
        return {str(who): {str(name): str(value) for name, value in of.items()} for who, of in kept.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise CourseError(
            f"{course / ROSTER_FILE} cannot be read ({type(error).__name__}). It holds columns of your roster that "
            "nbgrader has no field for: delete it, and import the roster again."
        ) from None


def merge_stored_columns(course: Path, columns: Columns) -> None:
    """Add columns to the stored ones; an empty value keeps the stored value. Raises CourseError or WorkFailed."""
    known = load_columns(course)
    both = {who: {**known.get(who, {}), **columns.get(who, {})} for who in (*known, *columns)}
    if both != known:
        write_all({course / ROSTER_FILE: json.dumps(both, ensure_ascii=False, indent=1, sort_keys=True).encode()})


def columns_present(columns: Columns, names: Sequence[str]) -> tuple[str, ...]:
    """Return those of the named columns that at least one student has."""
    return tuple(name for name in names if any(name in of for of in columns.values()))
