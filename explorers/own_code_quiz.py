"""`about`: questions about the reader's own answer, computed from runs of it; for practice, or in a graded part."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from IPython.utils.capture import capture_output

from autograder.course.course import current_course
from autograder.exercises.exercise import Exercise
from autograder.notebook.kernel_answer_text import answer_text_in_kernel
from autograder.notebook.last_checked_answer import LAST_CHECKS, LastCheck
from autograder.notebook.referenced_names import undecorated
from autograder.notebook.reveal_and_shows_error import wrap_message
from autograder.notebook.time_limit import TimeLimitReached, interrupt_after
from autograder.questions.own_code_question_part import NUMBER_OF_DRAWS, answer_form_text
from autograder.questions.own_code_questions import deterministic_questions, own_code_questions
from autograder.questions.question import Question
from autograder.questions.question_search_limit import limit_seconds
from autograder.questions.student_program_runs import NoQuestions

if TYPE_CHECKING:
    from explorers.quiz_widget import Quiz

_RANDOM = Random()
_SECONDS = 0.5
_LONGEST = 10.0  # seconds: one operation may go on when the time for questions is over
_COPY = "Copy these lines into the next cell, in place of what it holds; then your teacher scores that part."
_CHOOSE = (
    "Copy these lines into the next cell, in place of what it holds. Take away the # before one choice of each "
    "question, and run that cell. If you change your answer to the exercise later, run this cell again."
)


def about(name: str, *, graded: bool = False) -> Quiz | None:
    """Ask up to three questions about your own answer to exercise `name`, which has passed its check.

    Each call draws them anew. Where there is none, a line says why. `graded=True` prints them as lines for the cell of
    a graded part, and tells of no choice whether it is right. Raises UnknownExercise if no exercise has the name.
    """
    exercise = current_course().find(name)
    last = LAST_CHECKS.get(name)
    if last is None or not last.passed:
        print(wrap_message(f"Questions are about an answer that passes: run its cell and `check` of `{name}` first."))
        return None
    draw = _RANDOM.randrange(NUMBER_OF_DRAWS) if graded else None
    try:
        with interrupt_after(_LONGEST), capture_output(stdout=False, stderr=False):
            questions = _questions(exercise, last, draw)
    except (NoQuestions, TimeLimitReached) as reason:
        why = str(reason) or "running it takes long"
        print(wrap_message(f"No questions about your `{name}`: {why}."))
        questions = []
    if draw is not None:
        how = _CHOOSE if questions else _COPY
        print(f"{wrap_message(how)}\n\n{answer_form_text(name, draw, questions)}")
    if graded or not questions:
        return None
    from explorers.quiz_widget import Quiz  # a widget takes long to import, and every sitting imports `about`

    return Quiz(f"Your {name}", questions)


def _questions(exercise: Exercise, last: LastCheck, draw: int | None) -> list[Question]:
    keys = current_course().keys(exercise.chapter)
    text, called = answer_text_in_kernel(exercise.name, last.answer, keys), last.called or exercise.name
    names = {**_names_of(last.answer), called: last.answer}
    key = keys[exercise.name]
    if draw is not None:
        return deterministic_questions(exercise, key, text, called, names, draw)
    return own_code_questions(exercise, key, text, called, names, _RANDOM, limit_seconds(_SECONDS))


def _names_of(answer: object) -> dict[str, Any]:
    """Return the names that an answer finds: the globals of its function, or of a method of its class."""
    inner = undecorated(answer)
    methods = vars(inner).values() if isinstance(inner, type) else ()
    found = (getattr(getattr(each, "__func__", each), "__globals__", None) for each in (inner, *methods))
    return dict(next(filter(None, found), {}))
