"""Workers forked from one warm process, which end with it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor
from pathlib import Path

import pytest

from autograder.errors import WorkFailed
from autograder.grading import fork_server_for_workers
from autograder.grading.forked_worker_pool import FEW, MANY, forked_pool, start_shared_process_early
from autograder.sandbox.execution.choose_runner import ALWAYS_PRELOADED
from tests.conftest import needs_confinement

pytestmark = [pytest.mark.night, needs_confinement]  # without confinement, workers share no process


def ends_the_shared_process() -> None:
    """Kill the shared process, and fail as a worker then does."""
    os.kill(os.getppid(), signal.SIGKILL)
    raise WorkFailed("it ended before it was ready")


def fails() -> None:
    """Fail for a reason that does not concern the shared process."""
    raise WorkFailed("not this time")


def test_work_that_fails_as_the_shared_process_ends_is_nobodys_result() -> None:
    """Work that fails because the shared process ended raises BrokenExecutor, so that a new pool is started."""
    with pytest.raises(BrokenExecutor, match="a worker has ended"), forked_pool(2) as pool:
        pool.submit(ends_the_shared_process).result()


def test_a_failure_of_the_work_itself_is_told() -> None:
    """An error of the work itself is raised, and the worker continues."""
    with forked_pool(1) as pool:
        with pytest.raises(WorkFailed, match="not this time"):
            pool.submit(fails).result()
        assert os.getpid() != pool.submit(os.getpid).result()


def test_what_began_early_is_the_pools_and_ends_with_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool uses the process that was started early, and none is left after the block."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    with start_shared_process_early(), forked_pool(1) as pool:
        assert os.getpid() != pool.submit(os.getpid).result()
        assert 1 == len(list(tmp_path.iterdir()))
    with start_shared_process_early():
        assert 1 == len(list(tmp_path.iterdir()))

    assert [] == list(tmp_path.iterdir())


def test_what_began_early_and_ended_is_replaced() -> None:
    """An early process that was killed is replaced."""
    before = set(children())
    with start_shared_process_early():
        (early,) = set(children()) - before
        os.kill(early, signal.SIGKILL)
        os.waitid(os.P_PID, early, os.WEXITED | os.WNOWAIT)
        with forked_pool(1) as pool:
            assert early != pool.submit(os.getppid).result()


def children() -> list[int]:
    """Return the ids of this process's children."""
    return [int(pid) for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]


def is_imported(name: str) -> bool:
    """Return whether a module is imported."""
    return name in sys.modules


def test_workers_do_not_wait_for_what_children_need() -> None:
    """The shared process imports what the children need after forking the workers."""
    with forked_pool(1) as pool:
        assert [True, False] == [pool.submit(is_imported, name).result() for name in ("torch", *ALWAYS_PRELOADED)]


@pytest.mark.parametrize(("message", "pages"), [(FEW, []), (MANY, ["pages"])], ids=["few", "many"])
def test_what_children_need_is_there_before_them(
    message: bytes, pages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When all workers exist, the shared process imports modules, and for a large class enables large pages."""
    done: list[str] = []
    monkeypatch.setattr("importlib.import_module", done.append)
    monkeypatch.setattr(fork_server_for_workers, "use_large_pages", lambda: done.append("pages"))
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = object.__new__(fork_server_for_workers.WorkerForkServer)
    server._line = theirs
    with ours, theirs:
        ours.send(message)
        server._on_message()

    assert [*ALWAYS_PRELOADED, *pages] == done


def test_the_server_of_a_large_class_takes_large_pages_while_its_workers_work() -> None:
    """The shared process of a large class uses large pages, and that of a small class does not."""
    probed = subprocess.run([sys.executable, "-P", "-c", _PROBE], capture_output=True, text=True, check=True)
    if probed.stdout != "True\n":
        pytest.skip("this kernel has no large pages to give")

    assert 0 == in_large_pages(size=1) < in_large_pages(size=1000)


_PROBE = """
from pathlib import Path
from autograder.sandbox.linux_calls import use_large_pages
held = b"x" * 2**26
before = Path("/proc/self/smaps_rollup").read_text().split("AnonHugePages:")[1].split()[0]
use_large_pages()
after = Path("/proc/self/smaps_rollup").read_text().split("AnonHugePages:")[1].split()[0]
print(before == "0" != after)
"""


def in_large_pages(size: int) -> int:
    """Return the kilobytes in large pages of a shared process for a class of this size."""
    with forked_pool(1, size) as pool:
        server = pool.submit(os.getppid).result()
        until = time.monotonic() + 20
        while not (found := _huge(server)) and size > 1 and time.monotonic() < until:
            time.sleep(0.1)
        assert server == pool.submit(os.getppid).result()
        return found


def _huge(process: int) -> int:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("AnonHugePages:"))
