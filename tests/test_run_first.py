"""A cell that is run alone after a restart: a note names the skipped cell below the error."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel
from nbformat.v4 import new_code_cell, new_notebook

from autograder.notebook.unrun_cell_advice import advice_to_run_defining_cell

pytestmark = pytest.mark.usefixtures("in_the_sample")
SETUP = "# the tools\nfrom autograder import check\nimport torch"
HELPER = "\ndef last(x):\n    return x[-1]"
USE = "check(last)"
LONG = "seed = 0  # any whole number will do, and what the chapter says holds for all"
CELLS = {"setup": SETUP, "helper": HELPER, "use": USE, "later": "size = 3", "long": LONG}


def saved(folder: Path) -> Path:
    """Save the notebook, and return its path."""
    path = folder / "mine.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(text, id=id_) for id_, text in CELLS.items()]), path)
    return path


def shell(path: Path, cell: str, *ran: str) -> Any:
    """Return a shell that runs this cell after others."""
    header = {"metadata": {"cellId": cell}, "content": {"code": CELLS.get(cell, cell)}}
    return SimpleNamespace(
        user_ns={"__vsc_ipynb_file__": str(path)},
        parent_header=header,
        history_manager=SimpleNamespace(input_hist_raw=["", *ran]),
        starting_dir=str(path.parent),
    )


@pytest.mark.parametrize(
    ("name", "ran", "told"),
    [
        ("check", (), "`check` is made in a cell above that has not run since the kernel started: `# the tools`."),
        ("last", (SETUP,), "`last` is made in a cell above that has not run since the kernel started: `def last(x):`."),
        ("last", (SETUP, HELPER), ""),
        ("size", (), "`size` is made in a cell further down, which has not run yet: `size = 3`."),
        ("seed", (), "`seed` is made in a cell further down, which has not run yet: " + f"`{LONG[:59].rstrip()}…`."),
        ("nothing", (), ""),
        (None, (), ""),
    ],
)
def test_the_cell_is_named(tmp_path: Path, name: str | None, ran: tuple[str, ...], told: str) -> None:
    """The note quotes the skipped cell's first line, and is empty if no skipped cell defines the name."""
    found = advice_to_run_defining_cell(shell(saved(tmp_path), "use", *ran), name)

    assert found.startswith(told) and bool(found) == bool(told)
    assert ("Run All Above Selected Cell" in found) == ("above that" in told)


def test_no_notebook_says_nothing(tmp_path: Path) -> None:
    """Without a readable notebook, or in another kind of shell, there is no note."""
    assert "" == advice_to_run_defining_cell(shell(tmp_path / "none.ipynb", "use"), "check")
    (tmp_path / "bad.ipynb").write_text("{")
    assert "" == advice_to_run_defining_cell(shell(tmp_path / "bad.ipynb", "use"), "check")
    assert "" == advice_to_run_defining_cell(None, "check")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[BlockingKernelClient]:
    """Yield the client of a kernel as `make lab` starts it."""
    told = {"JPY_SESSION_NAME": str(saved(tmp_path)), "PYTHONPATH": os.pathsep.join(sys.path)}
    manager, client = start_new_kernel(
        cwd=str(tmp_path),
        env=os.environ | told | {"IPYTHONDIR": str(tmp_path / "i")},
        extra_arguments=["--ext=autograder.notebook.name_and_import_error_advice"],
    )
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # from pyzmq, about an unencrypted connection
def test_in_a_real_kernel(client: BlockingKernelClient) -> None:
    """The cell fails with the usual error, and the note follows."""
    shown: list[dict[str, Any]] = []
    reply = client.execute_interactive(USE, output_hook=lambda each: shown.append(each["content"]), timeout=60)

    assert "error" == reply["content"]["status"] and "NameError" == reply["content"]["ename"]
    assert any("NameError" in str(each.get("traceback")) for each in shown)
    assert "`check` is made in a cell above" in str([each.get("text") for each in shown])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # from pyzmq, about an unencrypted connection
@pytest.mark.parametrize("asked", ["from course.figures import ch09_gone", "import explorers.gone", "import gone"])
def test_a_notebook_of_another_version_fails_with_one_line(client: BlockingKernelClient, asked: str) -> None:
    """An import that the installed course no longer has shows one line in place of the traceback; others do not."""
    shown: list[dict[str, Any]] = []
    reply = client.execute_interactive(asked, output_hook=lambda each: shown.append(each["content"]), timeout=60)
    (trace,) = (each["traceback"] for each in shown if "traceback" in each)

    assert "error" == reply["content"]["status"]
    assert (1 == len(trace) and "another version of the course" in trace[0]) is (asked != "import gone")
