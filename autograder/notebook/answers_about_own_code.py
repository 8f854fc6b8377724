"""Check the cell of a graded part with questions: say how many answers it holds, and not which of them are right."""

from __future__ import annotations

import os

from autograder.errors import CheckFailed, DamagedData
from autograder.notebook.reveal_and_shows_error import wrap_message
from autograder.questions.graded_questions import answers_in

_EXECUTION = "NBGRADER_EXECUTION"


def check_answers(name: str, exercise: str, answer: object) -> None:
    """Print how many questions about an exercise are answered.

    Where nbgrader runs the notebook, raises CheckFailed if none is; in its grading always, which gives 0 points: only
    the course's own grader can tell which are right.
    """
    try:
        written = answers_in(answer)
    except DamagedData as error:
        message = f"{name}: {error}. Copy them again."
        count = 0
    else:
        count = len(written.chosen) if written is not None else 0
        message = f"{name}: {count} answered. Feedback will tell which are right." if count else _none(name, exercise)
    if _EXECUTION in os.environ and (not count or os.environ[_EXECUTION] == "autograde"):
        raise CheckFailed(message)
    print(wrap_message(message))


def _none(name: str, exercise: str) -> str:
    return f'{name}: no question is answered. `about("{exercise}", graded=True)` prints what to copy into its cell.'
