"""`review`: a quiz at the start of a chapter with questions from earlier chapters, with newly drawn numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

from autograder.course.course import current_course
from autograder.course.points_and_hints import IndexedChapter
from autograder.errors import UnknownExercise
from autograder.files import sha256_of_texts
from autograder.notebook.progress_log import PROGRESS_LOG, progress_folder
from autograder.notebook.reveal_and_shows_error import wrap_message
from autograder.notebook.review_log import REVIEW_LOG, ReviewHistory, ShownQuestions
from autograder.questions.question import Question
from autograder.questions.question_generator_registry import QuestionGenerator, question_generators
from autograder.questions.review_schedule import ReviewAnswer, choose_generators

if TYPE_CHECKING:  # imports the widgets, which grading does not need where it runs a set-up cell
    from explorers.quiz_widget import OnAnswer, Quiz

QUESTIONS = 5
_TITLE = "Questions from earlier sittings"
_NOTHING = "Nothing to ask yet: `review` asks about sittings that you have begun."
_ALL_SEEN = "You have seen every question that there is about the sittings that you have begun."
_DRAWS = 50  # tries for a question that the reader has not seen


def review(sitting: str | None = None) -> Quiz | None:
    """Ask five questions from earlier sittings, with numbers that you have not had: first about what you had wrong.

    `sitting` is the one that you are about to begin, such as "2b"; without it, the questions are from all that you have
    begun. Your answers are kept in a file beside the notebook. Raises UnknownExercise if there is no such sitting.
    """
    course = current_course()
    place = _place(sitting, course.listed)
    history, today = REVIEW_LOG.read(), date.today()
    there = {each.name: each for each in _open_generators(question_generators(course), course.listed, place, history)}
    random = Random(sitting) if progress_folder() is None else Random()  # automatic runs are all alike
    shuffled = random.sample(list(there.values()), len(there))  # of equally urgent questions, any one comes first
    order = choose_generators(shuffled, history.answers, today, len(there))
    questions = list(islice(_unseen(order, history.digests, random), QUESTIONS))
    stem = course.listed[place].stem if place < len(course.listed) else ""
    unwritten = REVIEW_LOG.note(ShownQuestions(today, stem, tuple(map(_digest, questions))))
    nothing = "" if questions else _ALL_SEEN if there else _NOTHING
    for message in filter(None, (history.note, unwritten, nothing)):
        print(wrap_message(message))
    return _quiz(questions, there, course.listed) if questions else None


def _quiz(questions: Sequence[Question], there: dict[str, QuestionGenerator], listed: Sequence[IndexedChapter]) -> Quiz:
    from explorers.quiz_widget import Quiz

    return Quiz(_TITLE, questions, _record(there, {each.stem: each.title for each in listed}))


def _place(sitting: str | None, listed: Sequence[IndexedChapter]) -> int:
    """Return the index of a sitting; without one, the index after the last. Raises UnknownExercise."""
    codes = [short_sitting_name(each.stem) for each in listed]
    if sitting is None:
        return len(codes)
    if sitting not in codes:
        advice = f'there is no sitting {sitting!r}. Write one of {", ".join(codes)}, as in review("{codes[-1]}").'
        raise UnknownExercise(sitting, codes, advice)
    return codes.index(sitting)


def short_sitting_name(stem: str) -> str:
    """Return how `review` calls a sitting: its number and letter, as in `2b`, without what comes before and after."""
    found = re.match(r"\D*0*(\d+[a-z]?)(?![a-z\d])", stem)
    return found[1] if found else stem


def _open_generators(
    generators: dict[str, QuestionGenerator], listed: Sequence[IndexedChapter], place: int, history: ReviewHistory
) -> Iterator[QuestionGenerator]:
    """Yield the generators of the sittings before `place` that the reader has begun; of optional ones, passed in part.

    A sitting is begun if a check was run in it, or `review`, or if a question from it was answered. If that holds for
    none of them, but the reader stands at a later sitting, all before it count as begun.
    """
    checks = PROGRESS_LOG.read()[0]
    passed = {name for name, last in checks.items() if last.is_full}
    earlier = {each.stem: each.exercises.keys() for each in listed[:place]}
    begun = {stem for stem, names in earlier.items() if names & checks.keys()}
    begun |= {each.sitting for each in history.shown}
    begun |= {generators[each.question].sitting for each in history.answers if each.question in generators}
    if place < len(listed) and begun.isdisjoint(earlier):
        begun |= earlier.keys()
    for each in generators.values():
        if each.sitting in earlier and (earlier[each.sitting] & passed if each.optional else each.sitting in begun):
            yield each


def _unseen(order: Iterable[QuestionGenerator], seen: set[str], random: Random) -> Iterator[Question]:
    """Yield a question of each generator that the reader has not seen, where there is one."""
    for each in order:
        drawn = (each.question(random) for _ in range(_DRAWS))
        new = next((question for question in drawn if _digest(question) not in seen), None)
        if new is not None:
            yield new


def _digest(question: Question) -> str:
    """Return what identifies a question whatever the order of its choices."""
    return sha256_of_texts(question.code, question.expression)[:8]


def _record(there: dict[str, QuestionGenerator], titles: dict[str, str]) -> OnAnswer:
    """Return the function that writes each answer into the log, and says where a wrong one is explained."""

    def answered(question: Question, chosen: int) -> str:
        right = chosen == question.right
        answer = ReviewAnswer(date.today(), question.kind, there[question.kind].facts, right, _digest(question))
        unwritten = REVIEW_LOG.note(answer)
        where = "" if right else f"It is explained in {titles[question.about]}, and comes back with other numbers."
        return " ".join(filter(None, (where, unwritten)))

    return answered
