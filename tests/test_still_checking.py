"""A slow check shows a message while it runs, and only its result is saved."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from autograder.notebook.progress_log import PROGRESS_VARIABLE
from tests.test_progress_travels import RIGHT

pytestmark = [
    pytest.mark.usefixtures("in_the_sample"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # from pyzmq, about an unencrypted connection
]
SETUP = (
    "import time\nfrom autograder import check\nfrom autograder.notebook import call_answer_on_cases, slow_check_notice"
)
SHOWN = "    print('mine', flush=True)\n    display('shown')\n    time.sleep(0.1)\n"
SLOW = RIGHT.replace(":\n", f":\n{SHOWN}", 1)
CHECK = 'print("before", flush=True)\ncheck("flatten_images", flatten_images)'
LINE = "Still checking `flatten_images` …"


class Watched(NotebookClient):
    """A client that runs a notebook as nbval and papermill do, and records the displays."""

    def process_message(self, msg: dict[str, Any], *rest: Any) -> Any:
        """Record each display, and whether it replaces another."""
        if msg["msg_type"] in ("display_data", "update_display_data"):
            self.shown = [*getattr(self, "shown", []), (msg["msg_type"], msg["content"]["data"]["text/plain"])]
        return super().process_message(msg, *rest)


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Return the client of a notebook with a check, as in a reader's session."""
    for name, value in {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "IPYTHONDIR": str(tmp_path / "i"),
        PROGRESS_VARIABLE: "",
    }.items():
        monkeypatch.setenv(name, value)
    notebook = new_notebook(cells=[new_code_cell(text) for text in (SETUP, SLOW, CHECK)])
    return Watched(notebook, resources={"metadata": {"path": str(tmp_path)}}, allow_errors=True)


def texts(outputs: list[Any]) -> list[str]:
    """Return the text of each output."""
    return [each.get("text") or each["data"]["text/plain"] for each in outputs]


def saved(client: Watched, after: float, more: str = "") -> list[Any]:
    """Run the notebook with the message after this many seconds, and return the outputs of the check's cell."""
    client.nb.cells[0].source += f"\nslow_check_notice._AFTER = {after}\n{more}"
    client.execute()
    return list(client.nb.cells[2].outputs)


@pytest.mark.night
def test_the_result_takes_the_place_of_the_line(client: Watched) -> None:
    """The message appears while the answer runs, and the result replaces it in the file."""
    outputs = saved(client, 0.05)

    assert [("display_data", LINE), ("display_data", "'shown'")] == client.shown[:2]
    ((kind, result),) = client.shown[2:]
    assert "update_display_data" == kind and result.startswith("flatten_images: all")
    first, second, *_ = texts(outputs)
    assert "before\n" == first and second == result and LINE not in str(client.nb)


@pytest.mark.night
def test_a_quick_check_says_nothing(client: Watched) -> None:
    """A quick check shows no message."""
    saved(client, 60)

    assert [kind for kind, _ in client.shown] == ["display_data"] * 2 and LINE not in str(client.shown)


@pytest.mark.night
def test_where_no_reader_works_nothing_is_said(client: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """With progress off there is no message, because nbval compares outputs."""
    monkeypatch.setenv(PROGRESS_VARIABLE, "off")
    saved(client, 0.05)

    assert [kind for kind, _ in client.shown] == ["display_data"] * 2 and LINE not in str(client.shown)


@pytest.mark.night
def test_a_check_that_is_interrupted_leaves_no_line(client: Watched) -> None:
    """An interrupted check removes the message."""
    stop = "import os, threading\nthreading.Timer(0.5, os.kill, (os.getpid(), 2)).start()"
    client.nb.cells[2].source = f"{stop}\n{CHECK}"
    client.nb.cells[1].source = SLOW.replace("0.1", "9")
    outputs = saved(client, 0.05)

    assert [("display_data", LINE), ("update_display_data", "")] == client.shown
    assert LINE not in str(client.nb) and "you stopped the check" in str(outputs)
