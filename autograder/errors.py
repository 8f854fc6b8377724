"""The errors that this package raises on purpose, each told in one line.

CourseError
├── UnknownExercise     no exercise of that name
├── CheckFailed         a check did not pass where nbgrader runs the notebook
├── CourseNotFound      no course folder here
├── ChapterError        a chapter's text breaks the authors' rules (path, line)
├── ExerciseError       an exercise breaks the authors' rules
├── BankError           an answer bank breaks the authors' rules
├── DamagedData         bytes that should hold observations do not
│   └── TooMuchText     they hold more than is read
└── WorkFailed          the disk is full, the gradebook is locked, ...
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class CourseError(Exception):
    """An error with a message for the reader: what was expected, what was found, what to do next."""

    def _render_traceback_(self) -> list[str]:
        """Show one line instead of a traceback; IPython calls this when the error leaves a cell."""
        return [f"{type(self).__name__}: {self}"]


class UnknownExercise(CourseError):
    """No exercise has this name."""

    def __init__(self, name: object, known: Iterable[str], advice: str = "") -> None:
        self.name = name
        self.known = tuple(known)
        super().__init__(advice or f"there is no exercise called {name!r}. {self._suggestion()}")

    def _suggestion(self) -> str:
        close = difflib.get_close_matches(str(self.name), self.known, n=1, cutoff=0.5)
        if close:
            return f"Did you mean {close[0]!r}?"
        return f"The exercises are: {', '.join(self.known)}."


class CheckFailed(CourseError):
    """A check did not pass; raised only where nbgrader runs the notebook, which counts an error as 0."""


class CourseNotFound(CourseError):
    """The course folder is not here."""


class ChapterError(CourseError):
    """A chapter's text breaks a rule; the message begins with `path:line:`."""


class ExerciseError(CourseError):
    """An exercise breaks a rule."""


class BankError(CourseError):
    """An answer bank breaks a rule."""


class DamagedData(CourseError):
    """Bytes or files that should hold observations do not."""


class TooMuchText(DamagedData):
    """Data that holds more text and numbers, beside tensors, than are read."""


class WorkFailed(CourseError):
    """The machine did not let us finish: full disk, locked gradebook, missing permission."""
