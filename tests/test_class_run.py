"""Grading a class: only changed work is graded, a failing worker costs one student, and results are the same."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from typing import TypeVar

import nbformat
import pytest
from nbformat.v4 import new_notebook

from autograder.errors import WorkFailed
from autograder.grading import class_grading, class_text_table, grading_executors, verdict_store
from autograder.grading.assignment import Assignment, relative_chapter_path, release_path
from autograder.grading.assignment import read_assignment as read_assignment
from autograder.grading.assignment_grader import Grader
from autograder.grading.class_grading import grade_changed_submissions, grade_class
from autograder.grading.grading_executors import WorkerOptions
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.grading.verdict_paths import verdict_path
from autograder.grading.verdict_store import GradingRoundOptions
from autograder.sandbox.execution.child_process_management import register_child
from autograder.submission.submission import SubmittedFiles
from tests import hasty_grader
from tests.conftest import UNCONFINED, needs_confinement
from tests.processes import all_end, living_in
from tests.sample_course import STEM, make_course

ONE, TWO = WorkerOptions(count=1), WorkerOptions(count=2)
SHARED = WorkerOptions(count=2)  # workers that share a process, for an assignment with exercises
Class = Callable[..., dict[str, Path]]
T = TypeVar("T")


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_grading, "grade_one", hasty_grader.graded)
    monkeypatch.delenv(verdict_store.SEED_VARIABLE, raising=False)


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    """Return an assignment with only a released notebook and an empty chapter, graded without a sandbox."""
    path = release_path(tmp_path, STEM)
    path.parent.mkdir(parents=True)
    nbformat.write(new_notebook(), path)
    return Assignment(STEM, str(tmp_path), True, "grader", "digest", {relative_chapter_path(STEM): b""}, b"")


@pytest.fixture
def walled(assignment: Assignment) -> Assignment:
    """Return the assignment with the sandbox if available, whose workers share a warm process."""
    return replace(assignment, unconfined=UNCONFINED)


@pytest.fixture
def hand_in(tmp_path: Path) -> Class:
    """Return a function that hands in a text for each student and returns all students' folders."""

    def handed(**texts: str) -> dict[str, Path]:
        for student, text in texts.items():
            folder = tmp_path / "submitted" / student / STEM
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{STEM}.ipynb").write_text(text)
        return {path.parent.name: path for path in sorted((tmp_path / "submitted").glob(f"*/{STEM}"))}

    return handed


def told(tmp_path: Path, student: str) -> str:
    """Return the submitted text that the stored verdict quotes."""
    found = verdict_store.read_verdict(tmp_path, STEM, student)
    assert found is not None
    return found.reports[0].verdicts[0].sentence


def told_of(run: Iterable[tuple[str, SubmissionVerdict | str]]) -> dict[str, str]:
    """Return for each student why there is no verdict, or ""."""
    return {student: outcome if isinstance(outcome, str) else "" for student, outcome in run}


def seeds(tmp_path: Path, *students: str) -> list[int]:
    """Return the seeds of the students' stored verdicts."""
    found = [verdict_store.read_verdict(tmp_path, STEM, student) for student in students]
    return [verdict.seed for verdict in found if verdict]


@pytest.mark.parametrize("workers", [ONE, TWO, SHARED], ids=["here", "pool", "shared"])
def test_everybody_gets_a_verdict_or_a_reason(
    tmp_path: Path, request: pytest.FixtureRequest, hand_in: Class, workers: WorkerOptions
) -> None:
    """A submission on which the grader fails gets a reason, and the others are graded."""
    assignment: Assignment = request.getfixturevalue("walled" if workers is SHARED else "assignment")
    folders = hand_in(ada="a", bob="bug", cy="fail", dan="d", eve="e")

    reasons = told_of(grade_class(assignment, folders, workers))

    assert {"ada": "", "dan": "", "eve": ""} == {student: why for student, why in reasons.items() if not why}
    assert "no room" == reasons["cy"] and "KeyError: 'ours'" in reasons["bob"] and "our fault" in reasons["bob"]
    assert ["a", "d", "e"] == [told(tmp_path, student) for student in ("ada", "dan", "eve")]
    assert verdict_store.read_verdict(tmp_path, STEM, "bob") is None


@pytest.mark.parametrize("workers", [TWO, SHARED, WorkerOptions(dask_local=2)], ids=["pool", "shared", "Dask"])
@pytest.mark.night
def test_submission_that_kills_its_worker_costs_itself(
    tmp_path: Path, request: pytest.FixtureRequest, hand_in: Class, workers: WorkerOptions
) -> None:
    """If a worker dies, its submissions are graded again alone, and only the one that kills it gets a reason."""
    assignment: Assignment = request.getfixturevalue("walled" if workers is SHARED else "assignment")
    folders = hand_in(ada="a", bob="kill", cy="c", dan="d", eve="e")

    reasons = told_of(grade_class(assignment, folders, workers))

    assert {"bob"} == {student for student, why in reasons.items() if why} and "died" in reasons["bob"]
    assert ["a", "c", "d", "e"] == [told(tmp_path, student) for student in ("ada", "cy", "dan", "eve")]


@needs_confinement
@pytest.mark.night
def test_submission_that_kills_what_the_workers_share_costs_itself(
    tmp_path: Path, walled: Assignment, hand_in: Class
) -> None:
    """If a submission kills the process that the workers share, new workers grade the others."""
    folders = hand_in(ada="a", bob="end all", cy="c", dan="d", eve="e")

    reasons = told_of(grade_class(walled, folders, SHARED))

    assert {"bob"} == {student for student, why in reasons.items() if why} and "died" in reasons["bob"]
    assert ["a", "c", "d", "e"] == [told(tmp_path, student) for student in ("ada", "cy", "dan", "eve")]


@needs_confinement
@pytest.mark.night
def test_shared_process_and_its_workers_are_gone_afterwards(
    tmp_path: Path, walled: Assignment, hand_in: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process is left after a run, whether it was finished or closed early."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folders = hand_in(ada="a", bob="b", cy="c", dan="d")
    stopped = grade_class(walled, folders, SHARED)
    next(stopped)
    assert 3 == len(living_in(tmp_path))

    stopped.close()
    assert all_end(tmp_path)
    list(grade_class(walled, folders, SHARED))
    assert all_end(tmp_path) and [] == list(tmp_path.glob("fork-server-*"))


@pytest.mark.parametrize("student", ["a" * 240, "b" * 255, ".round", ".hidden", os.fsdecode(b"no \xff text")])
def test_student_whose_name_no_file_can_have_costs_nobody_else(
    tmp_path: Path, assignment: Assignment, hand_in: Class, student: str
) -> None:
    """A student whose name is no valid file name gets a reason, and the others are graded."""
    reasons = told_of(grade_class(assignment, hand_in(**{student: "x", "ada": "a"}), ONE))

    assert "has a name" in reasons.pop(student) and {"ada": ""} == reasons
    assert "a" == told(tmp_path, "ada") and ["ada.json"] == [
        path.name for path in (tmp_path / "verdicts" / STEM).iterdir()
    ]


def test_round_that_was_stopped_is_no_student(tmp_path: Path, assignment: Assignment, hand_in: Class) -> None:
    """The file of an unfinished round is not listed as a student."""
    list(grade_class(assignment, hand_in(ada="a"), ONE))
    verdict_store.begin_grading_round(tmp_path, assignment, GradingRoundOptions(force=True))

    assert ["ada"] == [row.student for row in class_text_table.class_rows(tmp_path, STEM)]


def test_workers_that_never_live_stop_the_run(assignment: Assignment, hand_in: Class) -> None:
    """If every worker dies before anything is graded, the run stops with one error."""
    folders = hand_in(**dict.fromkeys(("ada", "bob", "cy", "dan"), "kill"))

    with pytest.raises(WorkFailed, match="before anything is graded"):
        list(grade_class(assignment, folders, TWO))


class TestAgain:
    """A second run of grading."""

    def test_does_what_changed_and_nothing_else(self, tmp_path: Path, assignment: Assignment, hand_in: Class) -> None:
        """A changed submission is graded again, and the verdict of an unchanged one is not rewritten."""
        list(grade_class(assignment, hand_in(ada="a", bob="b"), ONE))
        before = [verdict_path(tmp_path, STEM, "bob").stat().st_mtime_ns, *seeds(tmp_path, "bob")]
        assert {"ada": "", "bob": ""} == told_of(grade_class(assignment, hand_in(ada="better"), ONE))

        after = [verdict_path(tmp_path, STEM, "bob").stat().st_mtime_ns, *seeds(tmp_path, "bob")]
        assert before == after and "better" == told(tmp_path, "ada")

    def test_does_all_when_the_chapter_changed(self, tmp_path: Path, assignment: Assignment, hand_in: Class) -> None:
        """A changed chapter has another key, so that all are graded again."""
        folders = hand_in(ada="a", bob="b")
        list(grade_class(assignment, folders, ONE))
        before = seeds(tmp_path, "ada", "bob")
        list(grade_class(Assignment(STEM, str(tmp_path), False, "grader", "other", {}, b""), folders, ONE))

        assert not set(before) & set(seeds(tmp_path, "ada", "bob"))

    def test_draws_new_cases_when_forced(self, tmp_path: Path, assignment: Assignment, hand_in: Class) -> None:
        """`force` grades all again with one new seed."""
        folders = hand_in(ada="a", bob="b")
        list(grade_class(assignment, folders, ONE))
        first = seeds(tmp_path, "ada", "bob")
        list(grade_class(assignment, folders, ONE, force=True))
        second = seeds(tmp_path, "ada", "bob")

        assert 1 == len(set(first)) == len(set(second)) and first != second

    def test_goes_on_where_it_was_stopped(self, tmp_path: Path, assignment: Assignment, hand_in: Class) -> None:
        """A stopped run keeps its verdicts, and continues with the same seed."""
        folders = hand_in(ada="a", bob="b", cy="c")
        run = grade_class(assignment, folders, ONE)
        stopped_after = next(run)
        run.close()
        assert {"ada": ""} == told_of([stopped_after]) and [] == seeds(tmp_path, "bob", "cy")
        list(grade_class(assignment, folders, ONE))

        assert 1 == len(set(seeds(tmp_path, "ada", "bob", "cy")))

    def test_workers_are_ended_by_who_stops(
        self, assignment: Assignment, hand_in: Class, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Closing the run ends its workers at once, in the closing thread, even if a reference to them remains."""
        ended: list[threading.Thread] = []

        @contextmanager
        def crew() -> Iterator[grading_executors.InProcessExecutor]:
            try:
                yield grading_executors.InProcessExecutor()
            finally:
                ended.append(threading.current_thread())

        held, outcomes = [], class_grading._outcomes
        monkeypatch.setattr(WorkerOptions, "for_class", lambda *_: grading_executors.ExecutorOpener(crew, 1))
        monkeypatch.setattr(class_grading, "_outcomes", lambda *about: held.append(outcomes(*about)) or held[-1])
        run = grade_class(assignment, hand_in(ada="a", bob="b"), ONE)
        next(run)
        assert not ended
        run.close()

        assert [threading.current_thread()] == ended

    def test_next_round_has_a_seed_of_its_own(self, tmp_path: Path, assignment: Assignment, hand_in: Class) -> None:
        """A new submission after a finished round gets another seed, because feedback has shown the old cases."""
        list(grade_class(assignment, hand_in(ada="a"), ONE))
        before = seeds(tmp_path, "ada")
        list(grade_class(assignment, hand_in(ada="b"), ONE))

        assert before != seeds(tmp_path, "ada")

    def test_seed_by_name_is_obeyed(
        self, tmp_path: Path, assignment: Assignment, hand_in: Class, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A seed from the environment replaces verdicts with another seed."""
        folders = hand_in(ada="a")
        list(grade_class(assignment, folders, ONE))
        monkeypatch.setenv(verdict_store.SEED_VARIABLE, "41")
        list(grade_class(assignment, folders, ONE))

        assert [41] == seeds(tmp_path, "ada")

    def test_damaged_verdict_file_is_made_again(self, tmp_path: Path, assignment: Assignment, hand_in: Class) -> None:
        """A truncated verdict file is replaced."""
        folders = hand_in(ada="a")
        list(grade_class(assignment, folders, ONE))
        path = verdict_path(tmp_path, STEM, "ada")
        path.write_bytes(path.read_bytes()[:100])
        list(grade_class(assignment, folders, ONE))

        assert "a" == told(tmp_path, "ada")


@pytest.mark.parametrize("workers", [ONE, TWO, SHARED], ids=["here", "pool", "shared"])
@pytest.mark.night
def test_full_disk_stops_the_run_with_one_line(
    tmp_path: Path,
    request: pytest.FixtureRequest,
    hand_in: Class,
    monkeypatch: pytest.MonkeyPatch,
    workers: WorkerOptions,
) -> None:
    """A full disk stops the run with an error, keeps the finished verdicts, and a later run continues."""
    assignment: Assignment = request.getfixturevalue("walled" if workers is SHARED else "assignment")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folders = hand_in(ada="a", bob="b", cy="c", dan="d")

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    run = grade_class(assignment, folders, workers)
    first, _ = next(run)
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(WorkFailed, match="No space left"):
            list(run)
    assert [first] == [student for student in folders if seeds(tmp_path, student)]
    assert folders[first].joinpath(f"{STEM}.ipynb").read_text() == told(tmp_path, first)
    assert all_end(tmp_path)

    assert dict.fromkeys(folders, "") == told_of(grade_class(assignment, folders, workers))


def test_other_chapters_and_other_files_have_other_keys(assignment: Assignment) -> None:
    """A verdict's key depends on everything that can change the verdict."""
    parcels = [
        SubmittedFiles(b"a"),
        SubmittedFiles(b"b"),
        SubmittedFiles(b"a", notes=("handed in as 'x'",)),
        SubmittedFiles(b"a", eye=("handed in as 'x'",)),
        SubmittedFiles(b"", trouble="no file"),
    ]

    assert len(parcels) == len(set(map(assignment.key, parcels)))


def test_worker_of_another_version_grades_nothing(assignment: Assignment) -> None:
    """A worker with another version of the package or of torch refuses to grade."""
    with pytest.raises(WorkFailed, match="another version"):
        Grader(assignment)


def test_size_of_the_crew(assignment: Assignment) -> None:
    """There are at most as many workers as cores and work, and a few submissions are graded in this process.

    With a sandbox, only a process that stays alive grades in itself; others start workers, which would import torch
    anyway.
    """
    assert (
        1 == WorkerOptions().for_class(2, assignment).ahead == WorkerOptions(count=1).for_class(1000, assignment).ahead
    )
    assert 8 == WorkerOptions(count=4).for_class(1000, assignment).ahead
    assert 256 == WorkerOptions(scheduler="tcp://x").for_class(5, assignment).ahead
    walled = replace(assignment, unconfined=False)
    assert (
        2 == WorkerOptions(count=1).for_class(1000, walled).ahead == WorkerOptions(count=4).for_class(1, walled).ahead
    )
    assert 1 == WorkerOptions(count=1, stays=True).for_class(1, walled).ahead


class Clock:
    """A simulated clock that only `work` moves forward."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    def work(self, seconds: float) -> float:
        """Take this many seconds."""
        self.now += seconds
        return seconds


@pytest.mark.parametrize(
    ("seconds", "in_pool"),
    [
        pytest.param([1, 0.1, 0.1, 0.1, 0.1, 0.1], 0, id="small"),
        pytest.param([1, 5, 5, 5, 5, 5], 4, id="slow"),
        pytest.param([6, 5, 5, 5, 5, 5], 4, id="slow from the first on"),
        pytest.param([2, 0.1, 0.1, 40, 40, 40, 40, 40], 4, id="slow later"),
    ],
)
def test_pool_is_opened_where_it_will_be_sooner(seconds: list[float], in_pool: int) -> None:
    """A pool is opened only if the remaining work takes longer than starting one."""
    clock, handed = Clock(), list[float]()

    class Pool(grading_executors.InProcessExecutor):
        def submit(self, fn: Callable[..., T], /, *args: float, **_: object) -> Future[T]:
            handed.extend(args)
            return super().submit(fn, *args)

    crew = grading_executors.AdaptiveExecutor(Pool, 2, len(seconds), clock)
    took = [crew.submit(clock.work, each).result() for each in seconds]

    assert seconds == took and in_pool == len(handed)


def waits_for_a_process(started: list[int]) -> int:
    """Start a process that does not end by itself, and return its exit code."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    started.append(process.pid)
    return register_child(process).wait()


def test_what_is_done_at_once_ends_where_the_run_ends() -> None:
    """Ctrl-C kills the processes that threads wait for, and cancels work that has not begun."""
    started, futures = list[int](), list[Future[int]]()

    def stopped_half_way() -> None:
        with grading_executors.thread_pool(2) as executor:
            futures.extend(executor.submit(waits_for_a_process, started) for _ in range(4))
            while len(started) < 2:
                time.sleep(0.01)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped_half_way()

    assert 2 == len(started) and [True] * 2 == [each.cancelled() for each in futures[2:]]
    assert {-signal.SIGKILL} == {each.result() for each in futures[:2]}


def kind_of_worker(_: int) -> tuple[int, str]:
    """Return the process id, and the entry of a module that workers do not import."""
    return os.getpid(), repr(sys.modules.get("rfc3987_syntax", "not looked for"))


@pytest.mark.night
def test_worker_spares_itself_what_takes_seconds_to_import(assignment: Assignment) -> None:
    """A worker blocks the slow import of the grammar of web addresses."""
    with WorkerOptions(count=2).for_class(9, assignment).open() as pool:
        process, found = pool.submit(kind_of_worker, 1).result()

    assert "None" == found and os.getpid() != process


def test_worker_without_the_course_folder_makes_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker without the course folder writes a temporary one from the assignment, and removes it."""
    course = make_course(tmp_path / "course")
    release = release_path(course, STEM)
    release.parent.mkdir(parents=True)
    copyfile(course / "source" / STEM / f"{STEM}.ipynb", release)
    sent = read_assignment(course, STEM, unconfined=UNCONFINED)
    (tmp_path / "course").rename(tmp_path / "elsewhere")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    made = Grader(sent)
    names, left = made.judge.chapter.exercises, list(tmp_path.glob("chapter-*"))
    del made
    gc.collect()

    assert names and 1 == len(left) and [] == list(tmp_path.glob("chapter-*"))


def test_what_was_looked_at_before_is_what_comes(tmp_path: Path, assignment: Assignment, hand_in: Class) -> None:
    """A preview stores only its seed, and the next grading gives exactly the previewed verdicts."""
    folders = hand_in(ada="a", bob="bug")
    looked = [
        dict(grade_changed_submissions(assignment, folders, ONE, GradingRoundOptions(force=True, preview=True)))
        for _ in range(2)
    ]
    ada = [each["ada"] for each in looked]

    assert isinstance(ada[0], SubmissionVerdict) and ada[0] == ada[1] and "our fault" in str(looked[0]["bob"])
    assert [] == seeds(tmp_path, "ada") and [] == list((tmp_path / "verdicts").rglob("[!.]*.json"))

    list(grade_class(assignment, folders, ONE, force=True))
    assert [ada[0].seed] == seeds(tmp_path, "ada")
    assert "" == dict(grade_changed_submissions(assignment, folders, ONE, GradingRoundOptions(preview=True)))["ada"]

    list(grade_class(assignment, folders, ONE, force=True))
    assert [ada[0].seed] != seeds(tmp_path, "ada")
