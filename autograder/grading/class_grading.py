"""Grade a class: each submission that has changed, on the workers of an executor, and store each verdict at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import closing
from pathlib import Path

from autograder.errors import CourseError, WorkFailed
from autograder.grading import verdict_store
from autograder.grading.assignment import Assignment, released_starters
from autograder.grading.grading_executors import ExecutorOpener, WorkerOptions, grade_one, is_worker_death
from autograder.grading.merge_regraded_verdicts import RegradeOptions
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.grading.verdict_store import GradingRoundOptions
from autograder.submission import read_student_folder
from autograder.submission.read_multi_notebook_submission import read_multi_notebook_folder
from autograder.submission.submission import SubmittedFiles

_ENOUGH = 3  # deaths of workers before the first verdict, after which grading stops: no submission is the cause
_DIED = "the process that graded it died, and again when it graded nothing else. Please report this submission."
_NONE_LIVES = (
    "the processes that grade die before anything is graded. Nothing was lost. Is there enough memory? "
    "`autograder doctor` says what else is missing."
)


def return_verdict_as_is(verdict: SubmissionVerdict) -> SubmissionVerdict:
    """Return the verdict unchanged."""
    return verdict


def grade_class(
    assignment: Assignment,
    folders: Mapping[str, Path],
    workers: WorkerOptions,
    force: bool = False,
    scored: Callable[[SubmissionVerdict], SubmissionVerdict] = return_verdict_as_is,
    again: RegradeOptions = RegradeOptions(),  # noqa: B008  (a value)
) -> Generator[tuple[str, SubmissionVerdict | str], None, None]:
    """Grade each student's folder in `submitted/` whose verdict file is missing or outdated, and store the verdicts.

    Yields each student with the new verdict, after it is stored, "" if the stored verdict is current, or the reason why
    there is none. An interrupted run continues at the next call; `force` grades every folder again. `scored` adds the
    points of test cells, which only nbgrader can score; if it raises WorkFailed, its message is the result. `again`
    says which reports of an earlier verdict stay. Raises WorkFailed if nothing can be graded or stored. Close the
    generator if you stop early: otherwise the garbage collector closes it, perhaps in a thread of the worker pool,
    which then would have to end itself.
    """
    course = Path(assignment.course)
    with closing(
        grade_changed_submissions(assignment, folders, workers, GradingRoundOptions(force), scored, again)
    ) as outcomes:
        for student, outcome in outcomes:
            if isinstance(outcome, SubmissionVerdict):
                verdict_store.store_unrecorded_verdict(course, student, outcome)
            yield student, outcome
    verdict_store.end_grading_round(course, assignment.stem)


def grade_changed_submissions(
    assignment: Assignment,
    folders: Mapping[str, Path],
    workers: WorkerOptions,
    asked: GradingRoundOptions,
    scored: Callable[[SubmissionVerdict], SubmissionVerdict] = return_verdict_as_is,
    again: RegradeOptions = RegradeOptions(),  # noqa: B008  (a value)
) -> Generator[tuple[str, SubmissionVerdict | str], None, None]:
    """Yield each student with the new verdict, "" if the stored verdict is current, or the reason why there is none.

    It stores only the seed, so that a grading after a preview draws the same cases.
    """
    course = Path(assignment.course)
    changed: list[str] = []
    for student, folder in folders.items():
        reason = _why_not_again(assignment, student, folder, asked.force)
        if reason is None:
            changed.append(student)
        else:
            yield student, reason
    if not changed:
        return
    seed = verdict_store.begin_grading_round(course, assignment, asked)

    def submit(executor: Executor, student: str) -> Future[SubmissionVerdict]:
        return executor.submit(grade_one, assignment, read_student_files(assignment, folders[student]), seed)

    with closing(_outcomes(changed, submit, workers.for_class(len(changed), assignment))) as outcomes:
        for student, outcome in outcomes:
            if isinstance(outcome, SubmissionVerdict):
                outcome = _scored(outcome, scored)
            if isinstance(outcome, SubmissionVerdict):
                outcome = again.merge_verdicts(verdict_store.read_verdict(course, assignment.stem, student), outcome)
            yield student, outcome


def _scored(
    verdict: SubmissionVerdict, scored: Callable[[SubmissionVerdict], SubmissionVerdict]
) -> SubmissionVerdict | str:
    """Return the verdict with all its points, or the reason why it cannot be scored."""
    try:
        return scored(verdict)
    except WorkFailed as error:
        return str(error)


def read_student_files(assignment: Assignment, folder: Path) -> SubmittedFiles:
    """Read a student's folder; raise WorkFailed if it contains no notebook, or none that may be read."""
    if assignment.parts:
        return read_multi_notebook_folder(folder, list(assignment.notebooks))
    return read_student_folder.read_student_folder(
        folder, assignment.stem, released_starters(Path(assignment.course), assignment.stem)
    )


def _why_not_again(assignment: Assignment, student: str, folder: Path, force: bool) -> str | None:
    """Return None if a submission has to be graded, "" if its verdict is current, or why it cannot be graded."""
    try:
        return "" if not force and _is_current(assignment, student, folder) else None
    except WorkFailed as error:
        return str(error)


def _is_current(assignment: Assignment, student: str, folder: Path) -> bool:
    verdict = verdict_store.read_verdict(Path(assignment.course), assignment.stem, student)
    if verdict is None or not verdict_store.is_seed_allowed(verdict.seed):
        return False
    return verdict.key == assignment.key(read_student_files(assignment, folder))


_Submit = Callable[[Executor, str], Future[SubmissionVerdict]]


def _outcomes(
    students: list[str], submit: _Submit, crew: ExecutorOpener
) -> Generator[tuple[str, SubmissionVerdict | str], None, None]:
    """Yield the verdict on each student, or the reason why there is none, in the order of completion.

    If a worker dies, the submissions that were under way are graded again one by one, which shows whose file killed it.
    """
    left, suspects = deque(students), deque[str]()
    anything_done, deaths = False, 0
    while left or suspects:
        alone = bool(suspects)
        turn = _Turn(deque([suspects.popleft()]) if alone else left, 1 if alone else crew.ahead)
        try:
            with crew.open() as executor:
                for student, future in turn.completed(submit, executor):
                    anything_done = True
                    yield student, _outcome(future)
        except BrokenExecutor:
            if not alone:
                suspects.extend(turn.under_way.values())
                continue
            deaths += 1
            if deaths == _ENOUGH and not anything_done:
                raise WorkFailed(_NONE_LIVES) from None
            yield next(iter((*turn.under_way.values(), *turn.queue))), _DIED


class _Turn:
    """A queue of students, submitted to one executor with at most `ahead` of them under way."""

    def __init__(self, queue: deque[str], ahead: int) -> None:
        self.queue, self._ahead = queue, ahead
        self.under_way: dict[Future[SubmissionVerdict], str] = {}

    def completed(self, submit: _Submit, executor: Executor) -> Iterator[tuple[str, Future[SubmissionVerdict]]]:
        """Yield each student whose future is done; raise BrokenExecutor and leave the lost students in `under_way`."""
        while self.queue or self.under_way:
            while self.queue and len(self.under_way) < self._ahead and not any(map(Future.done, self.under_way)):
                future = _submitted(submit, executor, self.queue[0])
                self.under_way[future] = self.queue.popleft()
            done, _ = wait(self.under_way, return_when=FIRST_COMPLETED)
            for future in done:
                if not future.cancelled() and is_worker_death(future.exception()):
                    raise BrokenExecutor
                yield self.under_way.pop(future), future


def _submitted(submit: _Submit, executor: Executor, student: str) -> Future[SubmissionVerdict]:
    """Submit one student; if the folder cannot be read any more, return a future with that error."""
    try:
        return submit(executor, student)
    except WorkFailed as error:
        failed: Future[SubmissionVerdict] = Future()
        failed.set_exception(error)
        return failed


def _outcome(future: Future[SubmissionVerdict]) -> SubmissionVerdict | str:
    try:
        return future.result()
    except CancelledError:
        raise WorkFailed("the cluster let go of the work. What was graded is kept: run the command again.") from None
    except CourseError as error:
        return str(error)
    except Exception as error:  # a fault of the grader costs no points, and does not stop the others
        return f"the grader failed with {type(error).__name__}: {error}. This is our fault: please report it."
