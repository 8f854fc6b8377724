"""A text table of a class: scores, extra credit, repairs, and the reasons why submissions could not be graded."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.diagnosis.verdict import Status
from autograder.grading import verdict_store
from autograder.grading.merge_regraded_verdicts import exercises_with_kept_score
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.submission import read_student_folder
from autograder.submission.choose_submitted_notebook import find_candidates
from autograder.terminal_text import replace_unprintable

_WIDTH = 100
_LONGEST_NAME = 60  # letters


@dataclass(frozen=True)
class StudentRow:
    """One student's verdict, or the reason why there is none; `is_empty` if the submission has no notebook."""

    student: str
    verdict: SubmissionVerdict | None
    reason: str = ""
    is_empty: bool = False

    @property
    def troubles(self) -> tuple[str, ...]:
        """Return the reasons why the teacher should look at this submission."""
        if self.verdict is None:
            return (f"not graded: {self.reason}",)
        if self.verdict.trouble:
            return (f"could not be read: {self.verdict.trouble}", *self.verdict.eye)
        return (*self.verdict.eye, *_stopped(self.verdict))

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the lines for the teacher: the troubles, the repairs, and scores kept from an earlier grading."""
        if self.verdict is None:
            return self.troubles
        better = ", ".join(exercises_with_kept_score(self.verdict))
        kept = (f"the better score of an earlier grading counts: {better}",) if better else ()
        return (*self.troubles, *self.verdict.repairs, *kept)


def class_rows(course: Path, stem: str, failures: Mapping[str, str] | None = None) -> list[StudentRow]:
    """Return a row per student with a submission or a verdict; `failures` maps students to why grading failed."""
    students = {path.parent.name for path in (course / "submitted").glob(f"*/{stem}")}
    students |= {path.stem for path in (course / "verdicts" / stem).glob("[!.]*.json")}
    return [_row(course, stem, student, failures or {}) for student in sorted(students)]


def _row(course: Path, stem: str, student: str, failures: Mapping[str, str]) -> StudentRow:
    verdict = verdict_store.read_verdict(course, stem, student)
    if verdict is not None and student not in failures:
        return StudentRow(student, verdict)
    reason, is_empty = _ungraded(course / "submitted" / student / stem, stem)
    return StudentRow(student, None, failures.get(student, reason), is_empty)


def _ungraded(folder: Path, stem: str) -> tuple[str, bool]:
    """Return why a submission has no verdict, and whether it contains no notebook."""
    try:
        if not find_candidates(folder, stem, {})[0]:
            return read_student_folder.missing_notebook_message(folder), True
    except OSError as error:
        reason = f"the submission cannot be read ({error.strerror}). Give permission, then grade this student again."
        return reason, False
    return f"it has not been graded yet. Run `autograder grade {stem}`.", False


def _stopped(verdict: SubmissionVerdict) -> list[str]:
    """Return a line for each exercise whose code did not end in time, or stopped before its first call."""
    firsts = [(report.exercise, report.verdicts[0]) for report in verdict.reports]
    return [
        f"{exercise}: {first.sentence}"
        for exercise, first in firsts
        if first.status is Status.TIMEOUT or (first.status is Status.ERROR and not first.call)
    ]


def class_table(listed: Iterable[StudentRow]) -> str:
    """Return the rows as a text table with the columns student, score, extra credit and notes."""
    lines = []
    listed = list(listed)
    width = max([len("student"), *(len(_name(row)) for row in listed)])
    for row in listed:
        score, extra = ("-", "") if row.verdict is None else _scores(row.verdict)
        lines += _lines(_name(row).ljust(width), score, extra, row.notes)
    head = _lines("student".ljust(width), "score", "extra", ("what to know",))
    return "\n".join([*head, *lines, "", _closing(listed)])


def _scores(verdict: SubmissionVerdict) -> tuple[str, str]:
    extra = f"+{verdict.extra_credit:.3g}" if verdict.extra_credit else ""
    return f"{verdict.score:.4g}/{verdict.max_score:g}", extra


def _lines(student: str, score: str, extra: str, notes: tuple[str, ...]) -> list[str]:
    start = f"{student}  {score:>9}  {extra:>6}  "
    text = [line for note in notes for line in textwrap.wrap(_in_line(note), _WIDTH)] or [""]
    return [(start + text[0]).rstrip(), *(" " * len(start) + line for line in text[1:])]


def _name(row: StudentRow) -> str:
    name = _in_line(row.student)
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _in_line(text: str) -> str:
    return replace_unprintable(text, kept="")


def _closing(listed: list[StudentRow]) -> str:
    bad = [row for row in listed if row.verdict is None or row.verdict.trouble]
    groups = f"; not read or not graded: {', '.join(map(_name, bad))}" if bad else ""
    look = [row for row in listed if row.troubles and row not in bad]
    groups += f"; worth a person's eye: {', '.join(map(_name, look))}" if look else ""
    mind = "Scores are those of the checks; manual scores, comments and late penalties are in nbgrader's gradebook."
    return f"{len(listed)} submission{'' if len(listed) == 1 else 's'}{groups}\n{mind}"
