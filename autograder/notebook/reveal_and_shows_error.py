"""Functions for lesson cells: `reveal` shows a prediction beside the result, `shows_error` runs code that must fail."""

from __future__ import annotations

import ast
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from IPython import get_ipython
from IPython.display import display

from autograder.exercises.compare_observations import Tolerance, first_difference
from autograder.exercises.probe import snapshot_value
from autograder.notebook.colors import OPEN, PASSED, SURPRISING
from autograder.notebook.html_markup import tag

MAX_LINE_WIDTH = (
    80  # characters per line of a cell's output beside an open sidebar: JupyterLab breaks longer lines within words
)

_THREE_DIGITS = Tolerance(1e-3, 0.0)
_INVITATION = "No guess yet: replace the ... above and run both cells."


class PredictionOutcome:
    """A prediction and the actual value, as text and as HTML."""

    def __init__(self, guess: object, actual: object) -> None:
        self.open = guess is ... or (isinstance(guess, tuple) and any(part is ... for part in guess))
        self.held = not self.open and _agree(guess, actual)
        self._guess, self._actual = _brief(guess), _brief(actual)

    def __repr__(self) -> str:
        if self.open:
            return f"{_INVITATION} The answer is {self._actual}."
        ending = "Your prediction holds." if self.held else "Not what you expected? Read on."
        return f"You predicted {self._guess}; the answer is {self._actual}. {ending}"

    def _repr_html_(self) -> str:
        color = OPEN if self.open else PASSED if self.held else SURPRISING
        content = [repr(self)]
        if self.open:  # folded, so that running the cell does not give the answer away
            head = tag("summary", "Show me", style="cursor:pointer")
            content = [_INVITATION, " ", tag("details", head, f"The answer is {self._actual}.")]
        return tag("div", *content, style=f"border-left:4px solid {color};padding:0.3em 0.9em;margin-top:0.4em")


def reveal(guess: object, actual: object) -> None:
    """Show a prediction (`...` means none yet) beside the value that the run gave.

    A guess belongs to one cell: afterwards the notebook's `guess` is `...` again, so that it does not count for the
    next prediction if you skip that. The same cell, run again, remembers it.
    """
    shell, place = get_ipython(), sys._getframe(1).f_code.co_filename
    if shell is not None:
        guess = _guesses.get(place, guess) if guess is ... else guess
        _guesses[place] = guess
        for name in [name for name, value in shell.user_ns.items() if name.startswith("guess") and value is guess]:
            shell.user_ns[name] = ...
    display(PredictionOutcome(guess, actual))


# The guess of each cell, by the file name of its code, which IPython derives from the cell's text.
_guesses: dict[str, object] = {}


def _agree(guess: object, actual: object) -> bool:
    """Return whether a guess equals the actual value as a reader means it.

    (2, 3) equals torch.Size([2, 3]), 1 equals 1.0, and a list equals a tensor with these values. Whole numbers have to
    be exact, other numbers to agree in three digits.
    """
    if isinstance(guess, str) and not isinstance(actual, str):
        written = _brief(actual)
        return _brief(guess) in (written, written.removeprefix("torch.")) or _agree(_unquoted(guess), actual)
    difference = first_difference(_loose(actual), _loose(guess), _THREE_DIGITS)
    return difference is None and _exact(_loose(guess), _loose(actual))


def _unquoted(guess: str) -> object:
    """Return the Python literal that a string contains, or None."""
    try:
        return ast.literal_eval(guess)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _exact(guess: object, actual: object) -> bool:
    """Return whether whole numbers are equal to the last digit; the caller has compared everything else."""
    if isinstance(guess, list) and isinstance(actual, list):
        return all(map(_exact, guess, actual))
    whole = isinstance(guess, float) and isinstance(actual, float) and guess.is_integer() and actual.is_integer()
    return not whole or guess == actual


def _loose(value: object) -> object:
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_loose(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return snapshot_value(value)


def _brief(value: object) -> str:
    if isinstance(value, torch.Size):
        return str(tuple(value))
    return " ".join(str(value).split())


@contextmanager
def shows_error(kind: type[BaseException], match: str = "") -> Iterator[None]:
    """Run a block that must raise `kind`, and print the message.

    Raises AssertionError if the block raises nothing, or an error whose message does not contain `match`: the text
    around this cell would no longer be true.
    """
    try:
        yield
    except kind as error:
        message = " ".join(str(error).split())
        assert match in message, f"expected a message with {match!r}, got: {message}"
        print(wrap_message(f"{type(error).__name__}: {message}"))
        return
    raise AssertionError(f"expected this cell to raise {kind.__name__}; it ran to its end")


def wrap_message(message: str) -> str:
    """Return a message in lines of at most LINE characters, broken between words only."""
    return textwrap.fill(" ".join(message.split()), MAX_LINE_WIDTH, break_long_words=False, break_on_hyphens=False)
