"""Check the cell of a graded part with questions: say how many answers it holds, and not which of them are right."""

from __future__ import annotations

import os

from autograder.errors import CheckFailed, DamagedData
from autograder.notebook.reveal_and_shows_error import wrap_message
from autograder.questions.own_code_question_part import WrittenAnswers, digest_of_questions, parse_question_answers

_EXECUTION = "NBGRADER_EXECUTION"


def check_answers(name: str, exercise: str, answer: object) -> None:
    """Print how many questions about an exercise are answered.

    Where nbgrader runs the notebook, raises CheckFailed if none is, unless none was asked; in its grading always, which
    gives 0 points: only the course's own grader can tell which are right.
    """
    try:
        is_done, message = _told(parse_question_answers(answer), exercise)
    except DamagedData as error:
        is_done, message = False, f"{error}. Copy them again."
    if _EXECUTION in os.environ and (not is_done or os.environ[_EXECUTION] == "autograde"):
        raise CheckFailed(f"{name}: {message}")
    print(wrap_message(f"{name}: {message}"))


def _told(written: WrittenAnswers | None, exercise: str) -> tuple[bool, str]:
    """Return whether there is nothing left to do, and what to say."""
    if written is None:
        return False, f'no question is answered. `about("{exercise}", graded=True)` prints what to copy into its cell.'
    if written.chosen:
        return True, f"{len(written.chosen)} answered. Feedback will tell which are right."
    if written.digest == digest_of_questions([]):
        return True, "there is no question about your code. Your teacher scores this part."
    return False, "no question is answered. Take away the # before one choice of each, and run its cell again."
