"""Draw questions about a reader's own program that passes an exercise: at most three, and within a limit.

The program runs twice on each newly drawn case, traced line by line. Questions use only facts on which both runs agree,
and each choice is verified by computing it. If that leaves no question, NoQuestions is raised with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from random import Random
from typing import Any

import torch

from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.exercises.exercise import Case, Exercise
from autograder.questions.question import Question
from autograder.questions.question_search_limit import SearchLimit, limit_steps
from autograder.questions.questions_on_changes import (
    argument_shape_questions,
    first_failing_requirement_questions,
    left_out_questions,
)
from autograder.questions.questions_on_values import (
    changed_argument_questions,
    dtype_questions,
    how_often_questions,
    result_questions,
    shape_questions,
    shared_memory_questions,
    value_questions,
)
from autograder.questions.rank_questions import RankedQuestions
from autograder.questions.student_program_runs import NoQuestions, PreparedAnswer
from autograder.questions.traced_run_questions import AskedRun

MAX_QUESTIONS = 3
_STEPS = 30_000  # of the traced program, for questions that are to be drawn again elsewhere: a second or two
_SEEDS = 10**6
_MOST_TRIED = 12  # questions of one run, until no more are looked for
_ON_VALUES = (
    *(
        shape_questions,
        value_questions,
        shared_memory_questions,
        how_often_questions,
        dtype_questions,
        result_questions,
    ),
    changed_argument_questions,
)
_ON_CHANGES = (left_out_questions, first_failing_requirement_questions, argument_shape_questions)


def own_code_questions(
    exercise: Exercise,
    key: ExpectedObservations,
    text: str,
    called: str,
    names: Mapping[str, Any],
    random: Random,
    limit: SearchLimit,
    most: int = MAX_QUESTIONS,
) -> list[Question]:
    """Return up to `most` questions about a program; raise NoQuestions, with the reason, if there is none.

    `text` defines the answer, which is `names[called]`; `names` are those that it finds there. No step of the program
    is run once `limit` is reached.
    """
    code = PreparedAnswer(exercise, key, text, called, names, limit)
    drawn = RankedQuestions([], [], [])
    ran, shown = False, set[str]()
    # Last cases may show little of an answer: they come only where others have shown that it does what its text says.
    last = (case for case in _cases(exercise, random, last=True) if drawn.ranked_questions())
    for case in chain(_cases(exercise, random), _cases(exercise, random), last):
        if len(drawn.good) >= most or limit.is_over():
            break
        run = code.run(case)
        if run is not None and run.events:
            ran, asked = True, AskedRun(code, run, random)
            if asked.call_words not in shown:  # whole numbers look like others where no number is shown
                _add_of_one_run(asked, drawn, most)
            shown.add(asked.call_words)
    found = drawn.ranked_questions()[:most]
    if not found:
        why = "nothing in its runs makes a question with four different choices" if ran else _NO_RUN
        raise NoQuestions(why)
    return found


def deterministic_questions(
    exercise: Exercise, key: ExpectedObservations, text: str, called: str, names: Mapping[str, Any], draw: int
) -> list[Question]:
    """Return up to three questions, the same for the same program and number on any machine, however fast it is."""
    return own_code_questions(exercise, key, text, called, names, Random(draw), limit_steps(_STEPS))


_NO_RUN = "no run of it can be traced: it takes long, or does not do the same each time, or not what its text says"


def _cases(exercise: Exercise, random: Random, *, last: bool = False) -> Iterator[Case]:
    """Yield a fresh case of each requirement, its first or its `last` one: with whole numbers, and as it is.

    The first requirement comes first. Where all sizes of a tensor are equal no shape tells which axis moved: such cases
    come last.
    """
    cases: dict[str, Case] = {}
    for case in exercise.cases(random.randrange(1, _SEEDS)):
        known = cases.get(case.requirement)
        if known is None or last or (_is_square(known) and not _is_square(case)):
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


def _add_of_one_run(asked: AskedRun, drawn: RankedQuestions, most: int) -> None:
    """Add questions about one run, of as many kinds as there are."""
    random = asked.random
    kinds = [*random.sample(_ON_VALUES, len(_ON_VALUES)), *random.sample(_ON_CHANGES, len(_ON_CHANGES))]
    kinds.insert(0, kinds.pop())  # one about a change comes first: it takes longest
    waiting = [each(asked) for each in kinds]
    tried = 0
    while waiting and len(drawn.good) < most and tried < _MOST_TRIED:
        kind = waiting.pop(0)
        question = next((each for each in kind if each is not None), None)
        if question is not None:
            waiting.append(kind)
            drawn.add(question)
            tried += 1
