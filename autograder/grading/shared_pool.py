"""Workers of this machine that are forked from one warm process, and share it to fork submissions from."""

from __future__ import annotations

import contextlib
import queue
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, Pipe
from typing import ParamSpec, TypeVar

from autograder.sandbox.execution.fork_server import FORKS_BEFORE_LARGE_PAGES
from autograder.sandbox.execution.forked_children import WarmProcess

_MODULE = "autograder.grading.shared_server"
# What is asked of the shared process, or told: that all workers are there, for a class of few or of many.
WORKER, FEW, MANY, ENOUGH = b"worker", b"few", b"many", b"end"
P = ParamSpec("P")
T = TypeVar("T")
_SECONDS_TO_END = 10.0
_early: list[WarmProcess] = []


@contextlib.contextmanager
def begun_early() -> Iterator[None]:
    """Start the process for the pool that will be opened in this block, where much is imported before that."""
    process = WarmProcess(_MODULE)
    _early.append(process)
    try:
        yield
    finally:
        _early.clear()
        process.close()


@contextlib.contextmanager
def shared_pool(count: int, size: int = 0) -> Iterator[Executor]:
    """So many workers, for a class of this size; where the block is left by an exception, they are ended and not
    waited for.
    """
    early = _early.pop() if _early else None
    process = early if early and early.lives() else WarmProcess(_MODULE)
    threads = ThreadPoolExecutor(count)
    try:
        lines = [_worker(process.line) for _ in range(count)]
        with contextlib.suppress(OSError):  # that it has ended, the workers' lines will tell
            process.line.send(MANY if size > FORKS_BEFORE_LARGE_PAGES else FEW)
        yield _SharedPool(threads, lines)
        threads.shutdown(cancel_futures=True)
        _end(process, lines)
    finally:
        process.close()
        threads.shutdown(cancel_futures=True)


def _worker(line: socket.socket) -> Connection:
    """The line to a new worker."""
    ours, theirs = Pipe()
    with theirs:
        try:
            socket.send_fds(line, [WORKER], [theirs.fileno()])
        except OSError as error:
            raise BrokenExecutor("the process that the workers share has ended") from error
    return ours


def _end(process: WarmProcess, lines: list[Connection]) -> None:
    """Let idle workers end by themselves, so that the time they took is counted."""
    for line in lines:
        line.close()
    with contextlib.suppress(OSError):  # it has ended
        process.line.send(ENOUGH)
        process.wait(_SECONDS_TO_END)


class _SharedPool(Executor):
    """Hands work to whichever worker is free; a thread for each waits for what comes of it."""

    def __init__(self, threads: ThreadPoolExecutor, lines: list[Connection]) -> None:
        self._threads, self._free = threads, queue.SimpleQueue[Connection]()
        for line in lines:
            self._free.put(line)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a worker call the function, with copies of what it is given."""
        return self._threads.submit(self._done, fn, *args, **kwargs)

    def _done(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        line = self._free.get()
        try:
            line.send((fn, args, kwargs))
            result, error = line.recv()
        except (OSError, EOFError):
            raise BrokenExecutor("a worker has ended") from None
        finally:
            self._free.put(line)  # a broken one too: nobody may wait for it
        if error is not None:
            raise error
        found: T = result
        return found
