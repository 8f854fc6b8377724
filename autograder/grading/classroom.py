"""The course folder as grading sees it: the released notebook, what was handed in, the verdict files."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.authoring.judge import Judge
from autograder.errors import CourseNotFound
from autograder.exercises import load
from autograder.files import write_all
from autograder.grading.grade import SubmissionVerdict, grade_read, new_seed, program
from autograder.grading.handed import MAX_BYTES, UnreadableError, handed_cells
from autograder.grading.runner import LIMITS, Engine, Limits, Outcome, run
from autograder.grading.source import defines
from autograder.grading.submission import Submission, read, unreadable

SEED_VARIABLE = "PYTORCH_BASICS_SEED"


@dataclass(frozen=True)
class Grader:
    """All that grading the submissions of one chapter takes, loaded once for a run."""

    judge: Judge
    release: NotebookNode
    seed: int
    engine: Engine = run
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
                place_notebook(folder, self.judge.chapter.stem)
                data, submission = self._read(folder)
                if submission.trouble is None:
                    # Reading and judging stay in this thread: only waiting for processes is safe beside it.
                    run_this = program(submission, self.judge, self.seed)
                    self._ahead[_place(folder, data)] = pool.submit(self.engine, run_this, self.limits)
            try:
                yield
            finally:
                self._ahead.clear()
                pool.shutdown(cancel_futures=True)

    def _read(self, folder: Path) -> tuple[bytes, Submission]:
        stem = self.judge.chapter.stem
        data, reason = handed_in(folder / f"{stem}.ipynb")
        submission = unreadable(reason, self.release) if reason else read(data, self.release)
        renamed = other_name(folder, stem, data)
        if renamed is None:
            return data, submission
        note = f"handed in as {renamed!r}; a copy under the released name was graded"
        return data, replace(submission, repairs=(note, *submission.repairs))


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
    return Grader(Judge(course, stem), released(course, stem), seed or new_seed())


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


# --- what was handed in


def handed_in(path: Path) -> tuple[bytes, str]:
    """The bytes of a submitted file, at most one more than is read, and the reason why there are none."""
    try:
        # A link could lead to any file of the teacher's; a named pipe would never end.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return b"", "there is no such file in the submission."
    except OSError as error:
        return b"", f"it is no plain file that can be opened ({error.strerror}). Hand in the notebook itself."
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        return b"", "it is no plain file. Hand in the notebook itself."
    with open(fd, "rb") as file:
        return file.read(MAX_BYTES + 1), ""


def place_notebook(folder: Path, stem: str) -> Path | None:
    """The notebook to grade in a submission; one of another name (`ch01 (1).ipynb`) is copied there."""
    wanted = folder / f"{stem}.ipynb"
    if os.path.lexists(wanted):
        return wanted
    names = [exercise.name for exercise in load(stem)]
    paths = sorted(path for path in folder.glob("*.ipynb") if path.is_file() and not path.is_symlink())
    best = max(paths, key=lambda path: (_likeness(path, names), path.stat().st_mtime), default=None)
    if best is None:
        return None
    shutil.copyfile(best, wanted, follow_symlinks=False)
    return wanted


def _likeness(path: Path, exercises: list[str]) -> int:
    try:
        cells = handed_cells(handed_in(path)[0])
    except UnreadableError:
        return -1
    return sum(any(cell.grade_id == name or defines(cell.source, name) for cell in cells) for name in exercises)


def other_name(folder: Path, stem: str, data: bytes) -> str | None:
    """The name under which a notebook was handed in, where the released name is only our copy of it."""
    for path in sorted(folder.glob("*.ipynb")):
        if path.name != f"{stem}.ipynb" and data and handed_in(path)[0] == data:
            return path.name
    return None


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
