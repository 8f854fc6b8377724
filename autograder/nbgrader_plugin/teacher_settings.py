"""Read due dates, extensions, the penalty for lateness and what releases ask from the teacher's settings file.

The file is `teacher.toml` in the course folder; the project does not come with one:

    questions = true  # releases ask three questions about the student's own code after each core exercise
    [due]
    week_one = "2026-11-30 18:00"
    [extended.week_one]
    ada = "2026-12-02 18:00"
    [late]
    points_per_day = 2
    grace_hours = 1
    [nbgrader.Execute]
    timeout = 60

A time without a zone is local time; a day without a time ends at midnight. Each grading writes the dates into
nbgrader's gradebook and computes its penalties anew, without running answers again. The tables below `nbgrader` are
nbgrader's own settings by class.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from autograder.errors import WorkFailed

SETTINGS = "teacher.toml"
_DAY = 86_400
_KEYS = {"": ("due", "extended", "late", "nbgrader", "questions"), "late": ("points_per_day", "grace_hours")}
_LATER = re.compile(r"\+\s*(\d+)\s*(d|day|days|h|hour|hours)")
_FORM = 'a day and a time, such as "2026-11-30 18:00"'


@dataclass(frozen=True)
class LatePolicy:
    """The penalty for lateness: points for each day begun, and none within the hours of grace."""

    points_per_day: float = 0.0
    grace_hours: float = 0.0

    def penalty(self, seconds_late: float) -> float:
        """Return the points to subtract, which may be more than the submission has."""
        if seconds_late <= self.grace_hours * 3600:
            return 0.0
        return self.points_per_day * math.ceil(seconds_late / _DAY)


@dataclass(frozen=True)
class TeacherSettings:
    """The teacher's settings; without `[late]`, `late` is None and nbgrader's own settings apply."""

    due: Mapping[str, datetime] = field(default_factory=dict)
    extended: Mapping[str, Mapping[str, datetime]] = field(default_factory=dict)
    late: LatePolicy | None = None

    def extension(self, chapter: str, student: str) -> timedelta | None:
        """Return how much later a chapter is due for a student; None without an extension."""
        until = self.extended.get(chapter, {}).get(student)
        return None if until is None else until - self.due[chapter]


def read_teacher_settings(course: Path) -> TeacherSettings:
    """Read a course's settings file; raise WorkFailed, with a line that says what to correct, if it is invalid."""
    path = course / SETTINGS
    found = _settings(path)
    due = {chapter: _at(path, chapter, value) for chapter, value in _table(path, found, "due").items()}
    extended = {
        chapter: {student: _at(path, student, value) for student, value in _table(path, about, chapter).items()}
        for about in [_table(path, found, "extended")]
        for chapter in about
    }
    if missing := sorted(extended.keys() - due.keys()):
        raise WorkFailed(f"{path}: {missing[0]} is extended and has no due date. Write one below [due].")
    for name in (nbgraders := _table(path, found, "nbgrader")):
        _table(path, nbgraders, name)
    return TeacherSettings(due, extended, _lateness(path, found))


def release_asks_own_code_questions(course: Path) -> bool:
    """Return whether releases ask about students' own code; raise WorkFailed if the settings file is invalid."""
    return bool(_settings(course / SETTINGS).get("questions", False))


def _settings(path: Path) -> dict[str, Any]:
    """Return what the file holds, {} if there is none; raise WorkFailed for an unknown name."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise WorkFailed(f"{path} cannot be read ({error}); nothing was changed. Correct it.") from None
    _check_names(path, "", found)
    if type(asked := found.get("questions", False)) is not bool:
        raise WorkFailed(f"{path}: expected true or false for questions, found {asked!r}. Correct it.")
    return found


def nbgrader_settings(course: Path) -> dict[str, dict[str, Any]]:
    """Return the settings below `[nbgrader]` by class.

    The dict is empty if the file cannot be read: `read_teacher_settings` reports that before anything is graded.
    """
    try:
        found = tomllib.loads((course / SETTINGS).read_text(encoding="utf-8")).get("nbgrader")
    except (OSError, ValueError):
        return {}
    return {name: each for name, each in found.items() if isinstance(each, dict)} if isinstance(found, dict) else {}


def _lateness(path: Path, found: dict[str, Any]) -> LatePolicy | None:
    about = _table(path, found, "late")
    _check_names(path, "late", about)
    for name, value in about.items():
        if type(value) not in (int, float) or not 0 <= value < math.inf:
            raise WorkFailed(f"{path}: expected a number from 0 on for {name}, found {value!r}. Correct it.")
    return LatePolicy(**about) if about else None


def _check_names(path: Path, table: str, found: Iterable[str]) -> None:
    for name in found:
        if name not in _KEYS[table]:
            close = difflib.get_close_matches(name, _KEYS[table], n=1) or [", ".join(_KEYS[table])]
            raise WorkFailed(f"{path}: there is no setting {name!r}. Did you mean {close[0]}?")


def _table(path: Path, found: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = found.get(name, {})
    if not isinstance(table, dict):
        raise WorkFailed(f"{path}: expected a table [{name}], found {table!r}. Correct it.")
    return table


def _at(path: Path, what: str, value: Any) -> datetime:
    try:
        return to_datetime(value)
    except ValueError:
        raise WorkFailed(f"{path}: expected {_FORM} for {what}, found {value!r}. Correct it.") from None


def to_datetime(value: object, after: datetime | None = None) -> datetime:
    """Convert a date, a datetime or a text to a datetime with a zone; raise ValueError.

    A text may also give the time relative to `after`, as in `+2 days`.
    """
    if isinstance(value, str):
        later = _LATER.fullmatch(value.strip())
        if later and after:
            return after + (timedelta(days=int(later[1])) if later[2][0] == "d" else timedelta(hours=int(later[1])))
        whole_day = re.fullmatch(r"\d{4}-\d{2}-\d{2}", value.strip())
        value = date.fromisoformat(whole_day[0]) if whole_day else datetime.fromisoformat(value.strip())
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value + timedelta(days=1), time())
    if not isinstance(value, datetime):
        raise ValueError(f"expected {_FORM}, found {value!r}")
    return value.astimezone() if value.tzinfo is None else value


def to_naive_utc(when: datetime) -> datetime:
    """Return the time as nbgrader stores it: in UTC, without a zone."""
    return when.astimezone(UTC).replace(tzinfo=None)
