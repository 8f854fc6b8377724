"""Notes on hidden state in a real kernel, with JupyterLab's information on notebook and cell."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel
from nbformat.v4 import new_code_cell, new_notebook

from autograder.notebook.progress_log import PROGRESS_VARIABLE
from tests.test_progress_travels import ran

pytestmark = [
    pytest.mark.usefixtures("in_the_sample"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # pyzmq's, on a connection that is not encrypted
    pytest.mark.night,
]
SETUP = "import torch\nfrom autograder import check"
HELPER = "def last(x):\n    return x.transpose(1, 2)"
ANSWER = "def flatten_images(x):\n    n, c = x.shape[:2]\n    return last(x.reshape(n, c, -1))"
CHECK = 'check("flatten_images", flatten_images)'


@pytest.fixture
def client(tmp_path: Path) -> Iterator[BlockingKernelClient]:
    """Yield the client of a kernel started for `mine.ipynb`."""
    told = {"JPY_SESSION_NAME": str(tmp_path / "mine.ipynb"), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment = {key: value for key, value in os.environ.items() if key != PROGRESS_VARIABLE}
    manager, client = start_new_kernel(cwd=str(tmp_path), env=environment | told | {"IPYTHONDIR": str(tmp_path / "i")})
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def save(folder: Path, *texts: str) -> None:
    """Save the notebook; each known cell keeps its id."""
    ids = {text: f"id-{place}" for place, text in enumerate((SETUP, HELPER, ANSWER, CHECK))}
    cells = [new_code_cell(text, id=ids.get(text, "other")) for text in texts]
    nbformat.write(new_notebook(cells=cells), folder / "mine.ipynb")


def checked(client: BlockingKernelClient) -> str:
    """Run the check's cell with its id, as JupyterLab does, and return the output."""
    client.session.metadata["cellId"] = "id-3"
    shown = ran(client, CHECK)
    assert "flatten_images: all" in shown
    return shown


def test_a_helper_below_is_told_until_it_is_moved(client: BlockingKernelClient, tmp_path: Path) -> None:
    """A helper below the check gives a note until it is moved above."""
    save(tmp_path, SETUP, ANSWER, CHECK, HELPER)
    for text in (SETUP, HELPER, ANSWER):
        ran(client, text)
    told = checked(client)
    save(tmp_path, SETUP, HELPER, ANSWER, CHECK)

    assert "Note: `flatten_images` uses `last`, which only a cell further down defines" in told
    assert "Note:" not in checked(client)


def test_a_helper_from_a_file_is_told(client: BlockingKernelClient, tmp_path: Path) -> None:
    """A helper from a file run by `%run` gives a note."""
    (tmp_path / "mine.py").write_text(HELPER)
    save(tmp_path, SETUP, "%run mine.py", ANSWER, CHECK)
    for text in (SETUP, "%run mine.py", ANSWER):
        ran(client, text)

    assert "not `mine.py`, from which you use `last`" in checked(client)


def test_a_helper_that_was_deleted_is_told(client: BlockingKernelClient, tmp_path: Path) -> None:
    """A helper that was deleted from the saved file gives a note."""
    save(tmp_path, SETUP, HELPER, ANSWER, CHECK)
    ran(client, SETUP)
    told = [ran(client, HELPER), ran(client, ANSWER), checked(client)]
    time.sleep(2.2)  # more than clocks may differ
    save(tmp_path, SETUP, ANSWER, CHECK)

    assert "Note:" not in "".join(told)
    assert "`last`, which no cell of the notebook defines any more" in checked(client)


def test_after_a_syntax_error_the_older_function_is_named(client: BlockingKernelClient, tmp_path: Path) -> None:
    """After a SyntaxError, the note appears until the corrected cell has run."""
    wrong = "def flatten_images(x):\n    return x"
    right = "def flatten_images(x):\n    n, c = x.shape[:2]\n    return x.reshape(n, c, -1).transpose(1, 2)"
    for text in (SETUP, wrong):
        ran(client, text)
    told = [ran(client, CHECK)]
    for broken in (right.replace(":\n", "\n", 1), right.replace("return", "break", 1)):
        reply = client.execute_interactive(broken, output_hook=lambda _: None, timeout=60)
        assert reply["content"]["ename"] == "SyntaxError"
        told.append(ran(client, CHECK))
    ran(client, right)
    told.append(ran(client, CHECK))

    note = "`def flatten_images` that you ran last stopped with a SyntaxError, so this check judged the older"
    assert [False, True, True, False] == [note in each for each in told]
    assert [False, False, False, True] == ["flatten_images: all" in each for each in told]


def test_a_cell_that_was_written_and_not_run_is_told(client: BlockingKernelClient, tmp_path: Path) -> None:
    """An answer that was saved and not run gives a note."""
    save(tmp_path, SETUP, ANSWER, CHECK)
    for text in (SETUP, HELPER, "def flatten_images(x):\n    raise NotImplementedError()"):
        ran(client, text)
    client.session.metadata["cellId"] = "id-3"
    before = ran(client, CHECK)
    time.sleep(2.2)  # more than clocks may differ
    save(tmp_path, SETUP, ANSWER, CHECK)
    told = ran(client, CHECK)

    assert "not begun yet" in before and "Note:" not in before
    assert "The cell that defines `flatten_images` has changed since it ran, so this check used the older" in told
