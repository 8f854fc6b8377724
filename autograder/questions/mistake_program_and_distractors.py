"""Find a short program with a known mistake, and descriptions that are false of it, as distractors of a question."""

from __future__ import annotations

import re

from autograder.course.answer_bank import load_bank
from autograder.course.answer_bank_replacements import bare
from autograder.course.course import Course
from autograder.course.course_location import bank_file
from autograder.course.faulty_program_names import faulty_program_name
from autograder.questions.bug_hunt_file import FaultyProgram, read_hunts
from autograder.questions.find_distractors import mistakes_excluded_by

_MOST_LINES = 30  # of a program that can be read from the last row


def find_program_and_distractors(course: Course, name: str, tag: str) -> tuple[FaultyProgram, tuple[str, ...]] | None:
    """Return a short program that shows a mistake, and the tags of mistakes whose sentences are false of it.

    It is the easiest proven hunt, else the bank's answer, without comments and docstrings. None if the exercise does
    not know the mistake, or if the program is too long. Raises UnknownExercise, and AnswerBankError for a damaged bank.
    """
    exercise = course.find(name)
    key = course.keys(exercise.chapter)[name]
    if tag not in {mistake.tag for mistake in key.mistakes}:
        return None
    proven = read_hunts(course.folder, exercise.chapter).get(name)
    if proven and (hunt := proven.easiest_by_mistake(tag)) and _is_short(hunt.code):
        return hunt, proven.false[tag]
    path = bank_file(course.folder, exercise.chapter, name)
    bank = list(load_bank(path)) if path.is_file() else []
    answer = next((each for each in bank if each.tag == tag), None)
    if answer is None:
        return None
    code = re.sub(rf"\b{name}\b", faulty_program_name(name), bare(answer.source))
    if not _is_short(code):
        return None
    sentences = {mistake.tag: mistake.sentence for mistake in key.mistakes}
    false = {sentences[each]: each for each in reversed(mistakes_excluded_by(exercise, key, bank, tag))}
    false.pop(sentences[tag], None)
    return FaultyProgram(name, tag, code), tuple(reversed(false.values()))


def _is_short(code: str) -> bool:
    return len(code.splitlines()) <= _MOST_LINES
