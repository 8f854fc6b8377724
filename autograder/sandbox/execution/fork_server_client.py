"""The grader's side of the fork server: start such servers, and get confined children from them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.pipe_messages import READY, FrameError, receive_frame
from autograder.sandbox.execution.child_process_management import (
    ENDED_EARLY,
    child_environment,
    child_failure,
    cpu_seconds,
    register_child,
)
from autograder.sandbox.execution.fork_server import FOLDER_PREFIX, MESSAGE_BYTES
from autograder.sandbox.execution.run_specification import Limits, Program
from autograder.sandbox.namespace_confinement import WAIT_STATUS_FORMAT, Quota

SERVER_COMMAND_PREFIX: tuple[str, ...] = ()  # the command that starts a server; tests start them as in a container
_SPARE_SECONDS = 30  # of CPU time, in addition to what the exercises may take


_shared: list[socket.socket] = []  # at most one socket to a fork server that also serves other processes


def use_shared_server(line: socket.socket) -> None:
    """Make this process get its children for exercises from a fork server that other processes use too.

    `line` is the socket to that server. If the connection breaks, this process starts a fork server of its own.
    """
    _shared.append(line)


class ForkServerPool:
    """A pool of fork servers for one chapter: as many as are needed at the same time, kept for later submissions.

    An instance is called to get a child (the type `Children`). The modules that `modules()` returns when a server
    starts are imported before its first fork. Confined code does not see `hidden` folders.
    """

    def __init__(self, modules: Callable[[], tuple[str, ...]] = tuple, hidden: tuple[Path, ...] = ()) -> None:
        self._modules, self._hidden = modules, hidden
        self._idle: queue.SimpleQueue[_ForkServer] = queue.SimpleQueue()

    @contextlib.contextmanager
    def __call__(self, program: Program, limits: Limits) -> Iterator[_Forked]:
        """Provide a child for a program of the chapter."""
        server = self._server(program, limits)
        try:
            with server.child(program, limits) as child:
                yield child
        except BaseException:
            server.close()
            raise
        self._idle.put(server)

    def _server(self, program: Program, limits: Limits) -> _ForkServer:
        while True:
            try:
                server = self._idle.get_nowait()
            except queue.Empty:
                return self._started_server(program, limits)
            if server.ground == program.ground and server.lives():
                return server
            server.close()

    def _started_server(self, program: Program, limits: Limits) -> _ForkServer:
        is_shared = bool(_shared) and not program.ground.whole  # the shared server has not prepared whole notebooks
        process = None if is_shared else PreloadedProcess("autograder.sandbox.execution.fork_server")
        line = _shared.pop() if process is None else process.line
        return _ForkServer(line, process, program, limits, self._modules(), self._hidden)


class PreloadedProcess:
    """A process that imports slow modules once, and then serves requests that arrive on a socket (`line`)."""

    def __init__(self, module: str) -> None:
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        home = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
        # Where root grades without namespaces, submissions run as other users, whose scratch folders lie in this one.
        home.chmod(0o711)
        self.complaints = home / "stderr"
        self.complaints.touch(mode=0o600)
        self._processes: list[subprocess.Popen[bytes]] = []
        # Before the process starts, since Ctrl-C may come while it does. When the socket is closed, the process ends.
        self.close = weakref.finalize(self, _close, self.line, self._processes, home)
        with theirs, self.complaints.open("wb") as complaints:
            process = subprocess.Popen(
                [*SERVER_COMMAND_PREFIX, sys.executable, "-m", module, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                cwd=home,
                env=child_environment(home),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._processes.append(register_child(process))

    def lives(self) -> bool:
        """Return whether the process still runs: one that waited long may have been killed from outside."""
        return self._processes[0].poll() is None

    def wait(self, within: float) -> None:
        """Wait until the process ends by itself, at most `within` seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._processes[0].wait(within)


class _ForkServer:
    """The socket to one fork server, and its process, unless other processes use that server too."""

    def __init__(
        self,
        line: socket.socket,
        process: PreloadedProcess | None,
        program: Program,
        limits: Limits,
        modules: tuple[str, ...],
        hidden: tuple[Path, ...],
    ) -> None:
        self.ground, self._line, self._process = program.ground, line, process
        self._sent_cases = b""  # packed
        start = {"ground": asdict(program.ground), "modules": modules}
        self._line.settimeout(limits.start_seconds)
        try:
            self._line.send(json.dumps(start | {"hidden": [str(path) for path in hidden]}).encode())
            answer = json.loads(self._line.recv(MESSAGE_BYTES) or json.dumps({"problem": ENDED_EARLY}))
        except OSError as error:
            answer = {"problem": str(error)}
        if "problem" in answer:
            raise self._failed(f"did not start: {answer['problem']}")

    def lives(self) -> bool:
        """Return whether the process still runs. For a shared one, assume so: graders that share it end with it."""
        return self._process is None or self._process.lives()

    def close(self) -> None:
        """End the process; of a shared one, close only the connection."""
        self._line.close()
        if self._process is not None:
            self._process.close()

    def _failed(self, what: str) -> WorkFailed:
        complaints = self._process.complaints if self._process else Path(os.devnull)
        error = child_failure(what, complaints, "Run `autograder doctor` to see what is missing here.")
        self.close()
        return error

    @contextlib.contextmanager
    def child(self, program: Program, limits: Limits) -> Iterator[_Forked]:
        """Provide a confined child; afterwards it and everything that it started have ended."""
        seconds = sum(step.seconds for step in program.steps) * limits.time_factor
        quota = Quota(cpu_seconds=int(seconds) + _SPARE_SECONDS)
        (theirs_in, to), (source, theirs_out), (status, theirs_status) = os.pipe(), os.pipe(), os.pipe()
        theirs, ours = [theirs_in, theirs_out, theirs_status], [to, source, status]
        try:
            with _all_closed(ours):
                self._send_cases(program)
                with _all_closed(theirs):
                    socket.send_fds(self._line, [json.dumps(asdict(quota)).encode()], theirs)
                first = int(self._line.recv(MESSAGE_BYTES))
                self._wait_until_confined(source, limits)
                yield _Forked(to, source, status, first, knows_cases=bool(program.cases))
            self._line.send(b".")
            self._line.recv(MESSAGE_BYTES)
        except (OSError, ValueError) as error:
            raise self._failed(f"ended while it ran a submission: {error}") from error

    def _send_cases(self, program: Program) -> None:
        """Send the cases to the fork server, unless it has them: its children then need not read them."""
        if not program.cases:
            return
        from autograder.sandbox.execution.packed_cases import pack_cases  # imports torch

        data = pack_cases(program.cases)
        if data is not self._sent_cases:
            with open(os.memfd_create("cases"), "wb") as file:
                file.write(data)
                file.flush()
                request = {"cases": hashlib.sha256(data).hexdigest()}
                socket.send_fds(self._line, [json.dumps(request).encode()], [file.fileno()])
            self._line.recv(MESSAGE_BYTES)
            self._sent_cases = data

    def _wait_until_confined(self, source: int, limits: Limits) -> None:
        """Wait until the child is ready for a program. Raises WorkFailed if it fails before any student's code ran."""
        try:
            frame = receive_frame(source, time.monotonic() + limits.start_seconds, limits.message_bytes)
        except (OSError, FrameError) as error:
            raise self._failed(f"could not be confined: {error}") from error
        if frame is None or frame.head.get("stage") != READY:
            raise self._failed("could not be confined")


class _Forked:
    """The grader's side of one forked child."""

    def __init__(self, to: int, source: int, status: int, first: int, *, knows_cases: bool) -> None:
        self.to, self.source, self._status, self._first = to, source, status, first
        self.knows_cases = knows_cases

    def cpu_seconds(self) -> float:
        """Return the CPU time of the inner process in seconds, or 0 if it has ended."""
        try:
            return cpu_seconds(_only_child(self._first))
        except (OSError, IndexError):
            return 0.0

    def ended(self, within: float) -> int | None:
        """Return the child's wait status; None if it has not ended within `within` seconds."""
        ready, _, _ = select.select([self._status], [], [], within)
        status = os.read(self._status, WAIT_STATUS_FORMAT.size) if ready else b""
        return int(WAIT_STATUS_FORMAT.unpack(status)[0]) if len(status) == WAIT_STATUS_FORMAT.size else None


def _only_child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


@contextlib.contextmanager
def _all_closed(descriptors: list[int]) -> Iterator[None]:
    """Close the descriptors at the end of the block."""
    try:
        yield
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _close(line: socket.socket, begun: list[subprocess.Popen[bytes]], home: Path) -> None:
    line.close()
    for process in begun:
        process.kill()
        process.wait()
    shutil.rmtree(home, ignore_errors=True)
