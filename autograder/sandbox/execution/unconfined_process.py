"""Start a new, unconfined process for each run: for systems that cannot confine code, and only on request."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.pipe_messages import READY, Frame, FrameError, receive_frame, send_frame
from autograder.sandbox.execution.child_process_management import (
    ENDED_EARLY,
    child_environment,
    child_failure,
    cpu_seconds,
    register_child,
)
from autograder.sandbox.execution.run_specification import Limits, Program


class _Process:
    """The grader's side of one child process."""

    knows_cases = False

    def __init__(self, process: subprocess.Popen[bytes], complaints: Path) -> None:
        assert process.stdin and process.stdout
        self._process, self._complaints = process, complaints
        self.to, self.source = process.stdin.fileno(), process.stdout.fileno()

    def start(self, program: Program, limits: Limits) -> None:
        """Send the chapter, and wait until the child has prepared it.

        Raises WorkFailed if that fails: no student's code has run by then, so it is no student's fault.
        """
        deadline = time.monotonic() + limits.start_seconds
        try:
            send_frame(self.to, Frame(asdict(program.ground)), deadline)
            frame = receive_frame(self.source, deadline, limits.message_bytes)
        except BrokenPipeError:
            frame = None
        except FrameError as error:
            raise self.failed(f"did not start: {error}") from error
        if frame is None or frame.head.get("stage") != READY:
            reason = ENDED_EARLY if frame is None else frame.head.get("problem")
            raise self.failed(f"did not start: {reason}")

    def failed(self, what: str) -> WorkFailed:
        """Return the error for a child that did not work."""
        remedy = "Run `autograder.sandbox.execution.unconfined_process_child --try` to see the whole error."
        return child_failure(what, self._complaints, remedy)

    def cpu_seconds(self) -> float:
        """Return the CPU time of the process in seconds; on systems other than Linux, a clock of elapsed time."""
        return cpu_seconds(self._process.pid) if sys.platform == "linux" else time.monotonic()

    def ended(self, within: float) -> int | None:
        """Return the wait status of the process; None if it has not ended within `within` seconds."""
        try:
            code = self._process.wait(timeout=within)
        except subprocess.TimeoutExpired:
            return None
        return -code if code < 0 else code << 8

    def end(self) -> None:
        """Kill the child and everything it started in its process group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream
            with contextlib.suppress(OSError):
                stream.close()


@contextlib.contextmanager
def unconfined_process(program: Program, limits: Limits) -> Iterator[_Process]:
    """Provide a new interpreter, with a minimal environment and a scratch folder, that has prepared the chapter."""
    with tempfile.TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        complaints = scratch / "stderr"
        (scratch / "work").mkdir()
        with complaints.open("wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "autograder.sandbox.execution.unconfined_process_child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=scratch / "work",
                env=child_environment(scratch / "work"),
                bufsize=0,
                start_new_session=True,
            )
        child = _Process(register_child(process), complaints)
        try:
            child.start(program, limits)
            yield child
        except OSError as error:
            raise child.failed(f"did not work: {error}") from error
        finally:
            child.end()
