"""Where a class is graded: in this process, in a pool on this machine, or by Dask workers; and what these are given.

A worker imports the grader, with torch, only when it has work.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from autograder.grading.assignment import Assignment
from autograder.grading.cluster import dask, dask_here
from autograder.grading.pool_worker import begin
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.reading.submission import Parcel

P = ParamSpec("P")
T = TypeVar("T")
_FEW = 3  # so many submissions are graded sooner here than a pool is ready
_WORTH = 4  # so many times what the first submission took must be won by a pool
_CLUSTER_AHEAD = 256  # submissions under way on a cluster, whose size may change


@dataclass(frozen=True)
class Workers:
    """The choice of workers: so many processes here (None: one for each core), or a Dask cluster.

    `scheduler` is the address of one that runs; `dask_local` starts one here with so many workers.
    """

    count: int | None = None
    scheduler: str | None = None
    dask_local: int | None = None

    def for_class(self, size: int, assignment: Assignment) -> Crew:
        """The crew for a class of this size; where nothing is judged, only run, work begins in this process.

        What judging holds could bring a process down, and this one must not be: a worker's end costs one submission.
        """
        if self.scheduler is not None:
            address = self.scheduler
            return Crew(lambda: dask(address), _CLUSTER_AHEAD)
        if self.dask_local is not None:
            number = self.dask_local
            return Crew(lambda: dask_here(number), 2 * number)
        count = min(self.count or cores(), size)
        if count == 1 or (assignment.has_exercises and size <= _FEW):
            return Crew(lambda: contextlib.nullcontext(Here()), 1)
        if not assignment.has_exercises:
            return Crew(lambda: _growing(count, size), 2 * count, again=lambda: _pool(count))
        return Crew(lambda: _pool_for(assignment, count), 2 * count)


@dataclass(frozen=True)
class Crew:
    """How to open an executor, how many submissions to hand it at a time, and how to open one after one broke.

    Where `again` is None, that is done as the first time.
    """

    open: Callable[[], AbstractContextManager[Executor]]
    ahead: int
    again: Callable[[], AbstractContextManager[Executor]] | None = None


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


class Growing(Executor):
    """Does everything here, in this process, as long as a pool would not be done with the rest any sooner.

    What a pool of `count` workers takes before it is ready is told by the first submission of the `size`: each worker
    has to get ready what that one got ready here, and more. One that hardly helps only takes the machine from others.
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
        start, *others = self._took
        here = self._left * sum(others) / len(others)
        return here - here / self._count > _WORTH * start


def graded(assignment: Assignment, parcel: Parcel, seed: int) -> SubmissionVerdict:
    """The verdict on one submission: the same, wherever and in whatever order it is computed.

    Raises WorkFailed where students' code cannot be run here.
    """
    if assignment.parts:
        from autograder.grading.several import several_grader

        return several_grader(assignment).grade(parcel, seed)
    from autograder.grading.grader import grader

    return grader(assignment).grade(parcel, seed)


def worker_died(error: BaseException | None) -> bool:
    """Whether this is how an executor tells that a worker died with the work that it had."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"  # that is Dask's


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _pool_for(assignment: Assignment, count: int) -> AbstractContextManager[Executor]:
    """Workers that share one process to fork submissions from, where there are walls to fork them into."""
    if assignment.unconfined:
        return _pool(count)
    from autograder.grading.shared_pool import shared_pool

    return shared_pool(count)


@contextlib.contextmanager
def _growing(count: int, size: int) -> Iterator[Executor]:
    with contextlib.ExitStack() as stack:
        yield Growing(lambda: stack.enter_context(_pool(count)), count, size)


@contextlib.contextmanager
def _pool(count: int) -> Iterator[Executor]:
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
