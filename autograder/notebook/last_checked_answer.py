"""The last check of each exercise in this kernel: the answer object, the name it is bound to, and whether it passed."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from typing import Any

from IPython import get_ipython

from autograder.files import sha256_of_texts
from autograder.notebook.cell_bindings import binding_dump
from autograder.notebook.read_saved_and_run_cells import executed_cell_texts
from autograder.notebook.referenced_names import code_object_of, undecorated

_LONG_ENOUGH = 16  # characters of a digest
_OF_A_CELL = ("ipykernel", "ipython-input")  # one of these is in the file name of code that a notebook's cell compiled


@dataclass(frozen=True)
class LastCheck:
    """The last check of an exercise: the answer, the name that the notebook binds it to ("": none), and its result."""

    answer: object
    called: str
    passed: bool


LAST_CHECKS: dict[str, LastCheck] = {}


def remember_check(name: str, answer: object, passed: bool) -> str:
    """Remember a check; return a digest of the text of an answer that passed, "" if it failed or has no known text."""
    shell = get_ipython()
    LAST_CHECKS[name] = LastCheck(answer, name_bound_to(shell, name, answer), passed)
    try:
        return _digest(LAST_CHECKS[name], shell) if passed else ""
    except Exception:  # an unforeseen shell: then later chapters do not find this answer
        return ""


def digest_of_answer(text: str, called: str) -> str:
    """Return a digest of a cell's statements that bind a name; "" if there are none."""
    found = binding_dump(text, called)
    return sha256_of_texts(found)[:_LONG_ENOUGH] if found else ""


def defining_cell_filename(value: object) -> str:
    """Return the file name of a value's code if a cell of the notebook defines it, else ""."""
    code = code_object_of(value)
    filename = code.co_filename if code else ""
    return filename if any(part in filename for part in _OF_A_CELL) else ""


def name_bound_to(shell: Any, name: str, answer: object) -> str:
    """Return the notebook's name for this very object: the exercise's name or its `__name__`; "" if neither."""
    names = shell.user_ns if shell is not None else {}
    known = [each for each in (name, getattr(answer, "__name__", None)) if isinstance(each, str)]
    return next((each for each in known if each in names and names[each] is answer), "")


def _digest(last: LastCheck, shell: Any) -> str:
    """Return the digest of the cell that defines an answer, else of the last cell that binds its name; else ""."""
    if not last.called:
        return ""
    filename = defining_cell_filename(undecorated(last.answer))
    own = ["".join(linecache.getlines(filename))] if filename else []
    found = (digest_of_answer(text, last.called) for text in [*own, *reversed(executed_cell_texts(shell))])
    return next(filter(None, found), "")
