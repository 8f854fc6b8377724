"""Where a class is graded: in this process, in a pool on this machine, or by Dask workers; and what these are given.

A worker imports the grader, with torch, only when it has work; where nothing is judged, nobody does.
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
from autograder.grading.dask_cluster import dask, dask_here
from autograder.grading.pool_worker import begin
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.sandbox.execution.child_process import kill_children
from autograder.submission.submission import StudentFiles

P = ParamSpec("P")
T = TypeVar("T")
_FEW = 3  # so many submissions are graded sooner here than a pool is ready
_WORTH = 4  # so many times what it takes to get ready must be won by doing several at once
_SOON = 0.05  # seconds
_CLUSTER_AHEAD = 256  # submissions under way on a cluster, whose size may change


@dataclass(frozen=True)
class Workers:
    """The choice of workers: so many processes here (None: one for each core), or a Dask cluster.

    `scheduler` is the address of one that runs; `dask_local` starts one here with so many workers. Where this process
    `stays`, to grade again and again, it grades few submissions itself, and has all ready for the next ones.
    """

    count: int | None = None
    scheduler: str | None = None
    dask_local: int | None = None
    stays: bool = False

    def for_class(self, size: int, assignment: Assignment) -> Crew:
        """The crew for a class of this size; where nothing is judged, only run, all work is done in this process.

        What judging holds could bring a process down, and this one must not be: a worker's end costs one submission.
        """
        if self.scheduler is not None:
            address = self.scheduler
            return Crew(lambda: dask(address), _CLUSTER_AHEAD)
        if self.dask_local is not None:
            number = self.dask_local
            return Crew(lambda: dask_here(number), 2 * number)
        count = min(self.count or cores(), size)
        if assignment.has_exercises and self._has_pool(count, size, assignment):
            return Crew(lambda: _pool_for(assignment, count, size), 2 * count)
        if assignment.has_exercises or count == 1:
            return Crew(lambda: contextlib.nullcontext(Here()), 1)
        return Crew(lambda: _growing(count, size), 2 * count)

    def _has_pool(self, count: int, size: int, assignment: Assignment) -> bool:
        """Whether exercises are judged in a pool. A shared one, though of one worker, imports torch only once."""
        is_shared = not assignment.unconfined and not self.stays
        return is_shared or (count > 1 and size > _FEW)


@dataclass(frozen=True)
class Crew:
    """How to open an executor, and how many submissions to hand it at a time."""

    open: Callable[[], AbstractContextManager[Executor]]
    ahead: int


class Here(Executor):
    """Does everything at once, in this process."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call the function now."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class AtOnce(Executor):
    """Does several things at once, in threads of this process: for work that mostly waits for other processes."""

    def __init__(self, count: int) -> None:
        self._threads, self._given = ThreadPoolExecutor(count), WeakSet[Future[Any]]()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call the function as soon as a thread is free."""
        future = self._threads.submit(fn, *args, **kwargs)
        self._given.add(future)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Begin nothing new; with `wait`, be done with what has begun."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)

    def stop(self) -> None:
        """End what is under way now, by ending the processes that it waits for."""
        self.shutdown(wait=False, cancel_futures=True)
        while not all(future.done() for future in list(self._given)):
            kill_children()
            time.sleep(_SOON)


class Growing(Executor):
    """Does one thing after the other here, as long as several at once would not be done with the rest any sooner.

    What it takes before that is ready is told by the first submission of the `size`, which took so much longer than the
    next: each of the `count` has to get ready what it got ready. One that hardly helps only takes the machine from
    others.
    """

    def __init__(
        self,
        pool: Callable[[], Executor],
        count: int,
        size: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open, self._count, self._left, self._now = pool, count, size, now
        self._here, self._took = Here(), list[float]()
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


def graded(assignment: Assignment, parcel: StudentFiles, seed: int) -> SubmissionVerdict:
    """The verdict on one submission: the same, wherever and in whatever order it is computed.

    Raises WorkFailed where students' code cannot be run here.
    """
    if assignment.parts:
        from autograder.grading.multi_notebook_grader import several_grader

        return several_grader(assignment).grade(parcel, seed)
    from autograder.grading.grader import grader

    return grader(assignment).grade(parcel, seed)


def worker_died(error: BaseException | None) -> bool:
    """Whether this is how an executor tells that a worker died with the work that it had."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"  # that is Dask's


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _pool_for(assignment: Assignment, count: int, size: int) -> AbstractContextManager[Executor]:
    """Workers that share one process to fork submissions from, where there are walls to fork them into."""
    if assignment.unconfined:
        return pool(count)
    from autograder.grading.shared_pool import shared_pool

    return shared_pool(count, size)


@contextlib.contextmanager
def _growing(count: int, size: int) -> Iterator[Executor]:
    with contextlib.ExitStack() as stack:
        yield Growing(lambda: stack.enter_context(at_once(count)), count, size)


@contextlib.contextmanager
def at_once(count: int) -> Iterator[Executor]:
    """So many threads; where the block is left by an exception, what they wait for is ended."""
    executor = AtOnce(count)
    try:
        yield executor
    except BaseException:
        executor.stop()
        raise
    finally:
        executor.shutdown()


@contextlib.contextmanager
def pool(count: int) -> Iterator[Executor]:
    """Processes of this machine; where the block is left by an exception, they are ended and not waited for."""
    others = set(multiprocessing.active_children())
    # Not by a fork server: it and the workers would outlive a killed run, each waiting for the other's end.
    executor = ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"), initializer=begin)
    try:
        yield executor
    except BaseException:
        for worker in set(multiprocessing.active_children()) - others:
            worker.kill()
        raise
    finally:
        executor.shutdown(cancel_futures=True)
