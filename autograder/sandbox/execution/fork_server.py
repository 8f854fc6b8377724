"""The fork server: a warm process that has prepared a chapter, and forks a confined child for each submission.

    python -P -m autograder.sandbox.execution.fork_server FD

FD is a socket to the grader, a "line"; several graders may each have one. A grader first sends the chapters and the
setup cell that its programs need. Later it may send a file with the cases of all exercises. For each child it sends a
quota and three descriptors: where the child reads its program, where it writes its frames, and where its wait status
goes. When the grader needs the child no longer, it sends one byte.

This process has read no worked solution, no answer bank and no submission, and every child may know the cases: so its
memory, which each child gets a copy of, holds no secret.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import shutil
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course.course_location import EXERCISES, paths_readable_by_answers
from autograder.errors import WorkFailed
from autograder.faster_startup import collect_garbage_rarely
from autograder.pipe_messages import READY, Frame, redirect_to_null, send_frame
from autograder.sandbox.choose_confinement import choose_confinement
from autograder.sandbox.execution.preload_chapter import preload_chapter
from autograder.sandbox.execution.run_specification import SharedSetup
from autograder.sandbox.execution.whole_notebook_child import PreparedShell
from autograder.sandbox.linux_calls import use_large_pages
from autograder.sandbox.namespace_confinement import Confinement, Quota
from autograder.sandbox.root_filesystem import RootFilesystem, enter_home_folder

if TYPE_CHECKING:
    from autograder.sandbox.execution.packed_cases import Cases
    from autograder.sandbox.execution.submission_child import PreparedChapter

MESSAGE_BYTES = 2**17
FOLDER_PREFIX = "fork-server-"  # prefix of the temporary folder in which such a process works
_GRACE = 0.2  # seconds that a child gets to end by itself before it is killed
FORKS_BEFORE_LARGE_PAGES = (
    20  # from this number of children on, large pages are worth the second that they take to set up
)


def main(line: socket.socket) -> None:
    """Serve one grader until it closes its socket."""
    redirect_to_null(0)
    server = ForkServer()
    server.add(line)
    server.serve()


def _warm_up(ready: PreparedChapter | PreparedShell, modules: list[str]) -> None:
    """Import modules that submissions may need, and freeze the garbage collector.

    Frozen objects are not touched by the collector, so that children keep sharing their memory pages with this process.
    """
    for name in modules:
        with contextlib.suppress(Exception):  # a module that cannot be imported alone is not needed here
            importlib.import_module(name)
    if isinstance(ready, PreparedShell):
        ready.warm_up()
    gc.freeze()


def _room(ground: SharedSetup, hidden: list[str]) -> RootFilesystem:
    package = Path(__file__).resolve().parents[2]
    return RootFilesystem.for_this_interpreter(
        package, *paths_readable_by_answers(Path(ground.course)), hidden=tuple(map(Path, hidden))
    )


def _lessons(ground: SharedSetup) -> list[Path]:
    """Return the course's modules that lessons import, without its exercises, which are imported before any fork."""
    return [path for path in paths_readable_by_answers(Path(ground.course)) if path.name != EXERCISES]


class _Line:
    """The socket of one grader, and the state of the service for it."""

    def __init__(self, line: socket.socket) -> None:
        self.socket = line
        self.begun = False
        self.first: int | None = None  # the id of the first process of its child; it has one child at a time
        self.cases: tuple[str, Cases] | None = None  # with the digest of their bytes, which identifies them


class ForkServer:
    """Forks children for the graders at the other ends of its sockets: one child at a time for each grader.

    No grader waits for another one's child.
    """

    def __init__(self) -> None:
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[], None]] = {}
        self._lines: list[_Line] = []
        self._endings: dict[int, tuple[_Line, float]] = {}  # by pidfd of an ending child: its grader, and its deadline
        self._ready: PreparedChapter | PreparedShell | None = None
        self._start: dict[str, Any] = {}
        self._walls: Confinement | None = None
        self._trouble = ""
        self._forked = 0

    def add(self, line: socket.socket) -> None:
        """Serve one more grader, at the other end of this socket."""
        served = _Line(line)
        self._lines.append(served)
        self.listen(line.fileno(), lambda: self._handle_message(served))

    def listen(self, descriptor: int, handler: Callable[[], None]) -> None:
        """Call the handler whenever the descriptor can be read."""
        self._poll.register(descriptor, select.POLLIN)
        self._handlers[descriptor] = handler

    def stop_listening(self, descriptor: int) -> None:
        """Stop listening to the descriptor."""
        self._poll.unregister(descriptor)
        del self._handlers[descriptor]

    def serve(self) -> None:
        """Handle messages until no descriptor is left to listen to."""
        while self._handlers:
            for descriptor, _ in self._poll.poll(_GRACE * 1000 if self._endings else None):
                if descriptor in self._handlers:
                    self._handlers[descriptor]()
            late = [handle for handle, (_, until) in self._endings.items() if time.monotonic() > until]
            for handle in late:
                self._reap_child(handle)

    def close_grader_sockets(self) -> None:
        """Close this process's ends of all sockets; for a forked copy of it that is not a server."""
        for line in self._lines:
            line.socket.close()

    def _handle_message(self, line: _Line) -> None:
        """Handle one message from a grader. If its socket fails, drop this grader only."""
        try:
            message, descriptors, _, _ = socket.recv_fds(line.socket, MESSAGE_BYTES, 3)
            if not message:
                self._drop(line)
            elif not line.begun:
                line.socket.send(json.dumps(self._prepare(line, json.loads(message))).encode())
            elif descriptors:
                self._handle_request(line, json.loads(message), descriptors)
            else:
                self._end_child(line)
        except OSError as error:
            print(f"a line broke: {error}", file=sys.stderr, flush=True)
            self._drop(line)

    def _drop(self, line: _Line) -> None:
        """Forget a grader that has ended, and kill its child."""
        self.stop_listening(line.socket.fileno())
        line.socket.close()
        self._lines.remove(line)
        for handle in [handle for handle, (whose, _) in self._endings.items() if whose is line]:
            self._reap_child(handle)
        if line.first is not None and self._walls is not None:
            self._walls.end(line.first)

    def _prepare(self, line: _Line, start: dict[str, Any]) -> dict[str, Any]:
        """Prepare the chapters that a grader's programs need, and return the reply. All graders need the same ones."""
        ground = SharedSetup(**start["ground"])
        try:
            if self._ready is None:
                self._ready = preload_chapter(ground)
                self._start = {"ground": asdict(ground), "hidden": start["hidden"]}
                _warm_up(self._ready, start["modules"])
                choice = choose_confinement(_room(ground, start["hidden"]), _lessons(ground))
                self._walls, self._trouble = choice.walls, choice.reason
        except WorkFailed as error:
            return {"problem": str(error)}
        if self._start != {"ground": asdict(ground), "hidden": start["hidden"]}:
            return {"problem": "it is ready for another chapter"}
        if self._walls is None:
            return {"problem": self._trouble}
        line.begun = True
        return {"ready": True}

    def _handle_request(self, line: _Line, request: dict[str, Any], descriptors: list[int]) -> None:
        """Read cases, or fork a child with the requested quota."""
        if "cases" in request:
            self._read_cases(line, request["cases"], *descriptors)
        else:
            self._start_child(line, request, descriptors)

    def _read_cases(self, line: _Line, digest: str, file: int) -> None:
        """Read the cases that a grader needs from a file, unless another grader has sent the same ones."""
        from autograder.sandbox.execution.packed_cases import unpack_cases  # imports torch

        with open(file, "rb") as packed:
            packed.seek(0)
            known = (each.cases for each in self._lines if each.cases and each.cases[0] == digest)
            line.cases = next(known, None) or (digest, unpack_cases(packed.read()))
        gc.freeze()
        line.socket.send(b"known")

    def _start_child(self, line: _Line, quota: dict[str, Any], descriptors: list[int]) -> None:
        """Fork a child for a grader, and send the grader the id of its first process."""
        self._forked += 1
        if self._forked == FORKS_BEFORE_LARGE_PAGES:
            use_large_pages()
        try:
            line.first = self._fork(line, Quota(**quota), *descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        line.socket.send(str(line.first).encode())

    def _fork(self, line: _Line, quota: Quota, source: int, sink: int, status: int) -> int:
        ready = self._ready
        assert ready is not None and self._walls is not None

        def inner() -> None:
            redirect_to_null(1)
            enter_home_folder()
            send_frame(sink, Frame({"stage": READY}))
            if isinstance(ready, PreparedShell):
                ready.serve(source, sink)
            else:
                ready.serve(source, sink, line.cases[1] if line.cases else None)

        return replace(self._walls, quota=quota).fork(inner, status, keep=(source, sink))

    def _end_child(self, line: _Line) -> None:
        """Wait, without blocking, until a grader's child has ended; after the grace time, kill it.

        A child that has answered ends by itself. It is not killed at once, since the kernel would then lose count of
        the CPU time that it has used.
        """
        assert line.first is not None
        handle = os.pidfd_open(line.first)
        self._endings[handle] = line, time.monotonic() + _GRACE
        self.listen(handle, lambda: self._reap_child(handle))

    def _reap_child(self, handle: int) -> None:
        """Kill a child if it still runs, reap it, and tell its grader."""
        line, _ = self._endings.pop(handle)
        self.stop_listening(handle)
        os.close(handle)
        assert line.first is not None and self._walls is not None
        self._walls.end(line.first)
        line.first = None
        with contextlib.suppress(OSError):  # the grader has ended too; its closed socket is noticed later
            line.socket.send(b"ended")


def remove_own_folder() -> None:
    """Remove this process's working folder, in case the grader that created it was killed before it could."""
    home = Path.cwd()
    if home.name.startswith(FOLDER_PREFIX):
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    collect_garbage_rarely()
    main(socket.socket(fileno=int(sys.argv[1])))
    remove_own_folder()
