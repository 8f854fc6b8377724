"""nbgrader's plug-ins for what comes in and goes out: submissions out of the exchange, grades into a table."""

from __future__ import annotations

import csv
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, Gradebook, MissingEntry, Student
from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeCollect
from nbgrader.plugins import ExportPlugin
from nbgrader.utils import ignore_patterns

from autograder.errors import WorkFailed
from autograder.grading import inbox


class CollectPlainFiles(ExchangeCollect):
    """Collects what students put into the exchange, which is theirs to write: links are not followed.

    nbgrader's own class copies the file that a link leads to, with the teacher's rights.
    """

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy one submission; one that cannot be copied is named, and costs nobody else theirs."""
        try:
            if os.path.islink(src):
                raise OSError("a link stands in the place of the submission")
            shutil.copytree(src, dest, symlinks=True, ignore=self._ignored)
            inbox.set_aside(Path(dest))
        except (OSError, WorkFailed, ExchangeError) as error:
            shutil.rmtree(dest, ignore_errors=True)
            self.log.error("%s was not collected: %s", src, error)

    def _ignored(self, folder: str, names: list[str]) -> set[str]:
        """What nbgrader's settings leave out, and what is neither file nor folder nor link."""
        special = {name for name in names if not _is_kept(os.path.join(folder, name))}
        plain = [name for name in names if name not in special and not os.path.islink(os.path.join(folder, name))]
        about = self.coursedir
        leave_out = ignore_patterns(about.ignore, about.include, about.max_file_size, self.log)
        return special.union(leave_out(folder, plain))


def _is_kept(path: str) -> bool:
    mode = os.lstat(path).st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


class CsvExport(ExportPlugin):
    """Writes the grades as nbgrader does, in cells that no spreadsheet takes for a formula."""

    def export(self, gradebook: Gradebook) -> None:
        """Write a line for each assignment and student; `to` names the file."""
        with open(self.to or "grades.csv", "w", newline="", encoding="utf-8") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(_COLUMNS)
            for assignment in gradebook.assignments:
                if not self.assignment or assignment.name in map(str, self.assignment):
                    table.writerows(self._rows(gradebook, assignment))

    def _rows(self, gradebook: Gradebook, assignment: Assignment) -> Iterator[list[str]]:
        for student in gradebook.students:
            if not self.student or student.id in map(str, self.student):
                yield [_cell(value) for value in _values(gradebook, assignment, student)]


_COLUMNS = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)


def _values(gradebook: Gradebook, assignment: Assignment, student: Student) -> list[object]:
    """The values of one line; whoever handed in nothing has nothing."""
    try:
        submission = gradebook.find_submission(assignment.name, student.id)
        penalty = submission.late_submission_penalty
        when, scores = submission.timestamp, (submission.score, penalty, max(0.0, submission.score - penalty))
    except MissingEntry:
        when, scores = None, (0.0, 0.0, 0.0)
    who = (student.id, student.last_name, student.first_name, student.email)
    return [assignment.name, assignment.duedate, when, *who, *scores, assignment.max_score]


def _cell(value: object) -> str:
    """A value as text; an apostrophe before what a spreadsheet would compute."""
    text = "" if value is None else str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else text
