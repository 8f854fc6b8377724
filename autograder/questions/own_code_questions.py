"""Draw questions about a reader's own program that passes an exercise: at most three, and within a limit.

The program runs twice on each newly drawn case, traced line by line. Questions use only facts on which both runs agree,
and each choice is verified by computing it. If that leaves no question, NoQuestions is raised with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

import torch

from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.exercises.exercise import Case, Exercise
from autograder.questions.question import Question
from autograder.questions.question_search_limit import EffortLimit, limit_steps
from autograder.questions.questions_on_changes import (
    SAME,
    argument_questions,
    first_failing_requirement_questions,
    left_out_questions,
)
from autograder.questions.questions_on_values import (
    count_questions,
    dtype_questions,
    memory_questions,
    result_questions,
    shape_questions,
    value_questions,
)
from autograder.questions.student_program import NoQuestions, OwnCode
from autograder.questions.traced_run_questions import AskedRun

MOST = 3
_STEPS = 30_000  # of the traced program, for questions that are to be drawn again elsewhere: a second or two
_SEEDS = 10**6
_FACTS = ("shape", "dtype", "value", "result", "argument")  # kinds of questions that ask for what has been computed
_NUMBER = re.compile(r"-?[\d.]+")
_EXACT = ("value", "count", "runs", "dtype")  # kinds whose answers may hang on all that goes in
_HIDING = re.compile(r"`: a (?:function|\w*_iterator|generator|DataLoader)\b")  # words for what is not shown
_MOST_WEAK = 4  # weak questions, until no others are looked for
_ON_VALUES = (shape_questions, value_questions, memory_questions, count_questions, dtype_questions, result_questions)
_ON_CHANGES = (left_out_questions, first_failing_requirement_questions, argument_questions)


def own_code_questions(
    exercise: Exercise,
    key: ExpectedObservations,
    text: str,
    called: str,
    names: Mapping[str, Any],
    random: Random,
    limit: EffortLimit,
    most: int = MOST,
) -> list[Question]:
    """Return up to `most` questions about a program; raise NoQuestions, with the reason, if there is none.

    `text` defines the answer, which is `names[called]`; `names` are those that it finds there. No step of the program
    is run once `limit` is reached.
    """
    code = OwnCode(exercise, key, text, called, names, limit)
    found: list[Question] = []
    ran = False
    for case in _cases(exercise, random):
        if len(found) >= most or limit.is_over():
            break
        run = code.run(case)
        if run is not None and run.events:
            ran = True
            _add_of_one_run(AskedRun(code, run, random), found, most)
    if not found:
        why = "nothing in its runs makes a question with four different choices" if ran else _NO_RUN
        raise NoQuestions(why)
    return found


def repeatable_questions(
    exercise: Exercise, key: ExpectedObservations, text: str, called: str, names: Mapping[str, Any], draw: int
) -> list[Question]:
    """Return up to three questions, the same for the same program and number on any machine, however fast it is."""
    return own_code_questions(exercise, key, text, called, names, Random(draw), limit_steps(_STEPS))


_NO_RUN = "no run of it can be traced: it takes long, or does not do the same each time, or not what its text says"


def _cases(exercise: Exercise, random: Random) -> Iterator[Case]:
    """Yield a fresh case of each requirement: with whole numbers, and as it is.

    The first requirement comes first. Where all sizes of a tensor are equal no shape tells which axis moved: such cases
    come last.
    """
    cases: dict[str, Case] = {}
    for case in exercise.cases(random.randrange(1, _SEEDS)):
        if case.requirement not in cases or (_is_square(cases[case.requirement]) and not _is_square(case)):
            cases[case.requirement] = case
    first, *others = cases.values()
    for case in sorted((first, *random.sample(others, len(others))), key=_is_square):
        if (whole := _with_whole_numbers(case)) is not None:
            yield whole
        yield case


def _is_square(case: Case) -> bool:
    tensors = [each for each in (*case.args, *case.kwargs.values()) if isinstance(each, torch.Tensor)]
    return any(each.ndim > 1 and len(set(each.shape)) == 1 for each in tensors)


def _with_whole_numbers(case: Case) -> Case | None:
    """Return the case with the numbers of its tensors rounded; None if too many numbers are equal then, or all 0."""
    tensors = [each for each in (*case.args, *case.kwargs.values()) if _is_float(each)]
    rounded = [each.round() for each in tensors]
    if not tensors or any(2 * len(new.unique()) < min(new.numel(), 4) or not new.any() for new in rounded):
        return None
    args = [each.round() if _is_float(each) else each for each in case.args]
    kwargs = {name: each.round() if _is_float(each) else each for name, each in case.kwargs.items()}
    return Case(case.requirement, *args, **kwargs)


def _is_float(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _add_of_one_run(asked: AskedRun, found: list[Question], most: int) -> None:
    """Add questions about one run that were not asked yet, of as many kinds as there are.

    Weak ones are asked only where the run gives too few others.
    """
    random = asked.random
    kinds = [*random.sample(_ON_VALUES, len(_ON_VALUES)), *random.sample(_ON_CHANGES, len(_ON_CHANGES))]
    kinds.insert(0, kinds.pop())  # one about a change comes first: it takes longest
    drawn = [each(asked) for each in kinds]
    weak: list[Question] = []
    while drawn and len(found) < most and len(weak) < _MOST_WEAK:
        kind = drawn.pop(0)
        question = next((each for each in kind if each is not None), None)
        if question is not None:
            drawn.append(kind)
            if not any(question.prompt == other.prompt for other in (*found, *weak)):
                (weak if _is_weak(question, found) else found).append(question)
    found += weak[: most - len(found)]


def _is_weak(question: Question, found: Sequence[Question]) -> bool:
    """Return whether an answer can be copied, or hangs on what the words of the call do not show.

    It can be copied if a shape, a dtype or a list stands in the question, or answers another question.
    """
    right = question.choices[question.right]
    if _HIDING.search(question.prompt.partition("\n")[0]) and (question.kind in _EXACT or right == SAME):
        return True
    is_known = right in question.prompt or any(right == each.choices[each.right] for each in found)
    return question.kind in _FACTS and is_known and not _NUMBER.fullmatch(right)
