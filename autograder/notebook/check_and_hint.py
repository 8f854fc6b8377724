"""`check` and `hint`, which students call in their notebooks: judge an answer on the visible cases, show a hint."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Collection
from dataclasses import dataclass, replace

from IPython import get_ipython
from IPython.display import display

from autograder.course.course import current_course
from autograder.course.faulty_program_names import exercise_of_faulty_program
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.judge_answer import judge, make_report_with_one_cause
from autograder.diagnosis.value_kinds import type_with_article
from autograder.diagnosis.verdict import Report, Status
from autograder.errors import CheckFailed, UnknownExercise
from autograder.exercises.exercise import Exercise
from autograder.exercises.probe import snapshot_value
from autograder.notebook import fresh_case_check as fresh_cases
from autograder.notebook.call_answer_on_cases import call_on_cases, timeout_report
from autograder.notebook.count_answered_questions import check_answers
from autograder.notebook.hidden_state import add_hidden_state_notes
from autograder.notebook.keep_in_drive import warn_once_progress_is_lost
from autograder.notebook.kernel_answer_text import answer_text_in_kernel
from autograder.notebook.last_checked_answer import remember_check
from autograder.notebook.progress_log import PROGRESS_LOG
from autograder.notebook.progress_overview import next_exercise_message
from autograder.notebook.report_rendering import Feedback, report_headline
from autograder.notebook.reveal_and_shows_error import wrap_message
from autograder.notebook.shuffled_lines_offer import offer_shuffled_lines
from autograder.notebook.slow_check_notice import display_while_check_is_slow
from autograder.questions.bug_hunt_file import read_hunts
from autograder.questions.mending_exercise import MendingExercise, mending_exercise
from autograder.questions.own_code_question_part import asked_exercise
from autograder.questions.student_program_runs import is_askable

_DIALOG = 100  # characters in a line of nbgrader's dialog
_hints_given: dict[str, int] = {}  # calls of `hint`, which goes through the hints again and again
LAST_REPORTS: dict[str, Report] = {}  # the last report on each exercise that this kernel has checked


def check(name: str, answer: object = None, *, fresh: bool = False) -> None:
    """Check an answer to exercise `name` and show what is right, what is not, and which misunderstanding it looks like.

    `fresh=True` asks the judge for cases drawn anew, as grading does; it works where the course folder is (teachers).
    Where nbgrader runs the notebook, an answer that does not pass raises CheckFailed, which nbgrader counts as 0.
    A mended program of a graded hunt (`their_NAME`) takes the visible cases, and is no progress. Of answers to graded
    questions (`about_NAME`) it says how many there are.
    """
    reject_answer_as_name(name)
    if _is_checked_apart(name, answer):
        return
    with display_while_check_is_slow(name) as show:
        if fresh and callable(answer) and not fresh_cases.must_do_without_fresh_cases():
            with fresh_cases.end_kernel_at_course_error():
                report = fresh_cases.judge_on_fresh_cases(name, answer, _text(name, answer))
        else:
            report = report_on_visible_cases(name, answer)
        report = add_hidden_state_notes(report, answer)
        show(Feedback(report, current_course().find(name).hints))
    LAST_REPORTS[name] = report
    before, _ = PROGRESS_LOG.read()
    complaint = PROGRESS_LOG.note(report, remember_check(name, answer, report.passed))
    after = (next_exercise_message(name, before), _offer(name, answer)) if report.passed else ()
    for line in filter(None, (complaint, *after)):
        print(wrap_message(line))
    offer_shuffled_lines(report)
    if report.passed:
        warn_once_progress_is_lost()
    _refuse(report)


def _is_checked_apart(name: str, answer: object) -> bool:
    """Check what belongs to a graded hunt or to graded questions, and return True; return False for any other name."""
    with fresh_cases.end_kernel_at_course_error():
        known = tuple(current_course().exercise_names)
    asked, hunted = asked_exercise(name, known), exercise_of_faulty_program(name, known)
    if asked:
        check_answers(name, asked, answer)
    elif hunted:
        _check_mend(name, answer)
    return bool(asked or hunted)


def _check_mend(name: str, answer: object) -> None:
    """Check a mended program of a graded hunt on the visible cases, without progress, hints and offers."""
    with display_while_check_is_slow(name) as show:
        report = report_on_visible_cases(name, answer)
        show(Feedback(report))
    _refuse(report)


def _refuse(report: Report) -> None:
    """Raise CheckFailed for an answer that did not pass where nbgrader runs the notebook."""
    if not report.passed and "NBGRADER_EXECUTION" in os.environ:
        raise CheckFailed(_first_reason(report))


def _text(name: str, answer: object) -> str:
    """Return the text of an answer to an exercise, with its helpers, as this kernel knows it."""
    return answer_text_in_kernel(name, answer, current_course().keys(current_course().find(name).chapter))


def _offer(name: str, answer: object) -> str:
    """Return the line that offers questions about an answer that has passed; "" where nobody can be asked about it."""
    if "NBGRADER_EXECUTION" in os.environ:
        return ""
    if not is_askable(_text(name, answer), getattr(answer, "__name__", name)):
        return ""
    shell = get_ipython()
    imported = "" if shell is not None and "about" in shell.user_ns else "from autograder import about; "
    return f'For questions about your code, run {imported}about("{name}") in a new cell.'


def _first_reason(report: Report) -> str:
    """Return the headline and the first sentence of a failed check, in lines that fit nbgrader's Validate dialog."""
    reasons = (verdict.sentence for verdict in report.failed_checks)
    reason = next(filter(None, reasons), "")
    written = report.verdicts[0].status is not Status.NOT_ATTEMPTED
    return (
        f"{report_headline(report)}\n{textwrap.fill(reason, _DIALOG)}"
        if reason and written
        else report_headline(report)
    )


def reject_answer_as_name(name: object) -> None:
    """Raise UnknownExercise, with what to write, if an answer stands in the place of the exercise's name."""
    if callable(name):
        given = getattr(name, "__name__", "my_answer")
        raise UnknownExercise(name, [], f'The name comes first, in quotes: `check("{given}", {given})`.')


def report_on_visible_cases(name: str, answer: object, cell: str = "") -> Report:
    """Judge an answer on the visible cases, and print the output of one of its calls.

    This needs no solution, no course folder and no network: the expected observations are in the package. `cell` is
    the text of an answer that no cell has defined.
    """
    exercise, key = _task(name)
    keys = current_course().keys(exercise.chapter)
    if other := _something_else(exercise, answer, keys):
        return _told(exercise, make_report_with_one_cause(exercise, key.cases, Status.FAIL, other), "")
    assert callable(answer)
    calls = call_on_cases(exercise, answer, key.cases)
    text = answer_text_in_kernel(name, answer, keys, cell)
    stopped = timeout_report(exercise, key.cases, calls) if calls.stopped else None
    report = stopped or judge(exercise, key, calls.observations, text)
    calls.show_printed(exercise, key.cases, report)
    return _told(exercise, report, text)


def _told(exercise: Exercise, report: Report, text: str) -> Report:
    """Return the report as readers get it: on a mended program, it has one line."""
    return exercise.as_mend(report, text) if isinstance(exercise, MendingExercise) else report


def _task(name: str) -> tuple[Exercise, ExpectedObservations]:
    """Return an exercise with its key, or for `their_NAME` the task to mend a program, whose key has no mistakes."""
    course = current_course()
    hunted = exercise_of_faulty_program(name, course.exercise_names)
    exercise = course.find(hunted or name)
    key = course.keys(exercise.chapter)[exercise.name]
    if hunted is None:
        return exercise, key
    known = read_hunts(course.folder, exercise.chapter).get(hunted)
    return mending_exercise(exercise, known), replace(key, exercise=name, mistakes=())


def _something_else(exercise: Exercise, answer: object, exercises: Collection[str]) -> str:
    """Return a sentence on what is no function, or the answer to another exercise of the chapter; "" otherwise."""
    name = exercise.name
    if not callable(answer):
        return (
            f"Expected the function `{name}` itself, got {type_with_article(snapshot_value(answer))}. "
            f'Write `check("{name}", {name})`, without calling it.'
        )
    other = getattr(answer, "__name__", name)
    return f'This is `{other}`. Write `check("{name}", {name})`.' if other != name and other in exercises else ""


def hint(name: str) -> None:
    """Show the next hint to an exercise; after the last one it starts again."""
    reject_answer_as_name(name)
    hints = current_course().find(name).hints
    given = _hints_given.get(name, 0)
    _hints_given[name] = given + 1
    place = given % len(hints)
    display(Hint(place + 1, len(hints), hints[place]))


def hints_so_far(name: str) -> tuple[str, ...]:
    """Return the hints to an exercise that `hint` has shown in this kernel, in order."""
    return current_course().find(name).hints[: _hints_given.get(name, 0)]


@dataclass(frozen=True)
class Hint:
    """One hint of several, as text and as Markdown."""

    number: int
    count: int
    sentence: str

    def __repr__(self) -> str:
        return f"Hint {self.number} of {self.count}: {self.sentence}"

    def _repr_markdown_(self) -> str:
        return f"**Hint {self.number} of {self.count}.** {self.sentence}"
