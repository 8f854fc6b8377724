"""Find the source text of an answer among the cells that the kernel has run.

Rules of exercises read this text. Grading takes the cells of the file in their order; here the cells come in the order
in which they ran, and the latest definition of each name counts.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from IPython import get_ipython

from autograder.find_student_modules import find_student_module_file
from autograder.notebook.cell_bindings import cell_binds
from autograder.notebook.last_checked_answer import defining_cell_filename, name_bound_to
from autograder.notebook.read_saved_and_run_cells import executed_cell_texts
from autograder.notebook.referenced_names import code_object_of, undecorated
from autograder.submission.extract_answer_statements import Statement, answer_text, parse_cell_as_python, statements

_TIMED = "<timed"  # begins the file name that `%%time` gives to every cell that it compiles


def answer_text_in_kernel(
    name: str, answer: object, exercises: Collection[str], cell: str = "", shell: Any = None
) -> str:
    """Return the text of an answer as grading would read it; "" if it is unknown.

    `cell` is the text of an answer that no cell has defined. `exercises` are the names of all exercises: the text
    contains no answer to another one. `shell` is the IPython shell, by default the current one.
    """
    shell = get_ipython() if shell is None else shell
    try:
        runs = executed_cell_texts(shell) if shell is not None else []
        return _text(runs, name if cell else name_bound_to(shell, name, answer), answer, exercises, cell)
    except Exception:  # an unforeseen shell or answer: rules then find nothing to object to, and the check goes on
        return ""


def _text(runs: Sequence[str], called: str, answer: object, exercises: Collection[str], cell: str) -> str:
    place = None if cell else _place(runs, called, answer)
    behind = [each for run in runs[place + 1 :] for each in statements(run) or ()] if place is not None else []
    cell = cell or (runs[place] if place is not None else _own_text(answer))
    known = [*_of_its_file(answer), *_latest(runs)]
    return answer_text(called, cell, behind, known, exercises, _of_module) if cell.strip() else ""


def _place(runs: Sequence[str], called: str, answer: object) -> int | None:
    """Return the index of the cell among `runs` that defines an answer; None if that is not certain.

    It is the last one that binds the answer's name. If that statement is a plain `def`, the file name of the function's
    code has to confirm it: the cell may have stopped before the `def`, and text that `exec` runs is in no cell.
    """
    bound = _last(place for place, run in enumerate(runs) if called and cell_binds(run, called))
    code = code_object_of(undecorated(answer))
    if bound is not None and (_shows(runs[bound], called) or (code and code.co_filename.startswith(_TIMED))):
        return bound
    compiled = _own_text(answer).strip() if defining_cell_filename(undecorated(answer)) else ""
    return _last(
        place for place, run in enumerate(runs) if compiled and parse_cell_as_python(run)[0].strip() == compiled
    )


def _last(places: Iterator[int]) -> int | None:
    return max(places, default=None)


def _shows(cell: str, called: str) -> bool:
    """Return whether a cell binds a name last by something other than a plain `def` or an import."""
    giving = [each for each in statements(cell) or () if called in each.names.bound]
    node = giving[-1].node if giving and not giving[-1].is_import else None
    return node is not None and not (isinstance(node, ast.FunctionDef) and not node.decorator_list)


def _own_text(answer: object) -> str:
    """Return the source text of an answer: its whole cell, or its function in a file; "" if there is neither."""
    if filename := defining_cell_filename(undecorated(answer)):
        return "".join(linecache.getlines(filename))
    try:
        return textwrap.dedent(inspect.getsource(answer))  # type: ignore[arg-type]
    except (OSError, TypeError):
        return ""


def _of_its_file(answer: object) -> tuple[Statement, ...]:
    """Return the statements of the file that defines an answer; empty if a cell defines it."""
    code = code_object_of(undecorated(answer))
    is_file = code is not None and not defining_cell_filename(undecorated(answer))
    return (statements("".join(linecache.getlines(code.co_filename))) or ()) if code and is_file else ()


def _of_module(name: str) -> str | None:
    """Return the text of a loaded module of the student's own; "" if its file is no source, None for other modules."""
    file = find_student_module_file(name)
    if file is None:
        return None
    linecache.checkcache(file)  # the file may have changed; without a name, all files that Python knows are asked for
    return "".join(linecache.getlines(file)) if Path(file).suffix == ".py" else ""


def _latest(runs: Sequence[str]) -> list[Statement]:
    """Return the statements of the cells, without those whose names later statements have bound again."""
    ran = dict.fromkeys(each for run in runs for each in statements(run) or ())  # once, if a cell ran several times
    last = {name: each for run in runs for each in statements(run) or () for name in each.names.bound}
    return [each for each in ran if not each.names.bound or any(last[name] is each for name in each.names.bound)]
