"""Poll for submissions to an assignment, grade new ones, and return feedback through nbgrader's exchange."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from autograder.files import write_all
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle

_TRIES = ".tries"  # beside the verdict files; the name of no student begins with a dot


class DailyGradingCounts:
    """How often each student was graded today, in a file of the course; it forgets earlier days."""

    def __init__(self, course: Path, stem: str, today: Callable[[], date]) -> None:
        self._path, self._today = course / "verdicts" / stem / _TRIES, today

    def used(self, student: str) -> int:
        """Return how often a student was graded today."""
        return self._read().get(student, 0)

    def add(self, student: str) -> int:
        """Count one more, and return how many that makes today."""
        counts = self._read()
        counts[student] = counts.get(student, 0) + 1
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_all({self._path: json.dumps({"day": str(self._today()), "tries": counts}).encode()})
        return counts[student]

    def _read(self) -> dict[str, int]:
        try:
            found = json.loads(self._path.read_text())
            counts = found["tries"] if found["day"] == str(self._today()) else {}
            return {str(student): int(count) for student, count in counts.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # none yet, or damaged: nobody loses a try
            return {}


@dataclass(frozen=True)
class GradedSubmission:
    """A submission just graded by `Watch`: its verdict, the tries so far today, and what became of the feedback."""

    student: str
    verdict: SubmissionVerdict
    tries: int
    is_returned: bool
    trouble: str = ""


@dataclass
class SubmissionWatcher:
    """Looks for new submissions of one assignment, in nbgrader's exchange and in `submitted/`.

    Each look draws fresh cases. A student who was graded `most_tries` times today waits until tomorrow; what was handed
    in last is graded then. `today` returns the date that counts.
    """

    cycle: NbgraderCycle
    most_tries: int
    how: GradingOptions = field(default_factory=GradingOptions)
    today: Callable[[], date] = date.today
    _seen: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    _waiting: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._tries = DailyGradingCounts(self.cycle.course, self.cycle.stem, self.today)

    @property
    def exchange(self) -> Path | None:
        """The folder of this course in nbgrader's exchange, or None if nothing was released there."""
        folder = Path(self.cycle.api.exchange_root, self.cycle.api.coursedir.course_id)
        return folder if (folder / "inbound").is_dir() else None

    def collect_new(self) -> list[str]:
        """Collect from the exchange, and return the students whose submission is new since the last look."""
        if self.exchange is not None and any((self.exchange / "inbound").glob(f"*+{self.cycle.stem}+*")):
            self.cycle.collect()
        now = {student: self._signature(student) for student in self.cycle.students()}
        return [student for student, signature in now.items() if signature != self._seen.get(student)]

    def out_of_tries(self, students: Iterable[str]) -> list[str]:
        """Return those of the students who have no try left today, each once for each submission."""
        left = []
        for student in students:
            if self._is_out(student) and self._waiting.get(student) != self._signature(student):
                self._waiting[student] = self._signature(student)
                left.append(student)
        return left

    def grade(self, students: Sequence[str]) -> Iterator[GradedSubmission | tuple[str, str]]:
        """Grade these students, and return their feedback; yield each result, or a student with the reason for none."""
        allowed = [student for student in students if not self._is_out(student)]
        done: dict[str, SubmissionVerdict] = {}
        self._seen |= {student: self._signature(student) for student in allowed}  # before: more may arrive meanwhile
        failures = self.cycle.autograde(allowed, lambda items, _: _kept(items, done), self.how) if allowed else {}
        yield from failures.items()
        for student, verdict in done.items():
            if student not in failures:
                yield self._returned(student, verdict)

    def _returned(self, student: str, verdict: SubmissionVerdict) -> GradedSubmission:
        tries = self._tries.add(student)
        trouble = self.cycle.page(student)
        is_returned = not trouble and self.exchange is not None and self._came_by_exchange(student)
        if is_returned:
            trouble = self.cycle.release_feedback(student)
        return GradedSubmission(student, verdict, tries, is_returned and not trouble, trouble)

    def _came_by_exchange(self, student: str) -> bool:
        return (self._folder(student) / "submission_secret.txt").is_file()

    def _is_out(self, student: str) -> bool:
        return self._tries.used(student) >= self.most_tries

    def _folder(self, student: str) -> Path:
        return self.cycle.course / "submitted" / student / self.cycle.stem

    def _signature(self, student: str) -> tuple[Any, ...]:
        """Return what changes whenever a student hands in: the names, sizes and times of the files."""
        found = []
        for folder, _, names in os.walk(self._folder(student)):
            for name in sorted(names):
                about = os.lstat(os.path.join(folder, name))
                found.append((folder, name, about.st_size, about.st_mtime_ns, about.st_ino))
        return tuple(sorted(found))


def _kept(items: Iterable[Any], done: dict[str, SubmissionVerdict]) -> Iterator[Any]:
    """Yield the outcomes of a grading, and keep the new verdicts in `done`."""
    for student, outcome in items:
        if isinstance(outcome, SubmissionVerdict):
            done[student] = outcome
        yield student, outcome
