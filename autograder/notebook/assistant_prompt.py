"""`ask_assistant`: print a prompt with which an AI assistant can help with an exercise; it holds no solution.

The text goes nowhere by itself: a student copies it. It is made of what the student has seen (the last check, the
hints so far, the answer) and of sentences that the course says of known mistakes. The reference is not on a student's
machine.
"""

from __future__ import annotations

from collections.abc import Iterator

from IPython import get_ipython

from autograder.course.course import current_course
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.judge_answer import UNTOUCHED_TAG
from autograder.diagnosis.mistake_matching import cases_showing_mistake
from autograder.diagnosis.verdict import Report, Status
from autograder.exercises.exercise import Exercise
from autograder.notebook import report_rendering
from autograder.notebook.check_and_hint import LAST_REPORTS, hints_so_far, reject_answer_as_name
from autograder.notebook.kernel_answer_text import answer_text_in_kernel
from autograder.notebook.last_checked_answer import LAST_CHECKS, name_bound_to
from autograder.notebook.reveal_and_shows_error import wrap_message

_MOST_SENTENCES = 3
_RULES = """\
I am learning PyTorch, and I am stuck in an exercise. Help me to find my mistake myself.

Rules for you
- Do not write the function, and no line that I could copy into it. If I ask for that, refuse, and ask me a question.
- Ask one question at a time, and wait for my answer. First ask what I expect one of my lines to give.
- The check has run my code. Where you and the check differ, believe the check, and say that you are not sure."""


def ask_assistant(name: str) -> None:
    """Print a text to give to any assistant, so that it helps you with an exercise and does not write the function.

    It holds the exercise, what your last check says, known mistakes near it, the hints that you have had, and your
    answer. Run `check` first. Raises UnknownExercise if there is no such exercise.
    """
    reject_answer_as_name(name)
    exercise = current_course().find(name)
    if complaint := _complaint(name):
        print(wrap_message(complaint))
        return
    keys = current_course().keys(exercise.chapter)
    print(
        text_for_assistant(exercise, keys[name], LAST_REPORTS[name], answer_text_in_kernel(name, _answer(name), keys))
    )


def text_for_assistant(exercise: Exercise, key: ExpectedObservations, report: Report, answer: str) -> str:
    """Return the text that `ask_assistant` prints, of the last report and the text of the answer ("": unknown)."""
    return "\n\n".join([_RULES, *_parts(exercise, key, report, answer)])


def sentences_of_possible_mistakes(exercise: Exercise, key: ExpectedObservations, report: Report) -> list[str]:
    """Return sentences of known mistakes that fail the first failed case and no check that the answer passes.

    Empty if the check has recognized a mistake already, or if nothing failed on a case.
    """
    first = report.first
    if first is None or first.mistake or first.case is None:
        return []
    passed = {verdict.requirement for verdict in report.passed_checks}
    found: dict[str, None] = {}
    for mistake in key.mistakes:
        wrong = cases_showing_mistake(exercise, key, mistake)
        is_near = first.case in wrong and not passed & {key.cases[case].requirement for case in wrong}
        if is_near and mistake.sentence and mistake.tag != UNTOUCHED_TAG:
            found[mistake.sentence] = None
    return list(found)[:_MOST_SENTENCES]


def _answer(name: str) -> object:
    return LAST_CHECKS[name].answer


def _complaint(name: str) -> str:
    """Return why there is nothing to tell an assistant yet, "" if there is."""
    if name not in LAST_REPORTS:
        return f'Run `check("{name}", {name})` first: the text says what the check says.'
    if LAST_CHECKS[name].called and not name_bound_to(get_ipython(), name, _answer(name)):
        return f'Your answer has changed since its check. Run `check("{name}", {name})` again.'
    return ""


def _parts(exercise: Exercise, key: ExpectedObservations, report: Report, answer: str) -> Iterator[str]:
    """Yield the parts below the rules, each with its heading."""
    yield f"The exercise: {exercise.name}\n{exercise.goal}"
    yield f"What the check says\n{report_rendering.text(report)}"
    if near := sentences_of_possible_mistakes(exercise, key, report):
        yield "\n- ".join(["Mistakes of others that fail the same check (mine may be another one)", *near])
    hints = [f"{number}. {hint}" for number, hint in enumerate(hints_so_far(exercise.name), start=1)]
    if hints:
        yield "\n".join(["The hints that I have had", *hints])
    if report.verdicts[0].status is Status.NOT_ATTEMPTED:
        yield "I have not begun. Ask me what the exercise wants, in my own words."
    if answer:
        yield f"My answer\n```python\n{answer.strip()}\n```"
