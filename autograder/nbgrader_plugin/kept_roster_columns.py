"""Store the roster columns of Canvas and Moodle for which nbgrader has no field, so that exports contain them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.errors import CourseError
from autograder.files import write_all

FILE = "roster.json"
IDENTIFIER = "Identifier"  # column of Moodle's grading worksheet: the number of a participant in one assignment
# In the order in which Canvas's importer reads them, `Section` last; `ID` is nbgrader's `lms_user_id`.
CANVAS = ("SIS User ID", "SIS Login ID", "Integration ID", "Root Account", "Section")
MOODLE = ("Username", "ID number", "Institution", "Department", "Groups", IDENTIFIER)
Columns = Mapping[str, Mapping[str, str]]  # student's id > column > value


def of_line(line: Mapping[str, str]) -> dict[str, str]:
    """Return the columns to store from a line of a roster, whose keys are case-folded column names."""
    found = {name: line.get(name.casefold(), "") for name in (*CANVAS, *MOODLE)}
    return {name: value for name, value in found.items() if value}


def load_columns(course: Path) -> Columns:
    """Return the stored columns; empty if there is no file. Raises CourseError if it cannot be read."""
    try:
        kept = json.loads((course / FILE).read_text(encoding="utf-8"))
        return {str(who): {str(name): str(value) for name, value in of.items()} for who, of in kept.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise CourseError(
            f"{course / FILE} cannot be read ({type(error).__name__}). It holds columns of your roster that nbgrader "
            "has no field for: delete it, and import the roster again."
        ) from None


def add_columns(course: Path, columns: Columns) -> None:
    """Add columns to the stored ones; an empty value keeps the stored value. Raises CourseError or WorkFailed."""
    known = load_columns(course)
    both = {who: {**known.get(who, {}), **columns.get(who, {})} for who in (*known, *columns)}
    if both != known:
        write_all({course / FILE: json.dumps(both, ensure_ascii=False, indent=1, sort_keys=True).encode()})


def columns_in_use(columns: Columns, names: Sequence[str]) -> tuple[str, ...]:
    """Return those of the named columns that at least one student has."""
    return tuple(name for name in names if any(name in of for of in columns.values()))
