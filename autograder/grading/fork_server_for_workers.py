"""The process from which a pool's workers and the child of each submission are forked, so that torch is imported once.

    python -P -m autograder.grading.fork_server_for_workers FD

FD is a socket to the process that grades a class. A message that asks for a worker carries a descriptor: over it the
worker receives functions with their arguments, and returns results. Workers end with this process. It is the fork
server of all of them. Solutions, answer banks and submissions are only in the memory of workers, never in this
process, from which students' code is forked.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import sys
import time
from multiprocessing.connection import Connection

from autograder.errors import WorkFailed
from autograder.faster_startup import block_slow_imports, collect_garbage_rarely, import_requests_lazily
from autograder.grading.forked_worker_pool import ENOUGH, FEW, MANY, WORKER
from autograder.pipe_messages import redirect_to_null
from autograder.sandbox.execution.choose_runner import ALWAYS_PRELOADED
from autograder.sandbox.execution.fork_server import ForkServer, remove_own_folder
from autograder.sandbox.execution.fork_server_client import use_shared_server
from autograder.sandbox.linux_calls import end_when_parent_ends, use_large_pages

_SECONDS_TO_END_TOO = 0.5  # much longer than the system needs to end the children of a process that has ended


class WorkerForkServer:
    """Forks the workers of the process that grades a class, and is the fork server of each worker."""

    def __init__(self, line: socket.socket) -> None:

        self._line, self._server, self._workers = line, ForkServer(), list[int]()
        self._server.listen(line.fileno(), self._on_message)

    def serve(self) -> None:
        """Serve until the class is graded, or the process that grades it has ended."""
        self._server.serve()

    def _on_message(self) -> None:
        message, descriptors, _, _ = socket.recv_fds(self._line, len(WORKER), 1)
        if descriptors:
            self._fork(*descriptors)
            return
        if message in (FEW, MANY):
            self._import_for_children(large=message == MANY)
            return
        if message == ENOUGH:  # the workers end by themselves; the system counts their computing time at this wait
            for worker in self._workers:
                os.waitpid(worker, 0)
        remove_own_folder()
        os._exit(0)

    def _import_for_children(self, large: bool) -> None:
        """Import the modules that submissions need, while the workers prepare: before the fork it would delay them."""
        for name in ALWAYS_PRELOADED:
            importlib.import_module(name)
        if large:
            use_large_pages()

    def _fork(self, work: int) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server, worker = os.getpid(), os.fork()
        if worker:
            os.close(work)
            theirs.close()
            self._server.add(ours)
            self._workers.append(worker)
            return
        end_when_parent_ends()
        if os.getppid() != server:
            os._exit(1)
        ours.close()
        self._line.close()
        self._server.close_grader_sockets()
        use_shared_server(theirs)
        try:
            _work(Connection(work))
        finally:
            os._exit(0)  # a normal exit first tears down thousands of modules, which takes seconds


def _work(line: Connection) -> None:
    """Call each function that arrives and send its result back, until the connection is closed."""
    import torch

    block_slow_imports()
    sys.dont_write_bytecode = False  # later runs read the byte code of the course's files
    torch.set_num_threads(1)
    with contextlib.suppress(EOFError):
        while True:
            function, args, kwargs = line.recv()
            try:
                result, error = function(*args, **kwargs), None
            except Exception as raised:
                result, error = None, raised
                if isinstance(raised, WorkFailed):
                    # Perhaps the shared process is ending. Then the system ends this worker during the sleep, before
                    # it answers, and another worker gets the work.
                    time.sleep(_SECONDS_TO_END_TOO)
            line.send((result, error))


if __name__ == "__main__":
    redirect_to_null(0)
    collect_garbage_rarely()
    import_requests_lazily()
    WorkerForkServer(socket.socket(fileno=int(sys.argv[1]))).serve()
