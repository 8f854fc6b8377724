"""Fork processes from one that has already imported torch, to save start time in tests.

    python -m tests.warm_child FD

Starting one from nothing takes more than a second, nearly all of it for importing torch. FD is a socket to the tests. A
fork becomes a child that runs one program, a fork server, the server that a class's workers share, or a command. How
these start from nothing is tested by `test_confinement`, `test_shared_pool`, `test_whole_runs` and the commands' tests.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from autograder.sandbox.execution import fresh_process
from autograder.sandbox.execution.child_process import child_environment
from autograder.sandbox.execution.program import Child, Children, Limits, Program
from tests.asked import THOROUGH
from tests.lean_torch import spare_notes

WATCHED = Path(__file__).with_name("watched") / "sitecustomize.py"
_NUMBER = struct.Struct("=q")
_MESSAGE_BYTES = 2**17
_OTHER = 3  # the descriptor of a fork server's socket
# The modules that start with such a descriptor: one forks children, the other workers that share it.
_SERVERS = ("autograder.sandbox.execution.fork_server", "autograder.grading.shared_server")
# The modules that most fork servers import before their first fork.
_OFTEN = ("matplotlib.pyplot", "torch._dynamo", "torch.fx.experimental.symbolic_shapes")


@contextlib.contextmanager
def warm_children() -> Iterator[Children]:
    """Yield a replacement for `fresh_process` whose processes are forked."""
    with contextlib.ExitStack() as stack:
        line = stack.enter_context(_warm_process())
        known = {"PIPE": subprocess.PIPE, "TimeoutExpired": subprocess.TimeoutExpired}
        stand_in = SimpleNamespace(**known, Popen=lambda _, **options: _Begun(line, **options))

        @contextlib.contextmanager
        def begun(program: Program, limits: Limits) -> Iterator[Child]:
            with pytest.MonkeyPatch.context() as monkeypatch:
                monkeypatch.setattr(fresh_process, "subprocess", stand_in)
                with fresh_process.fresh_process(program, limits) as child:
                    yield child

        yield begun


@contextlib.contextmanager
def _warm_process() -> Iterator[socket.socket]:
    """Start the process that forks, and yield the socket to it; it ends with the block."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with tempfile.TemporaryDirectory() as home, ours:
        with theirs:
            command = [sys.executable, "-m", "tests.warm_child", str(theirs.fileno())]
            process = subprocess.Popen(command, env=child_environment(Path(home)), pass_fds=[theirs.fileno()])
        yield ours
        ours.close()
        process.wait()


@cache
def _line_of_this_run() -> socket.socket:
    stack = contextlib.ExitStack()
    line = stack.enter_context(_warm_process())
    atexit.register(stack.close)
    return line


def run_warm(words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run `python [-P] -m MODULE ...` or `python -c TEXT ...`, given as words, and capture its output.

    The command is forked, except in the nightly run and outside Linux.
    """
    if THOROUGH or sys.platform != "linux":
        command = [sys.executable, *words]
        return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
        start = {"cwd": str(cwd), "env": dict(env), "words": list(words)}
        code = _Command(_line_of_this_run(), start, out, complaints).wait()
        texts = [file.read().decode() for file in (out, complaints) if not file.seek(0)]
    return subprocess.CompletedProcess(list(words), code, *texts)


@cache
def warm_servers() -> SimpleNamespace:
    """Return a replacement for `subprocess` in `forked_children`, whose fork servers are forked."""
    line = _line_of_this_run()

    def begun(command: list[str], **options: Any) -> Any:
        module = next((each for each in _SERVERS if each in command), "")
        return _Server(line, module, **options) if module else subprocess.Popen(command, **options)

    known = {"DEVNULL": subprocess.DEVNULL, "TimeoutExpired": subprocess.TimeoutExpired}
    return SimpleNamespace(**known, Popen=begun)


class _Begun:
    """A forked process with the interface of `subprocess.Popen`."""

    def __init__(self, line: socket.socket, *, cwd: Path, env: dict[str, str], stderr: IO[bytes], **_: Any) -> None:
        (theirs_in, to), (source, theirs_out) = os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(to, "wb", 0), os.fdopen(source, "rb", 0)
        self._begin(line, {"cwd": str(cwd), "env": env}, theirs_in, theirs_out, stderr.fileno())
        for descriptor in (theirs_in, theirs_out):
            os.close(descriptor)

    def _begin(self, line: socket.socket, start: dict[str, Any], *descriptors: int) -> None:
        """Fork the process with these descriptors: input, output, errors, and others that it uses."""
        self._status, theirs = os.pipe()
        source, sink, complaints, *others = descriptors
        socket.send_fds(line, [json.dumps(start).encode()], [source, sink, complaints, theirs, *others])
        os.close(theirs)
        self.pid = self._number()
        self._code: int | None = None

    def _number(self) -> int:
        return int(_NUMBER.unpack(os.read(self._status, _NUMBER.size))[0])

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process ends, and return its exit code."""
        if self._code is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("", timeout or 0)
            self._code = os.waitstatus_to_exitcode(self._number())
            os.close(self._status)
        return self._code

    def kill(self) -> None:
        """Kill the process."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class _Server(_Begun):
    """A forked fork server, or server of a class's workers, with the interface of `subprocess.Popen`."""

    def __init__(
        self,
        line: socket.socket,
        module: str,
        *,
        cwd: Path,
        env: dict[str, str],
        stderr: IO[bytes],
        pass_fds: Sequence[int],
        **_: Any,
    ) -> None:
        null = os.open(os.devnull, os.O_RDWR)
        self._begin(line, {"cwd": str(cwd), "env": env, "server": module}, null, null, stderr.fileno(), *pass_fds)
        os.close(null)

    def poll(self) -> int | None:
        """Return the exit code, or None if the process has not ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None


class _Command(_Begun):
    """A forked command with the interface of `subprocess.Popen`."""

    def __init__(self, line: socket.socket, start: dict[str, Any], out: IO[bytes], complaints: IO[bytes]) -> None:
        null = os.open(os.devnull, os.O_RDWR)
        self._begin(line, start, null, out.fileno(), complaints.fileno())
        os.close(null)


def main(line: socket.socket) -> None:
    """Fork a process for each message, until the tests close the socket."""

    for name in (*_SERVERS, *_OFTEN):
        importlib.import_module(name)
    spare_notes()
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no process waits for the watching processes
    while True:
        message, descriptors, _, _ = socket.recv_fds(line, _MESSAGE_BYTES, 5)
        if not message:
            return
        if os.fork() == 0:
            line.close()
            if _is_the_child(*descriptors):
                start = json.loads(message)
                _settle(start)
                if "words" in start:
                    _command(*start["words"])
                else:
                    _serve(start.get("server", ""))
            return
        for descriptor in descriptors:
            os.close(descriptor)


def _is_the_child(source: int, sink: int, complaints: int, status: int, *others: int) -> bool:
    """Fork again: return True in the child; the parent reports the child's id and exit status, and exits."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        # Duplicated first, because a target number may be another source's number.
        kept = [os.dup(descriptor) for descriptor in (source, sink, complaints, *others)]
        for place, descriptor in enumerate(kept):
            os.dup2(descriptor, place)
        os.closerange(len(kept), max(*kept, status) + 1)
        return True
    os.closerange(0, 3)
    for descriptor in (source, sink, complaints, *others):
        os.close(descriptor)
    os.write(status, _NUMBER.pack(pid))
    os.write(status, _NUMBER.pack(os.waitpid(pid, 0)[1]))
    os._exit(0)


def _serve(module: str) -> None:
    from autograder.grading.shared_server import SharedServer
    from autograder.sandbox.execution import fork_server, fresh_process_child

    if not module:
        fresh_process_child.main()
    elif module == SharedServer.__module__:
        SharedServer(socket.socket(fileno=_OTHER)).serve()
    else:
        fork_server.main(socket.socket(fileno=_OTHER))


def _command(*words: str) -> None:
    """Run what `python` would run with these arguments."""
    if "PYTEST_WATCHED" in os.environ:
        runpy.run_path(str(WATCHED))
    is_safe = words[0] == "-P"
    kind, what, *arguments = words[is_safe:]
    others = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each and each not in sys.path]
    sys.path[:1] = [*([] if is_safe else [os.getcwd()]), *others]
    sys.argv = [kind, *arguments]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})


def _settle(start: dict[str, Any]) -> None:
    os.chdir(start["cwd"])
    os.environ.clear()
    os.environ.update(start["env"])


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
