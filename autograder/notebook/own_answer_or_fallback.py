"""`mine`: let a lesson continue with the reader's own answer if it passed its check, else with the lesson's version."""

from __future__ import annotations

import linecache
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from IPython.display import display

from autograder.course.course import current_course
from autograder.course.points_and_hints import IndexedChapter
from autograder.errors import UnknownExercise
from autograder.notebook.colors import OPEN, PASSED
from autograder.notebook.earlier_notebooks import UNTIL_YOURS_PASSES, AnswerOrReason, answer_from_earlier_notebook
from autograder.notebook.html_markup import Html, panel, sentence_to_html
from autograder.notebook.last_checked_answer import LAST_CHECKS, LastCheck, defining_cell_filename
from autograder.notebook.progress_log import interactive_notebook_shell
from autograder.notebook.read_saved_and_run_cells import path_of_notebook

A = TypeVar("A")
_GIVEN_A_NAME = re.compile(r"(\w+)\s*=\s*mine\(")  # the lesson's line that calls `mine`
_CHANGED = ": yours has changed since its check; run its check again"
_displayed: set[AnswerSourceNotice] = set()


@dataclass(frozen=True)
class AnswerSourceNotice:
    """The line below a lesson's cell that says whose version the lesson continues with, and why."""

    name: str
    why: str
    called: str = ""  # the name that the lesson's line binds it to, if it is of the form `NAME = mine(...)`

    def __repr__(self) -> str:
        begins = f"From here on, `{self.called}` is" if self.called else "From here on:"
        return f"{begins} the lesson's `{self.name}`{self.why}" if self.why else f"{begins} your `{self.name}`"

    def _repr_html_(self) -> Html:
        return panel(OPEN if self.why else PASSED, sentence_to_html(repr(self)))


def mine(name: str, otherwise: A) -> A:
    """Return the reader's own answer to exercise `name` if its last check passed, else `otherwise`; display which.

    An answer to an exercise of an earlier chapter comes from that chapter's notebook, if it is beside this one. When a
    notebook is graded, the result is always `otherwise`, and nothing is displayed or read. Raises UnknownExercise; any
    other error becomes the reason for `otherwise`, and the lesson continues.
    """
    shell = interactive_notebook_shell()
    if shell is None:
        return otherwise
    try:
        found = _found(name, otherwise, shell)
    except UnknownExercise:
        raise
    except Exception as error:  # an unforeseen file, shell or installation must not stop the lesson
        found = AnswerOrReason(
            why=f": yours cannot be looked for ({' '.join(f'{type(error).__name__}: {error}'.split())})"
        )
    taken = AnswerSourceNotice(name, found.why, _called(sys._getframe(1).f_code.co_filename, sys._getframe(1).f_lineno))
    if taken not in _displayed:
        _displayed.add(taken)
        display(taken)
    return otherwise if found.why else cast(A, found.answer)


def _called(file: str, line: int) -> str:
    """Return the name that a line `my_name = mine(...)` binds, which the cells below use; else ""."""
    given = _GIVEN_A_NAME.match(linecache.getline(file, line).strip())
    return given[1] if given else ""


def _found(name: str, otherwise: object, shell: Any) -> AnswerOrReason:
    chapter = _chapter_of(name)
    if name in LAST_CHECKS:
        return _checked_here(LAST_CHECKS[name], shell)
    running = path_of_notebook(shell)
    if _is_here(name, chapter, otherwise, shell, running):
        return AnswerOrReason(why=UNTIL_YOURS_PASSES)
    return answer_from_earlier_notebook(name, chapter, running)


def _chapter_of(name: object) -> IndexedChapter:
    """Return the chapter of an exercise; raise UnknownExercise, which suggests the nearest name."""
    chapters = {exercise: chapter for chapter in current_course().listed for exercise in chapter.exercises}
    if not isinstance(name, str):
        raise UnknownExercise(name, chapters, 'The name comes first, in quotes: `mine("NAME", plain_version)`.')
    if name not in chapters:
        raise UnknownExercise(name, chapters)
    return chapters[name]


def _checked_here(last: LastCheck, shell: Any) -> AnswerOrReason:
    """Return the choice after a check in this kernel; an answer that was defined again since then does not count."""
    if not (last.passed and last.called):
        return AnswerOrReason(why=UNTIL_YOURS_PASSES)
    return (
        AnswerOrReason(last.answer) if shell.user_ns.get(last.called) is last.answer else AnswerOrReason(why=_CHANGED)
    )


def _is_here(name: str, chapter: IndexedChapter, otherwise: object, shell: Any, running: Path | None) -> bool:
    """Return whether an exercise that this kernel has not checked belongs to the notebook that it runs."""
    stems = [each.stem for each in current_course().listed if running is not None and each.stem in running.name]
    if stems:
        return chapter.stem in stems
    written = shell.user_ns.get(name)
    return written is not otherwise and bool(defining_cell_filename(written))
