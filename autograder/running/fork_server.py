"""The fork server: one warm process that has a chapter ready, and forks a confined child for each submission.

    python -P -m autograder.running.fork_server FD

FD is a socket to the grader. For each child it sends a quota and three descriptors: where the child reads its program,
where it writes its frames, and where the grader is told how it ended; then a byte, when the child is to go. This
process has read no worked solution, no answer bank and no submission: nothing in its memory is a secret.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import json
import os
import select
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.catalog.place import open_to_answers
from autograder.errors import WorkFailed
from autograder.frames import READY, Frame, discard, send
from autograder.recording.child import ReadyNotebook
from autograder.running.program import Ground
from autograder.running.stand_ins import STAND_INS
from autograder.walls.confine import Quota, Walls
from autograder.walls.linux import adopt_orphans, use_large_pages
from autograder.walls.room import Room
from autograder.walls.syscalls import compiled

if TYPE_CHECKING:
    from autograder.running.child import ReadyChapter

MESSAGE_BYTES = 2**17
_GRACE = 0.2  # seconds
_MANY = 20  # children, after which it looks worth a second to make each fork quicker


def main(line: socket.socket) -> None:
    """Make the chapter ready, and serve until the grader closes the line."""
    adopt_orphans()
    start = json.loads(line.recv(MESSAGE_BYTES))
    discard(0)
    try:
        ground = Ground(**start["ground"])
        ready = ReadyNotebook(ground.setup, STAND_INS) if ground.whole else _ready_chapter(ground)
        _warm_up(start["modules"])
    except WorkFailed as error:
        line.send(json.dumps({"problem": str(error)}).encode())
        return
    line.send(json.dumps({"ready": True}).encode())
    Server(ready, _room(ground, start["hidden"]), line).serve()


def _ready_chapter(ground: Ground) -> ReadyChapter:
    from autograder.running.child import ReadyChapter  # with torch, which other notebooks do without

    return ReadyChapter(ground)


def _warm_up(modules: list[str]) -> None:
    """Import what submissions would import late, and keep the pages of what is there shared with all children."""
    for name in modules:
        with contextlib.suppress(Exception):  # what cannot be imported alone is not needed early
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


def _room(ground: Ground, hidden: list[str]) -> Room:
    package = Path(__file__).resolve().parents[1]
    return Room.of_this_python(package, *open_to_answers(Path(ground.course)), hidden=tuple(map(Path, hidden)))


class Server:
    """Forks one child at a time."""

    def __init__(self, ready: ReadyChapter | ReadyNotebook, room: Room, line: socket.socket) -> None:
        self._ready, self._room, self._line = ready, room, line
        self._rules = compiled()

    def serve(self) -> None:
        """Answer until the line closes."""
        for number in itertools.count():
            message, descriptors, _, _ = socket.recv_fds(self._line, MESSAGE_BYTES, 3)
            if not message:
                return
            if number == _MANY:
                use_large_pages()
            first = self._fork(json.loads(message), *descriptors)
            self._line.send(str(first).encode())
            for descriptor in descriptors:
                os.close(descriptor)
            self._line.recv(1)  # the grader has seen enough, or has ended
            self._end(first)
            self._line.send(b"ended")

    def _fork(self, request: dict[str, Any], source: int, sink: int, status: int) -> int:
        def inner() -> None:
            discard(1)
            os.environ.update(HOME="/tmp/home", TMPDIR="/tmp/home", IPYTHONDIR="/tmp/home")
            os.makedirs("/tmp/home", exist_ok=True)
            os.chdir("/tmp/home")
            send(sink, Frame({"stage": READY}))
            self._ready.serve(source, sink)

        return Walls(self._room, Quota(**request), self._rules).fork(inner, status, keep=(source, sink))

    def _end(self, first: int) -> None:
        """Wait until a child has ended, with everything in its namespaces; one that goes on is killed."""
        handle = os.pidfd_open(first)
        # One that has answered ends by itself. The kernel forgets how long a killed one has computed.
        select.select([handle], [], [], _GRACE)
        os.close(handle)
        os.kill(first, signal.SIGKILL)  # until it is waited for, its number is its own
        while True:
            try:
                os.wait()
            except ChildProcessError:
                return


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
