"""The errors that this package raises on purpose. Commands and notebooks show each as one line, without a traceback.

CourseError
├── UnknownExercise     no exercise has that name
├── PackageCollision    another author's package has a name of this one
├── CheckFailed         a check did not pass while nbgrader ran the notebook
├── CourseNotFound      there is no course folder here
├── ChapterFormatError  a chapter's text breaks a rule for authors (path, line)
├── ExerciseError       an exercise breaks a rule for authors
├── AnswerBankError     an answer bank breaks a rule for authors
├── DamagedData         bytes that should hold observations do not
│   └── TooMuchText     they hold more text than the grader reads
└── WorkFailed          a full disk, a locked gradebook, a missing package, ...
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


class PackageCollision(CourseError, ImportError):
    """Another author's package is installed under a name of this one, and hides its files or mixes with them."""


class CheckFailed(CourseError):
    """A check did not pass. Raised only while nbgrader runs the notebook: nbgrader gives 0 points for an error."""


class CourseNotFound(CourseError):
    """There is no course folder at the given place."""


class ChapterFormatError(CourseError):
    """A chapter's text breaks a rule for authors. The message begins with `path:line:`."""


class ExerciseError(CourseError):
    """An exercise breaks a rule for authors."""


class AnswerBankError(CourseError):
    """An answer bank breaks a rule for authors."""


class DamagedData(CourseError):
    """Bytes or files that should hold observations do not."""


class TooMuchText(DamagedData):
    """Data that holds more text and numbers (tensors not counted) than the grader reads."""


class WorkFailed(CourseError):
    """The work cannot be done here, for a reason that the message names, such as a full disk or an invalid setting."""
