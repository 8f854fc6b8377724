"""`hunt` and `mend`: find the bug in somebody's program, and mend it; for practice, or in a graded hunt."""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from IPython.display import display

from autograder.course.course import Course, current_course
from autograder.course.faulty_program_names import exercise_of_faulty_program, faulty_program_name
from autograder.diagnosis.value_kinds import type_with_article
from autograder.exercises.probe import snapshot_value
from autograder.files import sha256_of_texts
from autograder.ipython_syntax import CHECK
from autograder.notebook.append_only_file import append_line, read_lines
from autograder.notebook.check_and_hint import report_on_visible_cases
from autograder.notebook.kernel_answer_text import answer_text_in_kernel
from autograder.notebook.last_checked_answer import LAST_CHECKS
from autograder.notebook.progress_log import PROGRESS_LOG, interactive_notebook_shell, progress_folder
from autograder.notebook.read_saved_and_run_cells import path_of_notebook
from autograder.notebook.report_rendering import Feedback
from autograder.notebook.reveal_and_shows_error import wrap_message
from autograder.questions.bug_hunt_file import BugHunt, ExerciseHunts, difficulty_sort_key, read_hunts
from autograder.questions.hunt_questions import ask_for_faulty_line, ask_for_true_sentence, mistake_still_in_key
from autograder.questions.question import Question

if TYPE_CHECKING:  # imports the widgets, which grading does not need where it runs a set-up cell
    from explorers.quiz_widget import Quiz

SEEN_HUNTS_FILE = (
    ".pytorch-basics-hunts"  # the file beside the notebook with the hunts that a reader has had, and has to hand in
)
_MOST_BYTES = 2**18
_FIRST = 6  # of the hunts that a reader has not had, one of the first so many comes next
_RANDOM = Random()
_had: list[BugHunt] = []  # the hunts of this kernel
_given: list[str] = []  # the lines on graded hunts of this kernel, as in the file


def hunt(name: str | None = None) -> Quiz | None:
    """Show somebody's program with a bug, and ask for the line and for the sentence that is true of it.

    The program answers exercise `name`, or one that you have passed: of this notebook first, then of the latest
    sittings. Each call brings another one, easy ones first. `mend` judges your mended version. Raises UnknownExercise
    if there is no such exercise.
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
    questions = [
        ask_for_faulty_line(chosen, exercise, key),
        ask_for_true_sentence(chosen, false, exercise, key, _RANDOM),
    ]
    from explorers.quiz_widget import Quiz

    return Quiz(f"A bug in {chosen.name}", questions, _advice_at_the_end(chosen))


def mend(answer: object = None) -> None:
    """Judge your mended version of the program that `hunt` has shown, as `check` would; it does not count as progress.

    Without an argument it prints the program, to be copied into a cell. With the name of an exercise, in quotes, it
    prints the program that is yours in a graded hunt of it, always the same one in this folder.
    """
    if answer is None:
        print(f"{_had[-1].code}\nmend({_had[-1].name})" if _had else "Run `hunt()` first: it shows a program to mend.")
        return
    course = current_course()
    if isinstance(answer, str) and not exercise_of_faulty_program(answer, course.exercise_names):
        print(_program_to_hand_in(answer, course))
        return
    exercise = _exercise_of(answer, course)
    if exercise is None:
        what = (
            f"`{answer.__name__}`"
            if callable(answer) and hasattr(answer, "__name__")
            else type_with_article(snapshot_value(answer))
        )
        wanted = f"`{_had[-1].name}`" if _had else "that `hunt` has shown"
        print(wrap_message(f"Expected the function {wanted}, mended, got {what}. `mend()` prints the program."))
        return
    known = course.keys(course.find(exercise).chapter)
    text = re.sub(rf"\b{faulty_program_name(exercise)}\b", exercise, answer_text_in_kernel(exercise, answer, known))
    report = report_on_visible_cases(exercise, answer, text)
    display(Feedback(report))
    if report.passed:
        print("Mended. `hunt()` brings another one.")


def _program_to_hand_in(name: str, course: Course) -> str:
    """Return the reader's program for a graded hunt of an exercise, drawn at the first call, or why there is none."""
    course.find(name)
    known = _hunts(course).get(name)
    programs = known.hunts_for_graded_tasks if known else ()
    if not programs:
        return wrap_message(f"`{name}` has no program to mend.")
    if not (_is_passed(name) or _may_be_graded_here(name)):
        return wrap_message(
            f"Pass the check of `{name}` first, or run this in a notebook with a graded hunt of it: "
            "the programs are nearly answers."
        )
    known_lines = {*_given, *_lines_of_file()}
    drawn = next((each for each in programs if _drawn_line(each) in known_lines), None)
    if drawn is None:
        drawn = _RANDOM.choice(programs)
        _given.append(_drawn_line(drawn))
        _add_to_file(_drawn_line(drawn))
    return drawn.text_with_number


def _drawn_line(drawn: BugHunt) -> str:
    """Return the line of the file that says which program is the reader's in a graded hunt."""
    return f"{drawn.exercise} {drawn.number}"


def _may_be_graded_here(name: str) -> bool:
    """Return whether the notebook has a graded hunt of an exercise; also where the notebook's file is not known."""
    shell = interactive_notebook_shell()
    path = path_of_notebook(shell) if shell is not None else None
    try:
        return path is None or f"{CHECK}{faulty_program_name(name)}" in path.read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return True


def _exercise_of(answer: object, course: Course) -> str | None:
    """Return the exercise that a program of a hunt answers, by its name; None if it is no such program."""
    called = getattr(answer, "__name__", "") if callable(answer) else ""
    return exercise_of_faulty_program(called, course.exercise_names)


def _hunts(course: Course) -> dict[str, ExerciseHunts]:
    """Return the hunts of all exercises that have some, in the order of the course."""
    found: dict[str, ExerciseHunts] = {}
    for chapter in course.listed:
        found |= {name: hunts for name, hunts in read_hunts(course.folder, chapter.stem).items() if hunts.hunts}
    return found


def _is_passed(name: str) -> bool:
    last = PROGRESS_LOG.read()[0].get(name)
    return last is not None and last.is_full


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
    """Return a hunt that the reader has not had; any one if there are no more.

    First come exercises that were hunted least, of these the ones checked in this kernel and then those of later
    sittings, and of an exercise the easiest hunts.
    """
    had = _digests_had()
    times = Counter(each.exercise for each in hunts if _digest(each) in had)
    new = [each for each in hunts if _digest(each) not in had and _still_fits(each, course)]
    tiers = {name: course.find(name).tier == "stretch" for name in {each.exercise for each in new}}
    place = {name: number for number, chapter in enumerate(course.listed) for name in chapter.exercises}
    new.sort(
        key=lambda it: (
            times[it.exercise],
            it.exercise not in LAST_CHECKS,
            -place[it.exercise],
            tiers[it.exercise],
            *difficulty_sort_key(it),
        )
    )
    return _RANDOM.choice(new[:_FIRST] or hunts)


def _still_fits(each: BugHunt, course: Course) -> bool:
    return mistake_still_in_key(each, course.keys(course.find(each.exercise).chapter)[each.exercise])


def _digest(each: BugHunt) -> str:
    return sha256_of_texts(each.exercise, each.code)[:12]


def _file() -> Path | None:
    folder = progress_folder()
    return folder / SEEN_HUNTS_FILE if folder is not None else None


def _lines_of_file() -> list[str]:
    with contextlib.suppress(OSError):
        return read_lines(path, _MOST_BYTES) if (path := _file()) is not None else []
    return []


def _add_to_file(line: str) -> None:
    """Add a line to the file, in the folder where that can be done."""
    with contextlib.suppress(OSError):
        if (path := _file()) is not None:
            append_line(path, line)


def _digests_had() -> set[str]:
    return {*map(_digest, _had), *(line.strip('"') for line in _lines_of_file())}


def _note(chosen: BugHunt) -> None:
    """Remember a hunt, so that the next one is another."""
    _had.append(chosen)
    _add_to_file(json.dumps(_digest(chosen)))


def _advice_at_the_end(chosen: BugHunt) -> Callable[[Question, int], Any]:
    def advice(question: Question, _: int) -> str | None:
        how = "Now mend it: `mend()` prints the program; copy it into a new cell, correct it, and run that cell. "
        how += f'If you are stuck, `hint("{chosen.exercise}")` says more.'
        return how if question.kind == "true_sentence" else None

    return advice
