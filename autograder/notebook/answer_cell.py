"""Finds the cell of an answer among those that the kernel has run, and with it the text that the answer is judged by.

Grading has the cells of the file in their order; here it is those that ran, in the order of running, and of each name
the latest definition.
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

from autograder.notebook.cell_bindings import binds
from autograder.notebook.last_check import file_of, name_in
from autograder.notebook.referenced_names import code_of, unwrapped
from autograder.notebook.saved_notebook import texts_run
from autograder.student_modules import file_of_own
from autograder.submission.answer_source import Statement, answer_text, python_of, statements

_TIMED = "<timed"  # under such a name `%%time` compiles a cell, whichever it is


def text_of(name: str, answer: object, exercises: Collection[str], cell: str = "", shell: Any = None) -> str:
    """The text of an answer as grading reads it; "" where it is unknown. `cell` is the text of one that never ran.

    Of the other `exercises` no answer belongs to it; `shell` is the kernel, if not the one that this runs in.
    """
    shell = get_ipython() if shell is None else shell
    try:
        runs = texts_run(shell) if shell is not None else []
        return _text(runs, name if cell else name_in(shell, name, answer), answer, exercises, cell)
    except Exception:  # a shell or an answer of a kind not thought of: what nobody can read proves nothing
        return ""


def _text(runs: Sequence[str], called: str, answer: object, exercises: Collection[str], cell: str) -> str:
    place = None if cell else _place(runs, called, answer)
    behind = [each for run in runs[place + 1 :] for each in statements(run) or ()] if place is not None else []
    cell = cell or (runs[place] if place is not None else _own_text(answer))
    known = [*_of_its_file(answer), *_latest(runs)]
    return answer_text(called, cell, behind, known, exercises, _of_module) if cell.strip() else ""


def _place(runs: Sequence[str], called: str, answer: object) -> int | None:
    """Which of the cells that ran defines an answer, as far as they show it.

    It is the last one that gives its name a value. Where that is a plain function, the name under which it was compiled
    must say so too: a cell may have stopped above it, and what `exec` runs stands in no cell.
    """
    bound = _last(place for place, run in enumerate(runs) if called and binds(run, called))
    code = code_of(unwrapped(answer))
    if bound is not None and (_shows(runs[bound], called) or (code and code.co_filename.startswith(_TIMED))):
        return bound
    compiled = _own_text(answer).strip() if file_of(unwrapped(answer)) else ""
    return _last(place for place, run in enumerate(runs) if compiled and python_of(run)[0].strip() == compiled)


def _last(places: Iterator[int]) -> int | None:
    return max(places, default=None)


def _shows(cell: str, called: str) -> bool:
    """Whether a cell gives a name its value by what is more than a plain function, and no import."""
    giving = [each for each in statements(cell) or () if called in each.names.bound]
    node = giving[-1].node if giving and not giving[-1].is_import else None
    return node is not None and not (isinstance(node, ast.FunctionDef) and not node.decorator_list)


def _own_text(answer: object) -> str:
    """The text that an answer's code says it is from: the whole of a cell, of a file the function; "" for neither."""
    if filename := file_of(unwrapped(answer)):
        return "".join(linecache.getlines(filename))
    try:
        return textwrap.dedent(inspect.getsource(answer))  # type: ignore[arg-type]
    except (OSError, TypeError):
        return ""


def _of_its_file(answer: object) -> tuple[Statement, ...]:
    """The statements of the file that defines an answer; none where a cell does."""
    code = code_of(unwrapped(answer))
    is_file = code is not None and not file_of(unwrapped(answer))
    return (statements("".join(linecache.getlines(code.co_filename))) or ()) if code and is_file else ()


def _of_module(name: str) -> str | None:
    """The text of a loaded module that a student wrote; "" where its file holds none, None for any other module."""
    file = file_of_own(name)
    linecache.checkcache(file)  # it may have been written anew
    return ("".join(linecache.getlines(file)) if Path(file).suffix == ".py" else "") if file is not None else None


def _latest(runs: Sequence[str]) -> list[Statement]:
    """The statements of these cells without those whose names a later one has given another value."""
    ran = dict.fromkeys(each for run in runs for each in statements(run) or ())  # a cell may run many times
    last = {name: each for run in runs for each in statements(run) or () for name in each.names.bound}
    return [each for each in ran if not each.names.bound or any(last[name] is each for name in each.names.bound)]
