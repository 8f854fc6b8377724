"""Run cells in a real kernel, one after the other as Run All does, and return which exercises passed their check."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from queue import Empty
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import write_connection_file

_SECONDS = 120
_HEADLINE = re.compile(r"(\w+): (all \d+ checks passed|\d+ of \d+ checks passed|not begun yet)")


@cache
def _warm_process() -> subprocess.Popen[str]:
    """Return the process that forks the kernels of all chapters; it ends when the tests end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.parity.warm"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTORCH_BASICS_PROGRESS": "off", "MPLBACKEND": "agg"},
    )
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[str]) -> None:
    assert process.stdin and process.stdout
    process.stdin.close()
    process.stdout.close()
    process.wait(_SECONDS)


class Kernels:
    """Kernels for one chapter, each forked from one process that has imported torch."""

    def __init__(self, chapter: str, folder: Path) -> None:
        self._chapter, self._folder, self._count = chapter, folder, 0

    def passed(self, sources: Sequence[str]) -> set[str]:
        """Run cells, and return the exercises whose last check passed; a cell that raises does not stop the others."""
        with self._kernel() as client:
            waiting = [client.execute(source, store_history=True, stop_on_error=False) for source in sources]
            last = waiting[-1] if waiting else ""
            told: dict[str, bool] = {}
            end = time.monotonic() + _SECONDS
            while True:
                message = client.get_iopub_msg(timeout=max(0.1, end - time.monotonic()))
                told |= _checked(message)
                if _is_end(message, last):
                    return {name for name, passed in told.items() if passed}

    @contextlib.contextmanager
    def _kernel(self) -> Iterator[BlockingKernelClient]:
        self._count += 1
        place = self._folder / f"kernel-{self._count}"
        place.mkdir(parents=True)
        (place / "data.txt").write_text("1 2 3\n")  # a file that the student does not hand in
        path, _ = write_connection_file(str(place / "connection.json"))
        process = _warm_process()
        assert process.stdin and process.stdout
        process.stdin.write(f"{self._chapter} {path}\n")
        process.stdin.flush()
        pid = int(process.stdout.readline())
        client = BlockingKernelClient(connection_file=path)
        client.load_connection_file()
        client.start_channels(hb=False, stdin=False)
        try:
            _wait_until_heard(client)
            yield client
        finally:
            client.stop_channels()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)


def _wait_until_heard(client: BlockingKernelClient) -> None:
    """Wait until the kernel's broadcasts arrive.

    The client's own `wait_for_ready` would also wait for a pause in the broadcasts.
    """
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        client.kernel_info()
        with contextlib.suppress(Empty):
            client.get_iopub_msg(timeout=0.1)
            return
    raise TimeoutError("the kernel does not answer")


def _checked(message: dict[str, Any]) -> dict[str, bool]:
    """Return {exercise: whether it passed} for the message of a check, and {} for any other message."""
    if message["msg_type"] != "display_data":
        return {}
    found = _HEADLINE.match(message["content"]["data"].get("text/plain", ""))
    return {found[1]: found[2].startswith("all")} if found else {}


def _is_end(message: dict[str, Any], last: str) -> bool:
    is_idle = message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"
    return is_idle and message["parent_header"].get("msg_id") == last
