"""What passed on Colab or Binder goes with the runtime: a line says so, and on Colab a call keeps it in Drive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder import check, keep_in_drive
from autograder.notebook import keep_in_drive as keeping
from autograder.notebook import progress_log
from autograder.notebook.progress_log import PROGRESS_FILE, PROGRESS_LOG, PROGRESS_VARIABLE
from tests.colab.runtime import pretend_drive
from tests.made_kernel import MadeKernel, kernel
from tests.test_progress_travels import RIGHT

__all__ = ["kernel"]
pytestmark = pytest.mark.usefixtures("in_the_sample")


@pytest.fixture
def passed(kernel: MadeKernel, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Callable[[], str]:
    """Return a function that checks a right answer in a reader's notebook, and returns what is printed."""
    names: dict[str, Any] = {}
    exec(f"import torch\n{RIGHT}", names)
    keeping.warn_once_progress_is_lost.cache_clear()
    monkeypatch.setattr(keeping, "_MOUNTED", Path(kernel.starting_dir, "drive"))
    monkeypatch.setattr(PROGRESS_LOG, "_own", {})
    monkeypatch.setenv(PROGRESS_VARIABLE, "")

    def check_once() -> str:
        capsys.readouterr()
        check("flatten_images", names["flatten_images"])
        return " ".join(capsys.readouterr().out.split())

    return check_once


def drive() -> Path:
    """Return the folder in Drive."""
    return keeping._MOUNTED / "MyDrive" / "Colab Notebooks"


def test_colab_s_runtime_is_named_once(passed: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The first check that passes says that it goes with the runtime, what brings it back, and what keeps it."""
    pretend_drive(monkeypatch)
    first = passed()

    assert "(What you passed goes with this Colab runtime; your notebook stays. Runtime > Run all brings it" in first
    assert "from autograder import keep_in_drive; keep_in_drive())" in first
    assert "runtime" not in passed()


def test_binder_s_session_is_named(passed: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On Binder, the line says to download the notebook."""
    monkeypatch.setenv("BINDER_LAUNCH_HOST", "https://mybinder.org/")

    assert "(What you passed goes with this Binder session, and your notebook too: download it" in passed()


def test_elsewhere_nothing_is_said(passed: Callable[[], str], capsys: Any) -> None:
    """Where files stay, no line appears, and the call says where they are."""
    assert "goes with" not in passed()
    keep_in_drive()

    assert "This is not Colab: what you pass is kept in" in capsys.readouterr().out


def test_what_passed_is_kept(passed: Callable[[], str], kernel: MadeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """What passed before and after the call is in Drive, and a new runtime knows it; the last check counts."""
    pretend_drive(monkeypatch)
    passed()
    here = Path(kernel.starting_dir) / PROGRESS_FILE
    drive().mkdir(parents=True)
    (drive() / PROGRESS_FILE).write_text('\n{"exercise": "flatten_images", "passed": 0, "of": 2}')
    keep_in_drive()
    keep_in_drive()

    assert not here.exists() and 2 == len(list(filter(None, (drive() / PROGRESS_FILE).read_text().splitlines())))
    assert PROGRESS_LOG.read()[0]["flatten_images"].passed > 0
    passed()
    assert not here.exists() and progress_log.progress_folder() == drive()
    monkeypatch.setenv(PROGRESS_VARIABLE, "")
    assert {} == PROGRESS_LOG.read()[0]  # a new runtime
    keep_in_drive()
    assert 1 == PROGRESS_LOG.read()[0]["flatten_images"].share


def test_a_refusal_is_named(passed: Callable[[], str], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Where the reader gives no access, one line says so, and what passed is kept in the runtime."""
    pretend_drive(monkeypatch, refuses="mount failed")
    keep_in_drive()

    assert "Nothing is kept in your Drive (mount failed)." in capsys.readouterr().out
    assert "goes with this Colab runtime" in passed()


def test_no_run_of_nbgrader_asks(passed: Callable[[], str], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Where nbgrader runs the notebook, the call does nothing."""
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    keep_in_drive()

    assert "" == capsys.readouterr().out
