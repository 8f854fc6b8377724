"""The saved notebook: its path, its cells, and the cell that runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.notebook.read_saved_and_run_cells import (
    KernelRunTimes,
    SavedCell,
    path_of_notebook,
    read_saved_notebook,
    running_cell,
)
from tests.made_kernel import MadeKernel, kernel

__all__ = ["kernel"]


class TestPath:
    def test_jupyter_says_it_in_full(self, kernel: MadeKernel) -> None:
        """The path comes from Jupyter's environment variable."""
        assert path_of_notebook(kernel) == kernel.notebook

    def test_a_path_below_the_servers_folder_is_taken_by_its_name(
        self, kernel: MadeKernel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A relative path is taken by its name in the kernel's folder."""
        monkeypatch.setenv("JPY_SESSION_NAME", "week1/mine.ipynb")

        assert path_of_notebook(kernel) == kernel.notebook

    def test_vs_code_says_it_in_the_namespace(self, kernel: MadeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
        """The path comes from VS Code's variable in the namespace."""
        monkeypatch.delenv("JPY_SESSION_NAME")
        assert path_of_notebook(kernel) is None
        kernel.user_ns["__vsc_ipynb_file__"] = str(kernel.notebook)

        assert path_of_notebook(kernel) == kernel.notebook

    @pytest.mark.parametrize("told", ["console-1", "mine.py", ""])
    def test_a_console_has_none(self, kernel: MadeKernel, monkeypatch: pytest.MonkeyPatch, told: str) -> None:
        """A session that is no notebook has no path."""
        monkeypatch.setenv("JPY_SESSION_NAME", told)

        assert path_of_notebook(kernel) is None


class TestRead:
    def test_code_cells_in_their_order(self, kernel: MadeKernel) -> None:
        """The code cells are read in order, and a source may be a list of lines."""
        kernel.save("1", "2")

        notebook = read_saved_notebook(kernel.notebook)

        assert notebook is not None
        assert notebook.cells == (SavedCell("0", "1"), SavedCell("1", "2")) and notebook.time == kernel.now

    def test_a_file_that_changed_is_read_again(self, kernel: MadeKernel) -> None:
        """A file is read again only if it changed."""
        kernel.save("1")
        first = [read_saved_notebook(kernel.notebook) for _ in range(2)]
        kernel.save("3")
        then = read_saved_notebook(kernel.notebook)

        assert first[0] is not None and first[1] is not None and then is not None
        assert first[0].cells is first[1].cells and then.cells[0].text == "3"

    def test_what_is_no_file_is_not_waited_for(self, tmp_path: Path) -> None:
        """A pipe or a missing file gives None."""
        os.mkfifo(tmp_path / "mine.ipynb")

        assert (
            read_saved_notebook(tmp_path / "mine.ipynb") is None
            and read_saved_notebook(tmp_path / "none.ipynb") is None
        )


def test_the_page_may_not_say_which_cell_runs(kernel: MadeKernel) -> None:
    """Without a cell id, the text identifies the running cell."""
    kernel.run("1", "a")
    assert running_cell(kernel) == SavedCell("a", "1")
    kernel.run("2")

    assert running_cell(kernel) == SavedCell("", "2")


class TestClock:
    @pytest.mark.parametrize(("later", "since"), [(-60, False), (1, False), (3, True), (100, False)])
    def test_only_a_later_save_counts(self, kernel: MadeKernel, later: int, since: bool) -> None:
        """A save counts as later only beyond clock differences, and not in the future."""
        kernel.save("1")
        clock, ran = KernelRunTimes(), kernel.now
        clock.start(kernel)
        os.utime(kernel.notebook, (ran + later, ran + later))
        notebook = read_saved_notebook(kernel.notebook)
        kernel.now += 10

        assert notebook is not None
        assert clock.saved_since(notebook, "whatever ran before") is since

    def test_a_cell_that_ran_again_ran_later(self, kernel: MadeKernel) -> None:
        """The last run of a cell counts."""
        clock = KernelRunTimes()
        clock.start(kernel)
        kernel.save("1")
        notebook = read_saved_notebook(kernel.notebook)
        assert notebook is not None and clock.saved_since(notebook, "f = 1")
        kernel.run("f = 1\n")

        assert not clock.saved_since(notebook, "f = 1")
