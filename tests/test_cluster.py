"""Dask on this machine: its ports are open to every account, but accept only the run's own key."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from autograder.errors import WorkFailed
from autograder.grading import dask_cluster


@pytest.mark.night
def test_only_the_key_of_the_run_opens_it(tmp_path: Path) -> None:
    """A client without encryption, or with another key, cannot connect to scheduler or workers."""
    import distributed

    with dask_cluster.local_dask_executor(1) as executor:
        assert os.getpid() != executor.submit(os.getpid).result()
        client = executor._client  # type: ignore[attr-defined]
        address, security = client.scheduler.address, client.security
        workers = list(client.scheduler_info()["workers"])
        folder = Path(security.tls_ca_file).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for place in (address, *workers):
            for wrong, key in (("tcp://", None), ("tls://", dask_cluster._secret(tmp_path))):
                with pytest.raises(OSError, match=r"Timed out|closed|does not match"):
                    distributed.Client(place.replace("tls://", wrong), security=key, timeout=1)
    assert not folder.exists()


def test_without_a_key_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """If no key can be made, the error suggests --workers."""

    def missing(*_args: object, **_kwargs: object) -> None:
        raise FileNotFoundError("openssl")

    monkeypatch.setattr(subprocess, "run", missing)

    with pytest.raises(WorkFailed, match="--workers does the same"), dask_cluster.local_dask_executor(1):
        pass


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the scheduler does not answer, the error says that the graded work is kept."""

    def silent(*_args: object, **_kwargs: object) -> None:
        raise OSError("timed out")

    monkeypatch.setattr("distributed.Client", silent)

    with (
        pytest.raises(WorkFailed, match=r"answers at tls://x:1 .*What was graded is kept"),
        dask_cluster.dask_executor("tls://x:1"),
    ):
        pass
