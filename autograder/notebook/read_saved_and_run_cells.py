"""Read the notebook as it was last saved, and the texts that its kernel has run. Nothing here changes either."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

_MOST_BYTES = 8 * 2**20  # reading a longer file at each check would take too long
_MARGIN = 2.0  # seconds by which the clocks of a server and of its file system may differ
_WIDTH = 60  # characters of a cell's first line


@dataclass(frozen=True)
class SavedCell:
    """A code cell: its id ("" in old notebook formats) and its text."""

    id: str
    text: str


@dataclass(frozen=True)
class SavedNotebook:
    """A notebook's path, the time of its last save in seconds since the epoch, and its code cells."""

    path: Path
    time: float
    cells: tuple[SavedCell, ...]


def path_of_notebook(shell: Any) -> Path | None:
    """Return the path of a kernel's notebook, if JupyterLab or VS Code provide it; else None."""
    name = os.environ.get("JPY_SESSION_NAME") or shell.user_ns.get("__vsc_ipynb_file__")
    if not isinstance(name, str) or not name.endswith(".ipynb"):
        return None
    path = Path(name)  # relative to the root folder of the server, which is unknown here
    return path if path.is_absolute() else Path(shell.starting_dir) / path.name


def read_saved_notebook(path: Path) -> SavedNotebook | None:
    """Read a notebook; return None if the file is missing or too large. A damaged file may raise any error."""
    if not path.is_file():
        return None
    stat = path.stat()
    cells = _cells(path, stat.st_mtime_ns, stat.st_size) if stat.st_size <= _MOST_BYTES else None
    return None if cells is None else SavedNotebook(path, stat.st_mtime, cells)


@lru_cache(maxsize=1)
def _cells(path: Path, changed: int, size: int) -> tuple[SavedCell, ...]:
    """Return the code cells of a file, cached by its time of change and its size."""
    cells = json.loads(path.read_bytes())["cells"]
    return tuple(SavedCell(str(c.get("id", "")), "".join(c["source"])) for c in cells if c["cell_type"] == "code")


def running_cell(shell: Any) -> SavedCell:
    """Return the cell that is running: its text, and its id, if the front end sent one, else ""."""
    request = shell.parent_header
    return SavedCell(str(request["metadata"].get("cellId", "")), str(request["content"]["code"]))


def executed_cell_texts(shell: Any) -> list[str]:
    """Return the texts of all cells that the kernel has run, the latest last."""
    return list(shell.history_manager.input_hist_raw)


def first_line(text: str) -> str:
    """Return the first line of a cell, shortened for a sentence and safe between backticks."""
    line = text.strip().partition("\n")[0].rstrip().replace("`", "'")
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1].rstrip()}…"


class KernelRunTimes:
    """When the kernel last ran each cell text; a text not seen since `start` counts as run at `start`."""

    def __init__(self) -> None:
        self._started = 0.0
        self._ran: dict[str, float] = {}

    def start(self, shell: Any) -> None:
        """Register with the shell, which then reports each cell before it runs."""
        if not self._started:
            self._started = time.time()
            shell.events.register("pre_run_cell", self._note)

    def _note(self, info: Any) -> None:
        self._ran[info.raw_cell.strip()] = time.time()

    def saved_since(self, notebook: SavedNotebook, text: str) -> bool:
        """Return whether a notebook was certainly saved after the last run of this text."""
        ran = self._ran.get(text.strip(), self._started)
        return ran + _MARGIN < notebook.time < time.time() + _MARGIN


CLOCK = KernelRunTimes()
