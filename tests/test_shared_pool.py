"""Workers that are forked from one warm process, and end with it."""

from __future__ import annotations

import os
import signal
from concurrent.futures import BrokenExecutor
from pathlib import Path

import pytest

from autograder.errors import WorkFailed
from autograder.grading.shared_pool import begun_early, shared_pool
from tests.conftest import needs_confinement

pytestmark = needs_confinement  # elsewhere no process is shared


def ends_the_shared_process() -> None:
    """As a worker sees it when the process that it shares is killed: a line is closed, and that fails the work."""
    os.kill(os.getppid(), signal.SIGKILL)
    raise WorkFailed("it ended before it was ready")


def fails() -> None:
    """A fault of ours that has nothing to do with the shared process."""
    raise WorkFailed("not this time")


def test_work_that_fails_as_the_shared_process_ends_is_nobodys_result() -> None:
    """It is told as a broken pool, for which a new one is started, and not as what became of a submission."""
    with pytest.raises(BrokenExecutor, match="a worker has ended"), shared_pool(2) as pool:
        pool.submit(ends_the_shared_process).result()


def test_a_failure_of_the_work_itself_is_told() -> None:
    """And the worker goes on."""
    with shared_pool(1) as pool:
        with pytest.raises(WorkFailed, match="not this time"):
            pool.submit(fails).result()
        assert os.getpid() != pool.submit(os.getpid).result()


def test_what_began_early_is_the_pools_and_ends_with_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process has a folder: there is one, and none is left, also where no pool was opened."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    with begun_early(), shared_pool(1) as pool:
        assert os.getpid() != pool.submit(os.getpid).result()
        assert 1 == len(list(tmp_path.iterdir()))
    with begun_early():
        assert 1 == len(list(tmp_path.iterdir()))

    assert [] == list(tmp_path.iterdir())


def test_what_began_early_and_ended_is_replaced() -> None:
    """Somebody may have ended it meanwhile: another one is started."""
    before = set(children())
    with begun_early():
        (early,) = set(children()) - before
        os.kill(early, signal.SIGKILL)
        os.waitid(os.P_PID, early, os.WEXITED | os.WNOWAIT)
        with shared_pool(1) as pool:
            assert early != pool.submit(os.getppid).result()


def children() -> list[int]:
    """This process's own."""
    return [int(pid) for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]
