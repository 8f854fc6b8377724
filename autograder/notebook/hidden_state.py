"""Notes on the hidden state of a kernel: names on which an answer depends and which grading will not have.

Grading runs the cells of the file from top to bottom. A kernel also has names from cells further down, from deleted
cells, and from files beside the notebook; and it may have an older version of the answer than the saved notebook. The
notes on older versions go to failed answers too. There is no note on anything uncertain, and no error here stops a
check.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from IPython import get_ipython

from autograder.diagnosis.verdict import Report
from autograder.notebook.cell_bindings import cell_binds, definition_dump, may_bind_unseen
from autograder.notebook.progress_log import progress_folder
from autograder.notebook.read_saved_and_run_cells import (
    CLOCK,
    SavedCell,
    SavedNotebook,
    executed_cell_texts,
    first_line,
    path_of_notebook,
    read_saved_notebook,
    running_cell,
)
from autograder.notebook.referenced_names import code_object_of, is_class, transitive_names, undecorated
from autograder.notebook.stale_function_warning import syntax_error_cell_notes

_NO_FILES = ("__main__", "autograder", "explorers")  # modules without a note: the notebook, and packages of grading
_MOST_NOTES = 3
_BELOW = (
    ", which only a cell further down defines (the one that begins `{}`): "
    "move that cell above this one, or the notebook will not run from top to bottom."
)
_GONE = (
    ", which no cell of the notebook defines any more: only this kernel remembers the cell, which began `{}`. "
    "Write that into a cell above this one."
)
_SAVED = "(That is how `{}` was last saved. If it has changed since, save it and check again.)"


@dataclass(frozen=True)
class RunHistory:
    """The saved notebook, the index of the check's cell in it, and the texts of all cells that the kernel has run."""

    notebook: SavedNotebook
    place: int
    runs: tuple[str, ...]

    @property
    def above(self) -> tuple[SavedCell, ...]:
        """Return the cells down to the check, with the check's own."""
        return self.notebook.cells[: self.place + 1]

    @property
    def below(self) -> tuple[SavedCell, ...]:
        """Return the cells after the check."""
        return self.notebook.cells[self.place + 1 :]

    def last_run(self, name: str) -> str | None:
        """Return the text of the last cell run that binds a name; None if none shows it."""
        return next((text for text in reversed(self.runs) if cell_binds(text, name)), None)


def add_hidden_state_notes(report: Report, answer: object) -> Report:
    """Return the report with notes on older definitions that were judged, and on names that grading will not have."""
    if progress_folder() is None:
        return report
    try:
        return replace(report, notes=(*report.notes, *hidden_state_notes(report, answer, get_ipython())))
    except Exception:  # an unforeseen file or shell: then there are no notes
        return report


def hidden_state_notes(report: Report, answer: object, shell: Any) -> tuple[str, ...]:
    """Return notes on the kernel's hidden state for an answer that was just checked: what grading will not have.

    A failed answer gets only notes on definitions that have been edited since they ran, or that did not run. An
    unforeseen file or shell may raise any error.
    """
    refused = tuple(syntax_error_cell_notes(_name_of(answer), answer, shell))
    path = path_of_notebook(shell)
    if path is None:
        return refused
    CLOCK.start(shell)
    return (*refused, *_notes(report, answer, path, shell))


def _notes(report: Report, answer: object, path: Path, shell: Any) -> Iterator[str]:
    """Yield the notes that come from the saved notebook; for a failed answer only those on newer definitions."""
    notebook = read_saved_notebook(path)
    if notebook is None:
        return
    own = _name_of(answer)
    names = transitive_names(answer, shell.user_ns) | {own: answer}
    files = {name: file for name, value in names.items() if (file := _file_beside(value, path.parent.resolve()))}
    yield from _notes_on_files(files) if report.passed else ()
    scene = _scene(report.exercise, own, notebook, running_cell(shell), executed_cell_texts(shell))
    here = {name: value for name, value in names.items() if name not in files}
    if scene is None:
        return
    found = _notes_on_names(report.exercise, own, here, scene) if report.passed else _notes_on_changed(here, scene)
    lines = list(dict.fromkeys(found))[:_MOST_NOTES]
    yield from lines[:-1]
    yield from (f"{last} {_SAVED.format(path.name)}" for last in lines[-1:])


def _name_of(value: object) -> str:
    """Return the name of a function or a class; "" for anything else."""
    value = undecorated(value)
    return value.__name__ if type(value) is FunctionType or is_class(value) else ""


def _scene(exercise: str, own: str, notebook: SavedNotebook, running: SavedCell, runs: list[str]) -> RunHistory | None:
    """Find the place of the check in the notebook; return None if the running cell is not in the file.

    The place is the lowest cell among the running one, those that call the check, and those that bind the answer,
    because `check` may be called from any cell.
    """
    cells = notebook.cells
    at = [i for i, cell in enumerate(cells) if running.id and cell.id == running.id]
    at = at or [i for i, cell in enumerate(cells) if cell.text.strip() == running.text.strip()]
    if not at:
        return None
    call = re.compile(rf"check\(\s*['\"]{re.escape(exercise)}['\"]")
    at += [i for i, cell in enumerate(cells) if call.search(cell.text) or (own and cell_binds(cell.text, own))]
    return RunHistory(notebook, max(at), tuple(runs))


def _notes_on_names(exercise: str, own: str, names: dict[str, object], scene: RunHistory) -> Iterator[str]:
    """Yield the notes on the answer, and on the names on which it depends."""
    homes = {name: home for name in names if (home := _home(name, scene))}
    if homes.pop(own, None):
        yield f"No cell of the notebook defines `{own}` any more: only this kernel knows it. Write its cell again."
    for line, below in homes.values():
        uses = f"`{exercise}` uses {_quoted(name for name in homes if homes[name] == (line, below))}"
        yield uses + (_BELOW if below else _GONE).format(line)
    yield from _notes_on_changed(names, scene)


def _quoted(names: Iterable[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _home(name: str, scene: RunHistory) -> tuple[str, bool] | None:
    """Return the first line of the cell that binds a name, and whether it is below the check; None if it is above.

    Also None if that is uncertain: a cell may bind the name invisibly, or be newer than the saved file.
    """
    if any(cell_binds(cell.text, name) for cell in scene.above):
        return None
    run = scene.last_run(name)
    if run is None or any(may_bind_unseen(cell.text) for cell in scene.above):
        return None
    below = [cell.text for cell in scene.below if cell_binds(cell.text, name)]
    same = [text for text in below if text.strip() == run.strip()]
    if not same and not CLOCK.saved_since(scene.notebook, run):
        return None
    if not below and any(may_bind_unseen(cell.text) for cell in scene.below):
        return None
    return first_line(next(iter(same or below), run)), bool(below)


def _notes_on_changed(names: dict[str, object], scene: RunHistory) -> Iterator[str]:
    """Yield a note for each function or class whose cell was edited and not run again."""
    for value in map(undecorated, names.values()):
        own = _name_of(value)
        if own and _has_changed(value, own, scene):
            yield (
                f"The cell that defines `{own}` has changed since it ran, so this check used the older `{own}`: "
                "run the cell, then check again."
            )


def _has_changed(value: object, name: str, scene: RunHistory) -> bool:
    code = code_object_of(value)
    written = [found for cell in scene.notebook.cells if code and (found := definition_dump(cell.text, name))]
    if code is None or not written:  # no cell defines it, so it is a library's
        return False
    ran = definition_dump("".join(linecache.getlines(code.co_filename)), name)
    run = scene.last_run(name)
    return ran is not None and ran not in written and run is not None and CLOCK.saved_since(scene.notebook, run)


def _notes_on_files(files: dict[str, str]) -> Iterator[str]:
    """Yield a note for each file beside the notebook from which the answer uses names."""
    for file in dict.fromkeys(files.values()):
        yield (
            f"Only the notebook is handed in, not `{file}`, from which you use "
            f"{_quoted(name for name in files if files[name] == file)}: copy what you need of it into a cell above "
            "this one."
        )


def _file_beside(value: object, folder: Path) -> str:
    """Return the name of the file or package beside the notebook that defines a value; "" if there is none."""
    code = code_object_of(value)
    kind = value if type(value) is FunctionType or is_class(value) else type(value)
    is_module = issubclass(type(value), ModuleType)
    top = str(vars(value).get("__name__") if is_module else kind.__module__).partition(".")[0]
    homes = [Path(code.co_filename)] if code else []  # after `%run` only the code has the file's name
    homes += _homes(sys.modules.get(top)) if top not in _NO_FILES else []
    return next((home.name for home in homes if home.is_absolute() and home.resolve().parent == folder), "")


def _homes(module: ModuleType | None) -> list[Path]:
    """Return the paths from which a module was loaded: the folders of a package, or the file; empty if unknown."""
    contents = vars(module) if module else {}
    homes = list(contents.get("__path__", ())) or [contents.get("__file__")]
    return [Path(home) for home in homes if isinstance(home, str)]
