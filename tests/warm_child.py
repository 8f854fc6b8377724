"""Processes that are as good as fresh and begin at once: forked from one that has imported what all of them import.

    python -m tests.warm_child FD

Starting one from nothing takes more than a second, nearly all of it torch's import. FD is a socket to the tests.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from autograder.running import fresh_process
from autograder.running.child_process import environment
from autograder.running.program import Child, Children, Limits, Program

_NUMBER = struct.Struct("=q")
_MESSAGE_BYTES = 2**17


@contextlib.contextmanager
def warm_children() -> Iterator[Children]:
    """What `fresh_process` is, with processes that begin warm."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with tempfile.TemporaryDirectory() as home, ours:
        with theirs:
            command = [sys.executable, "-m", "tests.warm_child", str(theirs.fileno())]
            process = subprocess.Popen(command, env=environment(Path(home)), pass_fds=[theirs.fileno()])
        known = {"PIPE": subprocess.PIPE, "TimeoutExpired": subprocess.TimeoutExpired}
        stand_in = SimpleNamespace(**known, Popen=lambda _, **options: _Begun(ours, **options))

        @contextlib.contextmanager
        def begun(program: Program, limits: Limits) -> Iterator[Child]:
            with pytest.MonkeyPatch.context() as monkeypatch:
                monkeypatch.setattr(fresh_process, "subprocess", stand_in)
                with fresh_process.fresh_process(program, limits) as child:
                    yield child

        yield begun
        ours.close()
        process.wait()


class _Begun:
    """What `subprocess.Popen` would be of such a process."""

    def __init__(self, line: socket.socket, *, cwd: Path, env: dict[str, str], stderr: IO[bytes], **_: Any) -> None:
        (theirs_in, to), (source, theirs_out), (self._status, theirs_status) = os.pipe(), os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(to, "wb", 0), os.fdopen(source, "rb", 0)
        start = json.dumps({"cwd": str(cwd), "env": env}).encode()
        socket.send_fds(line, [start], [theirs_in, theirs_out, stderr.fileno(), theirs_status])
        for descriptor in (theirs_in, theirs_out, theirs_status):
            os.close(descriptor)
        self.pid = self._number()
        self._code: int | None = None

    def _number(self) -> int:
        return int(_NUMBER.unpack(os.read(self._status, _NUMBER.size))[0])

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, as soon as it has ended."""
        if self._code is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("", timeout or 0)
            self._code = os.waitstatus_to_exitcode(self._number())
            os.close(self._status)
        return self._code

    def kill(self) -> None:
        """End it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def main(line: socket.socket) -> None:
    """Fork until the tests close the line."""
    from autograder.running import child

    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait
    while True:
        message, descriptors, _, _ = socket.recv_fds(line, _MESSAGE_BYTES, 4)
        if not message:
            return
        if os.fork() == 0:
            line.close()
            if _is_the_child(*descriptors):
                _settle(json.loads(message))
                child.main()
            return
        for descriptor in descriptors:
            os.close(descriptor)


def _is_the_child(source: int, sink: int, complaints: int, status: int) -> bool:
    """Fork once more: the child goes on as it should, and the other process tells how it ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        for place, descriptor in enumerate((source, sink, complaints)):
            os.dup2(descriptor, place)
        os.closerange(3, max(source, sink, complaints, status) + 1)
        return True
    os.closerange(0, 3)
    for descriptor in (source, sink, complaints):
        os.close(descriptor)
    os.write(status, _NUMBER.pack(pid))
    os.write(status, _NUMBER.pack(os.waitpid(pid, 0)[1]))
    os._exit(0)


def _settle(start: dict[str, Any]) -> None:
    os.chdir(start["cwd"])
    os.environ.clear()
    os.environ.update(start["env"])


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
