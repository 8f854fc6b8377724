"""The course folder as grading sees it: the chapter's grader, the released notebook, the verdict files."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.authoring.judge import Judge
from autograder.errors import CourseNotFound, WorkFailed
from autograder.files import write_all
from autograder.grading import inbox
from autograder.grading.engine import engine
from autograder.grading.grade import SubmissionVerdict, grade_read, new_seed, program
from autograder.grading.program import LIMITS, Engine, Limits, Outcome
from autograder.grading.submission import Submission, read, unreadable

SEED_VARIABLE = "PYTORCH_BASICS_SEED"


@dataclass(frozen=True)
class Grader:
    """All that grading the submissions of one chapter takes, loaded once for a run."""

    judge: Judge
    release: NotebookNode
    seed: int
    engine: Engine
    limits: Limits = LIMITS
    _ahead: dict[str, Future[dict[str, Outcome]]] = field(default_factory=dict)

    def grade(self, folder: Path) -> SubmissionVerdict:
        """Grade the notebook in a student's folder of `submitted/`; takes what `ahead` has run for it."""
        data, submission = self._read(folder)
        begun = self._ahead.pop(_place(folder, data), None)
        engine = self.engine if begun is None else lambda _program, _limits: begun.result()
        return grade_read(submission, data, self.judge, self.seed, engine, self.limits)

    @contextlib.contextmanager
    def ahead(self, folders: Iterable[Path]) -> Iterator[None]:
        """Run submissions in the background, one per core, while nbgrader records one after the other."""
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for folder in folders:
                # What cannot be read is told when its turn comes.
                with contextlib.suppress(OSError, WorkFailed):
                    inbox.place_notebook(folder, self.judge.chapter.stem, list(self.judge.chapter.exercises))
                    self._begin(pool, folder)
            try:
                yield
            finally:
                self._ahead.clear()
                pool.shutdown(cancel_futures=True)

    def _begin(self, pool: ThreadPoolExecutor, folder: Path) -> None:
        data, submission = self._read(folder)
        if submission.trouble is None:
            # Reading and judging stay in this thread: only waiting for processes is safe beside it.
            run_this = program(submission, self.judge, self.seed)
            self._ahead[_place(folder, data)] = pool.submit(self.engine, run_this, self.limits)

    def _read(self, folder: Path) -> tuple[bytes, Submission]:
        stem = self.judge.chapter.stem
        data, reason = inbox.handed_in(folder / f"{stem}.ipynb")
        submission = unreadable(reason, self.release) if reason else read(data, self.release)
        notes = inbox.notes(folder, stem, list(self.judge.chapter.exercises))
        return data, replace(submission, repairs=(*notes, *submission.repairs))


def _place(folder: Path, data: bytes) -> str:
    """A submission's place and content in one word."""
    return f"{folder.resolve()} {hashlib.sha256(data).hexdigest()}"


def grader(course: Path, stem: str) -> Grader:
    """The grader of a chapter: one seed and one set of reference results for a run, until files change."""
    paths = (
        course / "chapters" / f"{stem}.py",
        course / "answers" / f"{stem}.py",
        release_path(course, stem),
    )
    stamps = tuple(path.stat().st_mtime_ns if path.is_file() else 0 for path in paths)
    return _grader(course.resolve(), stem, stamps, int(os.environ.get(SEED_VARIABLE, 0)))


@lru_cache(maxsize=8)
def _grader(course: Path, stem: str, stamps: tuple[int, ...], seed: int) -> Grader:
    return Grader(Judge(course, stem), released(course, stem), seed or new_seed(), engine(course))


def release_path(course: Path, stem: str) -> Path:
    """Where nbgrader keeps the notebook that students were given."""
    return course / "release" / stem / f"{stem}.ipynb"


def released(course: Path, stem: str) -> NotebookNode:
    """The notebook that students were given; raises CourseNotFound where it has not been built."""
    path = release_path(course, stem)
    if not path.is_file():
        raise CourseNotFound(f"expected the released notebook at {path}, found none. Run `make build`.")
    notebook: NotebookNode = nbformat.read(path, as_version=4)
    return notebook


# --- verdict files


def verdict_path(course: Path, stem: str, student: str) -> Path:
    """Where a student's verdict is kept."""
    return course / "verdicts" / stem / f"{student}.json"


def store(course: Path, student: str, verdict: SubmissionVerdict) -> None:
    """Write a verdict file in one step; raises WorkFailed, the old file untouched, where it cannot."""
    data = json.dumps(verdict.to_json(), indent=1).encode()
    write_all({verdict_path(course, verdict.assignment, student): data})


def stored(course: Path, stem: str, student: str) -> SubmissionVerdict | None:
    """The verdict of an earlier run; None where there is none that can be read."""
    try:
        return SubmissionVerdict.from_json(json.loads(verdict_path(course, stem, student).read_text()))
    except (OSError, ValueError, KeyError, TypeError):
        return None
