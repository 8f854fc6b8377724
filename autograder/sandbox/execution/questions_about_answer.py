"""Ask about an answer where it runs, and read the questions that come back, which its code may have forged.

Questions travel as observations: one for each, with the fields in which it differs from the others of its answer, or
a single one, `{"none": REASON}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.judge_answer import judge
from autograder.errors import DamagedData
from autograder.exercises.exercise import Exercise
from autograder.exercises.observation import Observation
from autograder.questions.own_code_questions import deterministic_questions, own_code_questions
from autograder.questions.question import Question
from autograder.questions.question_search_limit import limit_seconds
from autograder.questions.student_program_runs import NoQuestions

MAX_QUESTION_SECONDS = 3.0  # of drawing questions about one answer
MOST_QUESTIONS = 15  # about one answer
_LONGEST, _LONGEST_REASON = 2_000, 200  # characters of a text
_NONE = "none"
_TEXTS = ("kind", "prompt", "explanation")
_UNREADABLE = "what came back is no question"


def observe_questions_about_answer(
    exercise: Exercise, key: ExpectedObservations, names: Mapping[str, Any], called: str, text: str, draw: str | int
) -> Sequence[Observation]:
    """Return questions about the answer `names[called]`, whose text is `text`, as observations; `draw` is the seed.

    A number gives the questions that a notebook draws with it.
    """
    try:
        if not judge(exercise, key, exercise.observe(names[called], key.cases), text).passed:
            raise NoQuestions("it does not pass its check here")
        about = exercise, key, text, called, names
        if isinstance(draw, int):
            found = deterministic_questions(*about, draw)
        else:
            found = own_code_questions(*about, Random(draw), limit_seconds(MAX_QUESTION_SECONDS), MOST_QUESTIONS)
    except NoQuestions as reason:
        return [{_NONE: str(reason)}]
    plain = (question.to_json() for question in found)
    return [{name: each[name] for name in (*_TEXTS, "choices", "right")} for each in plain]


def read_questions_from_observations(observations: Sequence[Observation], exercise: str, code: str) -> list[Question]:
    """Return the questions in what a question step has sent; raise NoQuestions, with the reason, if there is none.

    `exercise` and `code` are the caller's own, since what was sent is the student's. Its texts can say anything.
    """
    reason = next((each[_NONE] for each in observations if _NONE in each), _UNREADABLE)
    try:
        found = [_question(each, exercise, code) for each in observations[:MOST_QUESTIONS] if _NONE not in each]
    except (DamagedData, LookupError, ValueError):
        found = []
    if not found:
        raise NoQuestions(reason if _is_text(reason, _LONGEST_REASON) else _UNREADABLE)
    return found


def _question(sent: Observation, exercise: str, code: str) -> Question:
    choices, right = sent["choices"], sent["right"]
    kind, prompt, explanation = (sent[name] for name in _TEXTS)
    if not (
        isinstance(choices, list) and type(right) is int and all(map(_is_text, (*choices, *map(sent.get, _TEXTS))))
    ):
        raise DamagedData("expected texts and the place of the right choice")
    return Question(kind, exercise, prompt, tuple(choices), right, explanation, code)


def _is_text(value: object, longest: int = _LONGEST) -> bool:
    return isinstance(value, str) and 0 < len(value) <= longest
