"""What this kernel has checked last, by exercise: the very object, and what the notebook writes it with."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from typing import Any

from IPython import get_ipython

from autograder.files import digest_of
from autograder.notebook.cell_bindings import written
from autograder.notebook.referenced_names import code_of, unwrapped
from autograder.notebook.saved_notebook import texts_run

_LONG_ENOUGH = 16  # characters of a digest
_OF_A_CELL = ("ipykernel", "ipython-input")  # in the name under which a notebook's cell was compiled


@dataclass(frozen=True)
class LastCheck:
    """The last check of an exercise: of which object, under which name the notebook has it ("": none)."""

    answer: object
    called: str
    passed: bool


CHECKED: dict[str, LastCheck] = {}


def note(name: str, answer: object, passed: bool) -> str:
    """Note a check; returns what tells the text of an answer that passed from another one, "" where nothing does."""
    shell = get_ipython()
    CHECKED[name] = LastCheck(answer, name_in(shell, name, answer), passed)
    try:
        return _digest(CHECKED[name], shell) if passed else ""
    except Exception:  # a shell of a kind not thought of: then a later chapter does not know this answer again
        return ""


def digest_of_answer(text: str, called: str) -> str:
    """What tells a cell's definition of a name from another one; "" where the cell has none."""
    found = written(text, called)
    return digest_of(found)[:_LONG_ENOUGH] if found else ""


def file_of(value: object) -> str:
    """The name under which a value's cell was compiled; "" for what no cell of the notebook defines."""
    code = code_of(value)
    filename = code.co_filename if code else ""
    return filename if any(part in filename for part in _OF_A_CELL) else ""


def name_in(shell: Any, name: str, answer: object) -> str:
    """The name that a notebook has for an answer: the exercise's own, or the function's; "" where it has neither."""
    names = shell.user_ns if shell is not None else {}
    known = [each for each in (name, getattr(answer, "__name__", None)) if isinstance(each, str)]
    return next((each for each in known if each in names and names[each] is answer), "")


def _digest(last: LastCheck, shell: Any) -> str:
    """Of the cell that defines an answer, else of the one that gave its name a value last."""
    if not last.called:
        return ""
    filename = file_of(unwrapped(last.answer))
    own = ["".join(linecache.getlines(filename))] if filename else []
    found = (digest_of_answer(text, last.called) for text in [*own, *reversed(texts_run(shell))])
    return next(filter(None, found), "")
