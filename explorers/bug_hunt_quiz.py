"""`hunt` and `mend`: find the bug in somebody's program, and mend it."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from IPython.display import display

from autograder.course.course import Course, current_course
from autograder.diagnosis.value_kinds import type_words
from autograder.exercises.probe import see
from autograder.files import digest_of
from autograder.notebook.append_only_file import append_line, read_lines
from autograder.notebook.check_and_hint import visible_report
from autograder.notebook.kernel_answer_text import text_of
from autograder.notebook.lesson_functions import wrap_message
from autograder.notebook.progress_log import LOGBOOK, folder_of_notebook
from autograder.notebook.report_rendering import Feedback
from autograder.questions.bug_hunt import BugHunt, ExerciseHunts, difficulty, faulty_program_name, read_hunts
from autograder.questions.hunt_questions import line_question, sentence_question, shows_known_mistake
from autograder.questions.question import Question

if TYPE_CHECKING:  # imports the widgets, which grading does not need where it runs a set-up cell
    from explorers.quiz_widget import Quiz

SEEN = ".pytorch-basics-hunts"  # the file beside the notebook with the hunts that a reader has had
_MOST_BYTES = 2**18
_EASIEST = 6  # of the easiest hunts that a reader has not had, one of so many comes next
_RANDOM = Random()
_had: list[BugHunt] = []  # the hunts of this kernel


def hunt(name: str | None = None) -> Quiz | None:
    """Show somebody's program with a bug, and ask for the line and for the sentence that is true of it.

    The program answers exercise `name`, or any that you have passed; each call brings another one, easy ones first.
    `mend` judges your mended version. Raises UnknownExercise if there is no such exercise.
    """
    course = current_course()
    if name is not None:
        course.find(name)
    there = _hunts(course)
    passed = [each for each in there if _is_passed(each)]
    if complaint := _complaint(name, list(there), passed):
        print(wrap_message(complaint))
        return None
    chosen = _next_one([each for one in ([name] if name else passed) for each in there[one].hunts], course)
    _note(chosen)
    exercise = course.find(chosen.exercise)
    key = course.keys(exercise.chapter)[chosen.exercise]
    false = there[chosen.exercise].false.get(chosen.mistake, ())
    questions = [line_question(chosen, exercise, key), sentence_question(chosen, false, exercise, key, _RANDOM)]
    from explorers.quiz_widget import Quiz

    return Quiz(f"A bug in {chosen.name}", questions, _advice_at_the_end(chosen))


def mend(answer: object = None) -> None:
    """Judge your mended version of the program that `hunt` has shown, as `check` would; it does not count as progress.

    Without an argument it prints the program, to be copied into a cell.
    """
    if answer is None:
        print(f"{_had[-1].code}\nmend({_had[-1].name})" if _had else "Run `hunt()` first: it shows a program to mend.")
        return
    course = current_course()
    exercise = _exercise_of(answer, course)
    if exercise is None:
        what = f"`{answer.__name__}`" if callable(answer) and hasattr(answer, "__name__") else type_words(see(answer))
        wanted = f"`{_had[-1].name}`" if _had else "that `hunt` has shown"
        print(wrap_message(f"Expected the function {wanted}, mended, got {what}. `mend()` prints the program."))
        return
    known = current_course().keys(course.find(exercise).chapter)
    text = re.sub(rf"\b{faulty_program_name(exercise)}\b", exercise, text_of(exercise, answer, known))
    report = visible_report(exercise, answer, text)
    display(Feedback(report))
    if report.passed:
        print("Mended. `hunt()` brings another one.")


def _exercise_of(answer: object, course: Course) -> str | None:
    """Return the exercise that a program of a hunt answers, by its name; None if it is no such program."""
    called = getattr(answer, "__name__", "")
    names = (name for chapter in course.listed for name in chapter.exercises)
    return next((name for name in names if callable(answer) and called == faulty_program_name(name)), None)


def _hunts(course: Course) -> dict[str, ExerciseHunts]:
    """Return the hunts of all exercises that have some, in the order of the course."""
    found: dict[str, ExerciseHunts] = {}
    for chapter in course.listed:
        found |= {name: hunts for name, hunts in read_hunts(course.folder, chapter.stem).items() if hunts.hunts}
    return found


def _is_passed(name: str) -> bool:
    last = LOGBOOK.read()[0].get(name)
    return last is not None and last.passed == last.of


def _complaint(name: str | None, there: list[str], passed: list[str]) -> str:
    """Return why there is nothing to hunt, "" if there is."""
    where = f"You can hunt in {_names(passed)}." if passed else "Hunts come from exercises that you have passed."
    if not there:
        return "This course has no hunts."
    if name is not None and name not in there:
        return f"`{name}` has no hunts. These have: {_names(there)}."
    if name is not None and name not in passed:
        return f"Pass the check of `{name}` first: the programs of its hunts are nearly answers to it. {where}"
    return "" if passed else f"Nothing to hunt yet. {where}"


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _next_one(hunts: list[BugHunt], course: Course) -> BugHunt:
    """Return one of the easiest hunts that the reader has not had; any one if there are no more."""
    had = _digests_had()
    new = [each for each in hunts if _digest(each) not in had and _still_fits(each, course)]
    tiers = {name: course.find(name).tier == "stretch" for name in {each.exercise for each in new}}
    new.sort(key=lambda each: (tiers[each.exercise], *difficulty(each)))
    return _RANDOM.choice(new[:_EASIEST] or hunts)


def _still_fits(each: BugHunt, course: Course) -> bool:
    return shows_known_mistake(each, course.keys(course.find(each.exercise).chapter)[each.exercise])


def _digest(each: BugHunt) -> str:
    return digest_of(each.exercise, each.code)[:12]


def _file() -> Path | None:
    folder = folder_of_notebook()
    return folder / SEEN if folder is not None else None


def _digests_had() -> set[str]:
    lines: list[str] = []
    with contextlib.suppress(OSError):
        lines = read_lines(path, _MOST_BYTES) if (path := _file()) is not None else []
    return {*map(_digest, _had), *(line.strip('"') for line in lines)}


def _note(chosen: BugHunt) -> None:
    """Remember a hunt, in the folder where that can be done, so that the next one is another."""
    _had.append(chosen)
    with contextlib.suppress(OSError):
        if (path := _file()) is not None:
            append_line(path, json.dumps(_digest(chosen)))


def _advice_at_the_end(chosen: BugHunt) -> Callable[[Question, int], Any]:
    def advice(question: Question, _: int) -> str | None:
        how = "Now mend it: `mend()` prints the program; copy it into a new cell, correct it, and run that cell."
        return how if question.kind == "true_sentence" else None

    return advice
