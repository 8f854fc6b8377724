"""An executor whose workers are forked from one process that has imported torch; it forks submissions' children too."""

from __future__ import annotations

import contextlib
import queue
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, Pipe
from typing import ParamSpec, TypeVar

from autograder.sandbox.execution.fork_server import FORKS_BEFORE_LARGE_PAGES
from autograder.sandbox.execution.fork_server_client import PreloadedProcess

_MODULE = "autograder.grading.fork_server_for_workers"
# Messages to the shared process: fork a worker; all are forked, for a class that is small or large; the class is done.
WORKER, FEW, MANY, ENOUGH = b"worker", b"few", b"many", b"end"
P = ParamSpec("P")
T = TypeVar("T")
_SECONDS_TO_END = 10.0
_early: list[PreloadedProcess] = []


@contextlib.contextmanager
def start_shared_process_early() -> Iterator[None]:
    """Start the shared process early, for the pool that the block opens after slow imports of its own."""
    process = PreloadedProcess(_MODULE)
    _early.append(process)
    try:
        yield
    finally:
        _early.clear()
        process.close()


@contextlib.contextmanager
def forked_pool(count: int, size: int = 0) -> Iterator[Executor]:
    """Yield a pool of `count` workers for a class of `size`. If the block raises, end them without waiting."""
    early = _early.pop() if _early else None
    process = early if early and early.lives() else PreloadedProcess(_MODULE)
    threads = ThreadPoolExecutor(count)
    try:
        lines = [_worker(process.line) for _ in range(count)]
        with contextlib.suppress(OSError):  # if the process has ended, the connections to the workers raise next
            process.line.send(MANY if size > FORKS_BEFORE_LARGE_PAGES else FEW)
        yield _SharedPool(threads, lines)
        threads.shutdown(cancel_futures=True)
        _end(process, lines)
    finally:
        process.close()
        threads.shutdown(cancel_futures=True)


def _worker(line: socket.socket) -> Connection:
    """Have the shared process fork a worker, and return the connection to it."""
    ours, theirs = Pipe()
    with theirs:
        try:
            socket.send_fds(line, [WORKER], [theirs.fileno()])
        except OSError as error:
            raise BrokenExecutor("the process that the workers share has ended") from error
    return ours


def _end(process: PreloadedProcess, lines: list[Connection]) -> None:
    """Let idle workers end by themselves, so that the system counts their computing time for this process."""
    for line in lines:
        line.close()
    with contextlib.suppress(OSError):  # the process has ended already
        process.line.send(ENOUGH)
        process.wait(_SECONDS_TO_END)


class _SharedPool(Executor):
    """An executor that sends each call to a free worker; a thread per worker waits for the result."""

    def __init__(self, threads: ThreadPoolExecutor, lines: list[Connection]) -> None:
        self._threads, self._free = threads, queue.SimpleQueue[Connection]()
        for line in lines:
            self._free.put(line)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a worker call the function with copies of the arguments."""
        return self._threads.submit(self._done, fn, *args, **kwargs)

    def _done(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        line = self._free.get()
        try:
            line.send((fn, args, kwargs))
            result, error = line.recv()
        except (OSError, EOFError):
            raise BrokenExecutor("a worker has ended") from None
        finally:
            self._free.put(line)  # a broken one too: otherwise another thread would wait for it for ever
        if error is not None:
            raise error
        found: T = result
        return found
