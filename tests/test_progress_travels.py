"""The progress log with real kernels, and in nbgrader's cycle, which must not copy it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from autograder.grading import verdict_store
from autograder.grading.grading_executors import WorkerOptions
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from autograder.notebook.progress_log import PROGRESS_FILE, LoggedCheck, _append
from tests.conftest import UNCONFINED
from tests.sample_course import STEM, make_course

pytestmark = pytest.mark.night

SETUP = "import torch\nfrom autograder import check, mine, progress\n"
RIGHT = "def flatten_images(x):\n    n, c = x.shape[:2]\n    return x.reshape(n, c, -1).transpose(1, 2)\n"
USE = 'flatten = mine("flatten_images", None)'
WRONG = "def add_bias(x, bias):\n    return x\n"


def kernel(folder: Path) -> tuple[KernelManager, BlockingKernelClient]:
    """Start a kernel in this folder."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "IPYTHONDIR": str(folder / ".ipython")}
    return start_new_kernel(cwd=str(folder), env=environment)


def ran(client: BlockingKernelClient, code: str) -> str:
    """Run a cell, and return its output."""
    shown: list[str] = []

    def note(message: dict[str, dict[str, object]]) -> None:
        content = message["content"]
        data = content.get("data")
        shown.append(str(content.get("text") or (data.get("text/plain") if isinstance(data, dict) else "") or ""))
        assert "ename" not in content, content

    client.execute_interactive(code, output_hook=note, timeout=60)
    return "\n".join(shown)


@pytest.mark.usefixtures("in_the_sample")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # from pyzmq, about an unencrypted connection
def test_two_notebooks_know_of_each_other(tmp_path: Path) -> None:
    """A check in one kernel is known in another, and after a restart or chdir.

    An answer that passed in one is used in the other, once its notebook is saved.
    """
    first, second = kernel(tmp_path), kernel(tmp_path)
    try:
        ran(first[1], SETUP + "import os; os.mkdir('data'); os.chdir('data')")
        ran(second[1], SETUP)
        ran(first[1], RIGHT + 'check("flatten_images", flatten_images)')
        ran(second[1], WRONG + 'check("add_bias", add_bias)')
        told = [ran(client, "progress(1)") for _, client in (first, second)]
        used = [ran(second[1], USE)]
        cells = [{"cell_type": "code", "source": text, "metadata": {}} for text in (SETUP, RIGHT)]
        (tmp_path / f"{STEM}.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
        used += [ran(client, f"{USE}; print(*flatten(torch.ones(1, 2, 3, 4)).shape)") for _, client in (first, second)]
        first[0].restart_kernel(now=True)
        first[1].wait_for_ready(timeout=60)
        told.append(ran(first[1], SETUP + "progress(1)"))
    finally:
        for manager, client in (first, second):
            client.stop_channels()
            manager.shutdown_kernel(now=True)

    assert told[0] == told[1] == told[2] and "✓ flatten_images" in told[0] and "✗ add_bias" in told[0]
    assert "your notebook “Chapter 1: A sample” is not in this folder" in used[0]
    assert all("is your `flatten_images`" in each and "1 12 2" in each for each in used[1:])
    assert sorted(os.listdir(tmp_path)) == [".ipython", PROGRESS_FILE, f"{STEM}.ipynb", "data"]
    assert os.listdir(tmp_path / "data") == []


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_nbgrader_neither_carries_it_nor_trips_over_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is not released, collected, graded or returned by nbgrader."""
    monkeypatch.setenv(verdict_store.SEED_VARIABLE, "3")
    course, exchange, home = make_course(tmp_path / "course"), tmp_path / "exchange", tmp_path / "ada"
    exchange.mkdir()
    exchange.chmod(0o777)
    cycle = NbgraderCycle(course, STEM, exchange)
    _append(course / "source" / STEM / PROGRESS_FILE, "standardize", LoggedCheck(4, 4))
    cycle.generate()
    cycle.release()
    (home / STEM).mkdir(parents=True)
    notebook = (course / "release" / STEM / f"{STEM}.ipynb").read_bytes()
    (home / STEM / f"{STEM}.ipynb").write_bytes(notebook)
    _append(home / STEM / PROGRESS_FILE, "standardize", LoggedCheck(4, 4))
    cycle.submit("ada", home)
    cycle.collect()
    how = GradingOptions(workers=WorkerOptions(count=1, stays=True), unconfined=UNCONFINED)
    failures = cycle.autograde(["ada"], how=how) | cycle.feedback(["ada"])
    found = verdict_store.read_verdict(course, STEM, "ada")

    assert failures == {} and found is not None and found.repairs == () and found.score == 0
    for step in ("release", "autograded", "feedback"):
        assert [] == list((course / step).rglob(PROGRESS_FILE)) and [] != list((course / step).rglob(f"{STEM}.*"))
    assert [] == list((exchange).glob(f"*/outbound/{STEM}/**/{PROGRESS_FILE}"))
