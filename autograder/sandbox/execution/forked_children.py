"""Confined children for the grader, forked from warm processes: its end of `fork_server`."""

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
from autograder.pipe_messages import READY, FrameError, receive
from autograder.sandbox.confine import STATUS, Quota
from autograder.sandbox.execution.child_process import ENDED_EARLY, begun, cpu_seconds, environment, failed
from autograder.sandbox.execution.fork_server import HOME, MESSAGE_BYTES
from autograder.sandbox.execution.program import Limits, Program

_SPARE_SECONDS = 30  # of CPU time, beside what the exercises may take


_shared: list[socket.socket] = []


def share(line: socket.socket) -> None:
    """Let this process take children from a fork server that serves others too, and not start one for its exercises.

    Should that line break, it starts one after all.
    """
    _shared.append(line)


class ForkServers:
    """As many warm processes for one chapter as are wanted at once, kept for the next submission.

    Calling it is `Children`. What `modules` names when a process starts is imported before its first fork; `hidden`
    folders are kept out of sight.
    """

    def __init__(self, modules: Callable[[], tuple[str, ...]] = tuple, hidden: tuple[Path, ...] = ()) -> None:
        self._modules, self._hidden = modules, hidden
        self._idle: queue.SimpleQueue[_ForkServer] = queue.SimpleQueue()

    @contextlib.contextmanager
    def __call__(self, program: Program, limits: Limits) -> Iterator[_Forked]:
        """A child for a program of the chapter."""
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
                return self._begun(program, limits)
            if server.ground == program.ground and server.lives():
                return server
            server.close()

    def _begun(self, program: Program, limits: Limits) -> _ForkServer:
        is_shared = bool(_shared) and not program.ground.whole  # whole notebooks stand on another ground
        process = None if is_shared else WarmProcess("autograder.sandbox.execution.fork_server")
        line = _shared.pop() if process is None else process.line
        return _ForkServer(line, process, program, limits, self._modules(), self._hidden)


class WarmProcess:
    """A process that imports what is slow to import, and then does what it hears on its line."""

    def __init__(self, module: str) -> None:
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        home = Path(tempfile.mkdtemp(prefix=HOME))
        self.complaints = home / "stderr"
        self._begun: list[subprocess.Popen[bytes]] = []
        # From here on: Ctrl-C may come before the next line has ended. Without a line the process ends by itself.
        self.close = weakref.finalize(self, _close, self.line, self._begun, home)
        with theirs, self.complaints.open("wb") as complaints:
            process = subprocess.Popen(
                [sys.executable, "-m", module, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                cwd=home,
                env=environment(home),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._begun.append(begun(process))

    def lives(self) -> bool:
        """Whether it is still there: one that waited long may have been ended from outside."""
        return self._begun[0].poll() is None

    def wait(self, within: float) -> None:
        """Wait for it to end by itself, but no longer than so many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._begun[0].wait(within)


class _ForkServer:
    """The line to one warm process, and the process where no one else uses it."""

    def __init__(
        self,
        line: socket.socket,
        process: WarmProcess | None,
        program: Program,
        limits: Limits,
        modules: tuple[str, ...],
        hidden: tuple[Path, ...],
    ) -> None:
        self.ground, self._line, self._process = program.ground, line, process
        self._told = b""  # the cases that it has
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
        """Whether the process is still there; who grades with a shared one ends with it."""
        return self._process is None or self._process.lives()

    def close(self) -> None:
        """End the process, or leave a shared one to the others."""
        self._line.close()
        if self._process is not None:
            self._process.close()

    def _failed(self, what: str) -> WorkFailed:
        told = self._process.complaints if self._process else Path(os.devnull)
        error = failed(what, told, "Run `python -m autograder doctor` to see what is missing here.")
        self.close()
        return error

    @contextlib.contextmanager
    def child(self, program: Program, limits: Limits) -> Iterator[_Forked]:
        """A confined child, which is gone afterwards with all that it started."""
        seconds = sum(step.seconds for step in program.steps) * limits.time_factor
        quota = Quota(cpu_seconds=int(seconds) + _SPARE_SECONDS)
        (theirs_in, to), (source, theirs_out), (status, theirs_status) = os.pipe(), os.pipe(), os.pipe()
        theirs, ours = [theirs_in, theirs_out, theirs_status], [to, source, status]
        try:
            with _all_closed(ours):
                self._tell(program)
                with _all_closed(theirs):
                    socket.send_fds(self._line, [json.dumps(asdict(quota)).encode()], theirs)
                first = int(self._line.recv(MESSAGE_BYTES))
                self._wait_until_confined(source, limits)
                yield _Forked(to, source, status, first, knows_cases=bool(program.cases))
            self._line.send(b".")
            self._line.recv(MESSAGE_BYTES)
        except (OSError, ValueError) as error:
            raise self._failed(f"ended while it ran a submission: {error}") from error

    def _tell(self, program: Program) -> None:
        """Have the process read the cases, for this child and those of the same class."""
        if not program.cases:
            return
        from autograder.sandbox.execution.packed_cases import packed  # with torch

        data = packed(program.cases)
        if data is not self._told:
            with open(os.memfd_create("cases"), "wb") as file:
                file.write(data)
                file.flush()
                asked = {"cases": hashlib.sha256(data).hexdigest()}
                socket.send_fds(self._line, [json.dumps(asked).encode()], [file.fileno()])
            self._line.recv(MESSAGE_BYTES)
            self._told = data

    def _wait_until_confined(self, source: int, limits: Limits) -> None:
        """Raise WorkFailed where the child does not get as far as waiting for a program: that is no student's fault."""
        try:
            frame = receive(source, time.monotonic() + limits.start_seconds, limits.message_bytes)
        except (OSError, FrameError) as error:
            raise self._failed(f"could not be confined: {error}") from error
        if frame is None or frame.head.get("stage") != READY:
            raise self._failed("could not be confined")


class _Forked:
    """The grader's end of one forked child."""

    def __init__(self, to: int, source: int, status: int, first: int, *, knows_cases: bool) -> None:
        self.to, self.source, self._status, self._first = to, source, status, first
        self.knows_cases = knows_cases

    def cpu_seconds(self) -> float:
        """How long the inner process has computed; 0 where it has ended."""
        try:
            return cpu_seconds(_only_child(self._first))
        except (OSError, IndexError):
            return 0.0

    def ended(self, within: float) -> int | None:
        """How the child ended, as os.waitpid gives it; None where it has not."""
        ready, _, _ = select.select([self._status], [], [], within)
        told = os.read(self._status, STATUS.size) if ready else b""
        return int(STATUS.unpack(told)[0]) if len(told) == STATUS.size else None


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
