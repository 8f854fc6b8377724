"""Ask what a faulty program returns: the wrong choices are the expected result, and those of other known mistakes."""

from __future__ import annotations

import re
from random import Random

from autograder.diagnosis.compare_case_facets import compare_facets
from autograder.diagnosis.difference_messages import DifferenceMessage, call_as_exercise_spells_it, difference_message
from autograder.diagnosis.expected_observations import ExpectedObservations, KnownMistake
from autograder.diagnosis.mistake_matching import cases_showing_mistake
from autograder.exercises.exercise import Exercise
from autograder.questions.bug_hunt_file import FaultyProgram
from autograder.questions.computed_question import NUMBER_OF_CHOICES
from autograder.questions.hunt_questions import inline_code_text
from autograder.questions.question import Question, shuffled_question

_AN_ERROR = "an error"
_LONGEST_CALL, _LONGEST_VALUE = 160, 100  # characters; longer ones cannot be read at a glance
_HIDDEN = "<"  # stands in a call for an argument that is not spelled out


def ask_for_result_of_faulty_program(
    program: FaultyProgram, exercise: Exercise, key: ExpectedObservations, random: Random
) -> Question | None:
    """Ask what comes out of a call for which the program fails, and whose arguments are all spelled out.

    All choices are values of the same facet of this call, so that only one of them is right. None if the program fails
    for no such call without raising, or if too few short values differ.
    """
    mistake = next(each for each in key.mistakes if each.tag == program.mistake)
    for case in cases_showing_mistake(exercise, key, mistake):
        call = re.sub(
            rf"\b{exercise.name}\b",
            program.name,
            inline_code_text(call_as_exercise_spells_it(exercise, key.cases[case])),
        )
        values = [] if _HIDDEN in call or len(call) > _LONGEST_CALL else _values(case, mistake, exercise, key)
        if len(values) == NUMBER_OF_CHOICES:
            return _question(program, key.cases[case].requirement, call, values, random)
    return None


def _question(program: FaultyProgram, requirement: str, call: str, values: list[str], random: Random) -> Question:
    choices = tuple(value if value == _AN_ERROR else f"`{value}`" for value in values)
    prompt = (
        f"`{program.name}` is somebody's answer to `{program.exercise}`. `check` looks whether it “{requirement}”. "
        f"What comes out of `{call}`?"
    )
    explanation = f"{choices[0]} comes out; {choices[1]} is expected."
    return shuffled_question(
        Question("result", program.exercise, prompt, choices, 0, explanation, program.code), random
    )


def _values(case: int, mistake: KnownMistake, exercise: Exercise, key: ExpectedObservations) -> list[str]:
    """Return what the mistake shows in this case, what is expected, and what others show; [] if it cannot be asked."""
    mine = _shown(case, mistake, exercise, key)
    if mine is None or not (mine[1].got and mine[1].expected):
        return []
    others = [shown for each in key.mistakes if (shown := _shown(case, each, exercise, key))]
    found = [mine[1].got, mine[1].expected, *(told.got for path, told in others if path == mine[0]), _AN_ERROR]
    values = [value for value in dict.fromkeys(map(inline_code_text, found)) if value and len(value) <= _LONGEST_VALUE]
    return values[:NUMBER_OF_CHOICES] if values[:2] == [inline_code_text(each) for each in found[:2]] else []


def _shown(
    case: int, mistake: KnownMistake, exercise: Exercise, key: ExpectedObservations
) -> tuple[tuple[str | int, ...], DifferenceMessage] | None:
    """Return the facet in which a mistake first differs in this case, with both values; None if in none, or raised."""
    right, seen = key.reference[case], mistake.observations[case]
    difference = compare_facets(exercise, key.cases[case], right, seen).first
    if difference is None or "raised" in seen:
        return None
    tells = exercise.tells(key.cases[case].requirement)
    return difference.path, difference_message(exercise, tells, difference, right, seen)
