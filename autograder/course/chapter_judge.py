"""The judge of a chapter: its exercises, answer bank, answer keys and reports, read from the course's folder.

It works where the course folder is, never in the process that runs a student's code.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.course.answer_bank import load_bank
from autograder.course.borrowed_exercises import (
    ExerciseOfOtherChapter,
    append_exercises_of_other_chapters,
    empty_chapter,
)
from autograder.course.chapter_reader import read_chapter
from autograder.course.compute_expected_observations import AnswerKeys
from autograder.course.course import course_in
from autograder.course.course_location import bank_file, chapter_path
from autograder.course.expected_cache import ExpectedCache
from autograder.course.load_solutions import run_solutions
from autograder.course.missing_exercise_parts import check_parts
from autograder.diagnosis.judge_answer import judge
from autograder.diagnosis.report_cache import ReportCache
from autograder.diagnosis.verdict import Report
from autograder.exercises.exercise import ExerciseSet
from autograder.exercises.observation import Observation


class Judge:
    """Judges the answers to one chapter of a course folder (the one with `chapters/` and `answers/`).

    If `only` names an exercise, the files of the others are not read, so that errors in them do not matter. `lent` are
    exercises of other chapters, which are judged as in their own chapter; `stem` is then a chapter, or an assignment of
    such exercises alone, for which `prelude` is the setup cell. Answer keys for fresh cases are kept in `shelf`.
    """

    def __init__(
        self,
        course: Path,
        stem: str,
        only: str | None = None,
        lent: Sequence[ExerciseOfOtherChapter] = (),
        prelude: str = "",
        shelf: ExpectedCache | None = None,
    ) -> None:
        self.course = course
        path, found = chapter_path(course, stem), course_in(course)
        is_chapter = path.is_file() or not lent
        self.chapter = read_chapter(path) if is_chapter else empty_chapter(stem, prelude)
        self.names = self.chapter.exercises if only is None else (only,)
        self.homes: tuple[str, ...] = (stem,) if is_chapter else ()  # the chapters that its exercises come from
        self.exercises = ExerciseSet(stem)
        if is_chapter:
            check_parts(course, self.chapter, only)
            self.exercises = found.exercises(stem) if only is None else ExerciseSet(stem, [found.exercise(stem, only)])
        self.banks = {name: load_bank(bank_file(course, stem, name)) for name in self.names}
        self.solutions = run_solutions(self.chapter, self.names) if is_chapter else {}
        if lent:
            self._borrow(lent)
        self.keys = AnswerKeys(course, self.chapter, self.exercises, self.banks, self.solutions, shelf)
        self.reports = ReportCache()

    def _borrow(self, lent: Sequence[ExerciseOfOtherChapter]) -> None:
        others = {each.name: Judge(self.course, each.home, only=each.name) for each in lent}
        self.chapter = append_exercises_of_other_chapters(self.chapter, self.course, lent)
        self.names = (*self.names, *others)
        self.homes = tuple(dict.fromkeys((*self.homes, *(each.home for each in lent))))
        borrowed = [judge.exercises[name] for name, judge in others.items()]
        self.exercises = ExerciseSet(self.chapter.stem, [*self.exercises, *borrowed])
        self.banks |= {name: judge.banks[name] for name, judge in others.items()}
        self.solutions |= {name: judge.solutions[name] for name, judge in others.items()}

    def judge(self, name: str, seed: int, observations: Sequence[Observation], source: str) -> Report:
        """Return the report on an answer with these observations on the cases of the seed; `source` is its text."""
        return judge(self.exercises[name], self.keys.full_key(name, seed), observations, source)
