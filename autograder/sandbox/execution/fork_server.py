"""The fork server: one warm process that has a chapter ready, and forks a confined child for each submission.

    python -P -m autograder.sandbox.execution.fork_server FD

FD is a socket to the grader, a line; several graders may each have one. A grader first says what its programs stand
on, and later names the cases of its class, with a file that holds them. For each child it sends a quota and three
descriptors: where the child reads its program, where it writes its frames, and where the grader is told how it ended;
then a byte, when the child is to go. This process has read no worked solution, no answer bank and no submission, and
each child may know the cases: nothing in its memory is a secret.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course.course_location import EXERCISES, open_to_answers
from autograder.errors import WorkFailed
from autograder.pipe_messages import READY, Frame, discard, send
from autograder.process_startup import collect_rarely
from autograder.sandbox.confine import Quota, Walls
from autograder.sandbox.execution.notebook_child import ReadyNotebook
from autograder.sandbox.execution.preload import made_ready
from autograder.sandbox.execution.program import Ground
from autograder.sandbox.linux_calls import use_large_pages
from autograder.sandbox.root_filesystem import Room, move_in
from autograder.sandbox.seccomp_filter import compiled
from autograder.sandbox.self_test import trouble

if TYPE_CHECKING:
    from autograder.sandbox.execution.packed_cases import Cases
    from autograder.sandbox.execution.submission_child import ReadyChapter

MESSAGE_BYTES = 2**17
HOME = "fork-server-"  # so begins the name of the folder that such a process lives in
_GRACE = 0.2  # seconds
FORKS_WORTH_IT = 20  # children: for more it is worth a second to make each fork quicker


def main(line: socket.socket) -> None:
    """Serve one grader until it closes its line."""
    discard(0)
    server = Server()
    server.add(line)
    server.serve()


def _warm_up(ready: ReadyChapter | ReadyNotebook, modules: list[str]) -> None:
    """Import what submissions would import late, and keep the pages of what is there shared with all children."""
    for name in modules:
        with contextlib.suppress(Exception):  # what cannot be imported alone is not needed early
            importlib.import_module(name)
    if isinstance(ready, ReadyNotebook):
        ready.warm_up()
    gc.freeze()


def _room(ground: Ground, hidden: list[str]) -> Room:
    package = Path(__file__).resolve().parents[2]
    return Room.of_this_python(package, *open_to_answers(Path(ground.course)), hidden=tuple(map(Path, hidden)))


def _lessons(ground: Ground) -> list[Path]:
    """What lessons import; exercises are there before the first fork."""
    return [path for path in open_to_answers(Path(ground.course)) if path.name != EXERCISES]


class _Line:
    """The line of one grader, and what it has of this process: a child at a time, by its first process's number."""

    def __init__(self, line: socket.socket) -> None:
        self.socket = line
        self.begun = False
        self.first: int | None = None
        self.cases: tuple[str, Cases] | None = None  # by the name that their bytes have


class Server:
    """Forks children for whoever holds the other end of a line, one at a time for each; nobody waits for another's."""

    def __init__(self) -> None:
        self._rules = compiled()
        self._poll = select.poll()
        self._does: dict[int, Callable[[], None]] = {}
        self._lines: list[_Line] = []
        self._endings: dict[int, tuple[_Line, float]] = {}  # by their handle: whose it was, and how long it may take
        self._ready: ReadyChapter | ReadyNotebook | None = None
        self._start: dict[str, Any] = {}
        self._trouble: str | None = None
        self._forked = 0

    def add(self, line: socket.socket) -> None:
        """Serve this line as well."""
        served = _Line(line)
        self._lines.append(served)
        self.listen(line.fileno(), lambda: self._heard(served))

    def listen(self, descriptor: int, do: Callable[[], None]) -> None:
        """Do this whenever something comes from a descriptor."""
        self._poll.register(descriptor, select.POLLIN)
        self._does[descriptor] = do

    def forget(self, descriptor: int) -> None:
        """Listen to it no longer."""
        self._poll.unregister(descriptor)
        del self._does[descriptor]

    def serve(self) -> None:
        """Answer until nobody is listened to."""
        while self._does:
            for descriptor, _ in self._poll.poll(_GRACE * 1000 if self._endings else None):
                if descriptor in self._does:
                    self._does[descriptor]()
            late = [handle for handle, (_, until) in self._endings.items() if time.monotonic() > until]
            for handle in late:
                self._ended(handle)

    def close_lines(self) -> None:
        """Close this process's ends: for a fork of it that is no server."""
        for line in self._lines:
            line.socket.close()

    def _heard(self, line: _Line) -> None:
        """Do what a grader asks for; whatever goes wrong with it costs its own line."""
        try:
            message, descriptors, _, _ = socket.recv_fds(line.socket, MESSAGE_BYTES, 3)
            if not message:
                self._drop(line)
            elif not line.begun:
                line.socket.send(json.dumps(self._begin(line, json.loads(message))).encode())
            elif descriptors:
                self._do(line, json.loads(message), descriptors)
            else:
                self._end(line)
        except OSError as error:
            print(f"a line broke: {error}", file=sys.stderr, flush=True)
            self._drop(line)

    def _drop(self, line: _Line) -> None:
        """Forget a grader that has ended, and kill its child."""
        self.forget(line.socket.fileno())
        line.socket.close()
        self._lines.remove(line)
        for handle in [handle for handle, (whose, _) in self._endings.items() if whose is line]:
            self._ended(handle)
        if line.first is not None:
            _kill(line.first)

    def _begin(self, line: _Line, start: dict[str, Any]) -> dict[str, Any]:
        """Make ready what a grader's programs stand on, which is the same for all lines; what is told of it."""
        ground = Ground(**start["ground"])
        try:
            if self._ready is None:
                self._ready, self._room = made_ready(ground), _room(ground, start["hidden"])
                self._start = {"ground": asdict(ground), "hidden": start["hidden"]}
                _warm_up(self._ready, start["modules"])
                self._trouble = trouble(Walls(self._room, Quota(), self._rules), _lessons(ground))
        except WorkFailed as error:
            return {"problem": str(error)}
        if self._start != {"ground": asdict(ground), "hidden": start["hidden"]}:
            return {"problem": "it is ready for another chapter"}
        if self._trouble is not None:
            return {"problem": self._trouble or "a submission could not be confined"}
        line.begun = True
        return {"ready": True}

    def _do(self, line: _Line, asked: dict[str, Any], descriptors: list[int]) -> None:
        """Read cases, or fork a child with this quota."""
        if "cases" in asked:
            self._learn(line, asked["cases"], *descriptors)
        else:
            self._give(line, asked, descriptors)

    def _learn(self, line: _Line, name: str, file: int) -> None:
        """Read the cases of a grader's class, unless another grader of that class has told them."""
        from autograder.sandbox.execution.packed_cases import unpacked  # with torch

        with open(file, "rb") as packed:
            packed.seek(0)
            known = (each.cases for each in self._lines if each.cases and each.cases[0] == name)
            line.cases = next(known, None) or (name, unpacked(packed.read()))
        gc.freeze()
        line.socket.send(b"known")

    def _give(self, line: _Line, quota: dict[str, Any], descriptors: list[int]) -> None:
        """Fork a child for a grader."""
        self._forked += 1
        if self._forked == FORKS_WORTH_IT:
            use_large_pages()
        try:
            line.first = self._fork(line, Quota(**quota), *descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        line.socket.send(str(line.first).encode())

    def _fork(self, line: _Line, quota: Quota, source: int, sink: int, status: int) -> int:
        ready = self._ready
        assert ready is not None

        def inner() -> None:
            discard(1)
            move_in()
            send(sink, Frame({"stage": READY}))
            if isinstance(ready, ReadyNotebook):
                ready.serve(source, sink)
            else:
                ready.serve(source, sink, line.cases[1] if line.cases else None)

        return Walls(self._room, quota, self._rules).fork(inner, status, keep=(source, sink))

    def _end(self, line: _Line) -> None:
        """Let a child end, with everything in its namespaces; one that goes on is killed.

        One that has answered ends by itself. The kernel forgets how long a killed one has computed.
        """
        assert line.first is not None
        handle = os.pidfd_open(line.first)
        self._endings[handle] = line, time.monotonic() + _GRACE
        self.listen(handle, lambda: self._ended(handle))

    def _ended(self, handle: int) -> None:
        """Wait for a child that has ended, or now has to, and tell whose it was."""
        line, _ = self._endings.pop(handle)
        self.forget(handle)
        os.close(handle)
        assert line.first is not None
        _kill(line.first)
        line.first = None
        with contextlib.suppress(OSError):  # it has gone too, and is found out by its line
            line.socket.send(b"ended")


def _kill(first: int) -> None:
    """End a child: with number 1 of its namespace, the kernel ends all that is in there before this one is gone."""
    os.kill(first, signal.SIGKILL)  # until it is waited for, its number is its own
    os.waitpid(first, 0)


def leave_nothing() -> None:
    """Remove the folder that this process lives in: who made it does that, too, unless it was killed."""
    home = Path.cwd()
    if home.name.startswith(HOME):
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    collect_rarely()
    main(socket.socket(fileno=int(sys.argv[1])))
    leave_nothing()
