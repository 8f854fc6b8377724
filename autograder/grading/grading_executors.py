"""Executors for grading a class: this process, threads or worker processes of this machine, or Dask workers.

`graded` is the function that they call for each submission. A worker imports the grader, and torch with it, at its
first submission; for an assignment without exercises no process imports torch.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar
from weakref import WeakSet

from autograder.grading.assignment import Assignment
from autograder.grading.dask_cluster import dask_executor, local_dask_executor
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.grading.worker_initializer import prepare_worker_process
from autograder.sandbox.execution.child_process_management import kill_children
from autograder.submission.submission import SubmittedFiles

P = ParamSpec("P")
T = TypeVar("T")
_FEW = 3  # submissions that this process grades before a pool would be ready
_WORTH = 4  # a thread pool opens if it is expected to save this many times the time that its start costs
_SOON = 0.05  # seconds between two attempts to end the work of threads
_CLUSTER_AHEAD = 256  # submissions under way on a cluster at a time; its number of workers may change


@dataclass(frozen=True)
class WorkerOptions:
    """The choice of workers: `count` processes of this machine (None: one per core), or a Dask cluster.

    `scheduler` is the address of a running Dask scheduler; `dask_local` is the number of workers of a cluster to start
    here. `stays` means that this process grades again and again: it then grades a few submissions itself, so that its
    grader is ready for the next ones.
    """

    count: int | None = None
    scheduler: str | None = None
    dask_local: int | None = None
    stays: bool = False

    def for_class(self, size: int, assignment: Assignment) -> ExecutorOpener:
        """Return the crew for a class of `size` submissions.

        Without exercises nothing is judged, and this process does all work, perhaps in threads. Judging happens in
        workers if there is more than a little of it: observations could crash the process that judges them, and the
        death of a worker costs one submission only.
        """
        if self.scheduler is not None:
            address = self.scheduler
            return ExecutorOpener(lambda: dask_executor(address), _CLUSTER_AHEAD)
        if self.dask_local is not None:
            number = self.dask_local
            return ExecutorOpener(lambda: local_dask_executor(number), 2 * number)
        count = min(self.count or usable_cores(), size)
        if assignment.has_exercises and self._has_pool(count, size, assignment):
            return ExecutorOpener(lambda: _pool_for(assignment, count, size), 2 * count)
        if assignment.has_exercises or count == 1:
            return ExecutorOpener(lambda: contextlib.nullcontext(InProcessExecutor()), 1)
        return ExecutorOpener(lambda: _growing(count, size), 2 * count)

    def _has_pool(self, count: int, size: int, assignment: Assignment) -> bool:
        """Return whether a pool judges the exercises. A shared pool imports torch once, so one worker is worth it."""
        is_shared = not assignment.unconfined and not self.stays
        return is_shared or (count > 1 and size > _FEW)


@dataclass(frozen=True)
class ExecutorOpener:
    """A function that opens an executor, and how many submissions to have under way in it at a time."""

    open: Callable[[], AbstractContextManager[Executor]]
    ahead: int


class InProcessExecutor(Executor):
    """An executor that calls each function immediately, in the calling thread."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call the function now."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class ThreadExecutor(Executor):
    """An executor with threads of this process, for work that mostly waits for child processes."""

    def __init__(self, count: int) -> None:
        self._threads, self._given = ThreadPoolExecutor(count), WeakSet[Future[Any]]()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call the function as soon as a thread is free."""
        future = self._threads.submit(fn, *args, **kwargs)
        self._given.add(future)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more calls; with `wait`, return after all running calls have ended."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)

    def stop(self) -> None:
        """End the running calls by killing the child processes that they wait for."""
        self.shutdown(wait=False, cancel_futures=True)
        while not all(future.done() for future in list(self._given)):
            kill_children()
            time.sleep(_SOON)


class AdaptiveExecutor(Executor):
    """An executor that calls functions one by one, and opens a pool once that is expected to finish clearly sooner.

    The first of the `size` calls takes longer than the next ones by the time of preparation, which each of the `count`
    threads would need again. A pool that saves hardly any time would only take cores from other programs.
    """

    def __init__(
        self,
        pool: Callable[[], Executor],
        count: int,
        size: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open, self._count, self._left, self._now = pool, count, size, now
        self._here, self._took = InProcessExecutor(), list[float]()
        self._pool: Executor | None = None

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call the function now, or hand it to the pool."""
        if self._pool is None and self._pool_is_sooner():
            self._pool = self._open()
        if self._pool is not None:
            return self._pool.submit(fn, *args, **kwargs)
        begun = self._now()
        future = self._here.submit(fn, *args, **kwargs)
        self._took.append(self._now() - begun)
        self._left -= 1
        return future

    def _pool_is_sooner(self) -> bool:
        if len(self._took) < 2:
            return False
        first, *others = self._took
        each = sum(others) / len(others)
        here = self._left * each
        return here - here / self._count > _WORTH * max(first - each, 0)


def grade_one(assignment: Assignment, parcel: SubmittedFiles, seed: int) -> SubmissionVerdict:
    """Return the verdict on one submission; it depends on no other submission, nor on the machine.

    Raises WorkFailed if students' code cannot be run here.
    """
    if assignment.parts:
        from autograder.grading.multi_notebook_assignment_grader import get_multi_notebook_grader

        return get_multi_notebook_grader(assignment).grade(parcel, seed)
    from autograder.grading.assignment_grader import get_grader

    return get_grader(assignment).grade(parcel, seed)


def is_worker_death(error: BaseException | None) -> bool:
    """Return whether an executor raised this error because a worker died during its work."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"  # a class of Dask


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _pool_for(assignment: Assignment, count: int, size: int) -> AbstractContextManager[Executor]:
    """Open worker processes; with the sandbox, they share one warm process from which submissions are forked."""
    if assignment.unconfined:
        return process_pool(count)
    from autograder.grading.forked_worker_pool import forked_pool

    return forked_pool(count, size)


@contextlib.contextmanager
def _growing(count: int, size: int) -> Iterator[Executor]:
    with contextlib.ExitStack() as stack:
        yield AdaptiveExecutor(lambda: stack.enter_context(thread_pool(count)), count, size)


@contextlib.contextmanager
def thread_pool(count: int) -> Iterator[Executor]:
    """Yield a pool of `count` threads. If the block raises, kill the child processes that they wait for."""
    executor = ThreadExecutor(count)
    try:
        yield executor
    except BaseException:
        executor.stop()
        raise
    finally:
        executor.shutdown()


@contextlib.contextmanager
def process_pool(count: int) -> Iterator[Executor]:
    """Yield a pool of `count` processes of this machine. If the block raises, kill them without waiting."""
    others = set(multiprocessing.active_children())
    # No fork server: if this run were killed, it and the workers would stay, each waiting for the end of the other.
    executor = ProcessPoolExecutor(
        count, mp_context=multiprocessing.get_context("spawn"), initializer=prepare_worker_process
    )
    try:
        yield executor
    except BaseException:
        for worker in set(multiprocessing.active_children()) - others:
            worker.kill()
        raise
    finally:
        executor.shutdown(cancel_futures=True)
