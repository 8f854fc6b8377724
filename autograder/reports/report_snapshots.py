"""Keep a report's counts per exercise and known mistake as dated CSV tables, to compare a later report with them.

They name no student. Each report also leaves them in a folder of its day, `report-tables/YYYY-MM-DD/` in the course.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.reports.share_difference import Share

ITEMS, MISTAKES = "items-", "mistakes-"  # how the names of the files begin; the assignment's name follows
_KEPT = "report-tables"
_PLACES = ("", "reports", "course/reports")  # below the folder that a teacher names


@dataclass(frozen=True)
class AssignmentCounts:
    """How many students solved each exercise of an assignment, and made each known mistake.

    `mistakes` has the key (exercise, tag), and `sentences` what was read about it.
    """

    exercises: Mapping[str, Share]
    mistakes: Mapping[tuple[str, str], Share]
    sentences: Mapping[tuple[str, str], str]


def dated_tables(course: Path, files: Mapping[str, bytes], today: date) -> dict[Path, bytes]:
    """Return the CSV tables among a report's files, by the dated path that keeps each for later comparisons."""
    folder = course / _KEPT / today.isoformat()
    return {folder / name: data for name, data in files.items() if data and name.startswith((ITEMS, MISTAKES))}


def find_earlier_tables(other: Path) -> dict[str, bytes]:
    """Return the tables of an earlier report by file name; raise WorkFailed if there are none.

    `other` is the folder of the tables, a course, or a project.
    """
    for place in _PLACES:
        paths = [path for start in (ITEMS, MISTAKES) for path in sorted((other / place).glob(f"{start}*.csv"))]
        if any(path.name.startswith(ITEMS) for path in paths):
            return {path.name: _bytes(path) for path in paths}
    raise WorkFailed(
        f"expected the tables of an earlier report, {ITEMS}*.csv, in {other} or its reports/, found none. Run "
        f"`autograder report` in that course first, or name a folder in {_KEPT}/."
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WorkFailed(f"cannot read {path}: {error.strerror}. Give permission, or name another folder.") from None


def read_tables(files: Mapping[str, bytes], where: str) -> dict[str, AssignmentCounts]:
    """Return the tables by assignment; raise WorkFailed, which says that they are `where`, if one is damaged."""
    stems = [name.removeprefix(ITEMS).removesuffix(".csv") for name in files if name.startswith(ITEMS)]
    return {stem: _table(files, stem, where) for stem in stems if files[f"{ITEMS}{stem}.csv"]}


def _table(files: Mapping[str, bytes], stem: str, where: str) -> AssignmentCounts:
    names = f"{ITEMS}{stem}.csv", f"{MISTAKES}{stem}.csv"
    try:
        items, mistakes = (_rows(files.get(name, b"")) for name in names)
        exercises = {row["exercise"]: _solved(row) for row in items}
        made = {
            (row["exercise"], row["mistake"]): _share(int(row["students"]), exercises[row["exercise"]].total)
            for row in mistakes
        }
        sentences = {(row["exercise"], row["mistake"]): row["what was read"] for row in mistakes}
    except (ValueError, KeyError, TypeError, csv.Error):  # UnicodeDecodeError is a ValueError
        raise WorkFailed(
            f"{' or '.join(names)} in {where} is no table of a report as `autograder report` writes it. Take the file "
            "as it was written, or name another folder."
        ) from None
    return AssignmentCounts(exercises, made, sentences)


def _rows(data: bytes) -> Sequence[Mapping[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True))


def _solved(row: Mapping[str, str]) -> Share:
    passed, wrong, not_attempted = (int(row[name]) for name in ("passed", "wrong", "not attempted"))
    return _share(passed, passed + wrong + not_attempted)


def _share(count: int, total: int) -> Share:
    if not 0 <= count <= total or total < 1:
        raise ValueError(f"expected a count of at least 0 and at most {total}, got {count}")
    return Share(count, total)
