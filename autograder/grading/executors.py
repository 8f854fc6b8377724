"""Where a class is graded: in this process, in a pool on this machine, or by Dask workers; and what these are given.

A worker imports this module first, and the grader, with torch, only when it has work.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from autograder.grading.assignment import Assignment
from autograder.grading.cluster import dask, dask_here
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.reading.submission import Parcel
from autograder.startup import spare_grammar

P = ParamSpec("P")
T = TypeVar("T")
_FEW = 3  # so many submissions are graded sooner here than a pool is ready
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
        """The crew for a class of this size."""
        if self.scheduler is not None:
            address = self.scheduler
            return Crew(lambda: dask(address), _CLUSTER_AHEAD)
        if self.dask_local is not None:
            number = self.dask_local
            return Crew(lambda: dask_here(number), 2 * number)
        count = min(self.count or cores(), size)
        if count == 1 or size <= _FEW:
            return Crew(lambda: contextlib.nullcontext(Here()), 1)
        return Crew(lambda: _pool_for(assignment, count), 2 * count)


@dataclass(frozen=True)
class Crew:
    """How to open an executor, again where one broke, and how many submissions to hand it at a time."""

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


def graded(assignment: Assignment, parcel: Parcel, seed: int) -> SubmissionVerdict:
    """The verdict on one submission: the same, wherever and in whatever order it is computed.

    Raises WorkFailed where students' code cannot be run here.
    """
    from autograder.grading.grader import grader

    return grader(assignment).grade(parcel, seed)


def worker_died(error: BaseException | None) -> bool:
    """Whether this is how an executor tells that a worker died with the work that it had."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"  # that is Dask's


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _pool_for(assignment: Assignment, count: int) -> AbstractContextManager[Executor]:
    """Workers that share one process to fork submissions from, where there is anything to fork."""
    if assignment.unconfined or not assignment.has_exercises:
        return _pool(count)
    from autograder.grading.shared_pool import shared_pool

    return shared_pool(count)


@contextlib.contextmanager
def _pool(count: int) -> Iterator[Executor]:
    """Processes of this machine; where the block is left by an exception, they are ended and not waited for."""
    others = set(multiprocessing.active_children())
    # Not by a fork server: it and the workers would outlive a killed run, each waiting for the other's end.
    executor = ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"), initializer=_begin)
    try:
        yield executor
    except BaseException:
        for worker in set(multiprocessing.active_children()) - others:
            worker.kill()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _begin() -> None:
    """What a worker does first: leave Ctrl-C to the process that started it, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    spare_grammar()
    if sys.platform == "linux":
        from autograder.walls.linux import die_with_parent

        die_with_parent()
