"""The notebook as it was last saved, and what its kernel has run: read from the file and the shell, never changed."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

_MOST_BYTES = 8 * 2**20  # a longer file takes too long to read at each check
_MARGIN = 2.0  # seconds that the clocks of a server and of its disk may differ
_WIDTH = 60  # characters of a cell's first line


@dataclass(frozen=True)
class SavedCell:
    """A code cell: its id, empty in an old notebook, and its text."""

    id: str
    text: str


@dataclass(frozen=True)
class SavedNotebook:
    """A notebook's code cells, and when they were saved."""

    path: Path
    time: float
    cells: tuple[SavedCell, ...]


def path_of_notebook(shell: Any) -> Path | None:
    """Where the notebook of a kernel is, as JupyterLab or VS Code say; None where nobody says."""
    told = os.environ.get("JPY_SESSION_NAME") or shell.user_ns.get("__vsc_ipynb_file__")
    if not isinstance(told, str) or not told.endswith(".ipynb"):
        return None
    path = Path(told)  # relative to the folder that the server shows, which is not known here
    return path if path.is_absolute() else Path(shell.starting_dir) / path.name


def read(path: Path) -> SavedNotebook | None:
    """The notebook in a file; None where there is none, or too large a one. Raises what a damaged file raises."""
    if not path.is_file():
        return None
    stat = path.stat()
    cells = _cells(path, stat.st_mtime_ns, stat.st_size) if stat.st_size <= _MOST_BYTES else None
    return None if cells is None else SavedNotebook(path, stat.st_mtime, cells)


@lru_cache(maxsize=1)
def _cells(path: Path, changed: int, size: int) -> tuple[SavedCell, ...]:
    """The code cells of a file; a file that has not changed is read once."""
    cells = json.loads(path.read_bytes())["cells"]
    return tuple(SavedCell(str(c.get("id", "")), "".join(c["source"])) for c in cells if c["cell_type"] == "code")


def running_cell(shell: Any) -> SavedCell:
    """The cell that is being run: the id that the page told, empty where it told none, and the text."""
    request = shell.parent_header
    return SavedCell(str(request["metadata"].get("cellId", "")), str(request["content"]["code"]))


def texts_run(shell: Any) -> list[str]:
    """All that the kernel has run, the latest last."""
    return list(shell.history_manager.input_hist_raw)


def first_line(text: str) -> str:
    """How a cell begins, short enough for a sentence and safe between backticks."""
    line = text.strip().partition("\n")[0].rstrip().replace("`", "'")
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1].rstrip()}…"


class Clock:
    """When a kernel ran which text; of what ran before it was started only that it ran before."""

    def __init__(self) -> None:
        self._started = 0.0
        self._ran: dict[str, float] = {}

    def start(self, shell: Any) -> None:
        """Have the shell tell of each cell from now on."""
        if not self._started:
            self._started = time.time()
            shell.events.register("pre_run_cell", self._note)

    def _note(self, info: Any) -> None:
        self._ran[info.raw_cell.strip()] = time.time()

    def saved_since(self, notebook: SavedNotebook, text: str) -> bool:
        """Whether a notebook was saved after this text ran last, for certain."""
        ran = self._ran.get(text.strip(), self._started)
        return ran + _MARGIN < notebook.time < time.time() + _MARGIN


CLOCK = Clock()
