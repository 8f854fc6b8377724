"""Compute answer keys: draw cases, and observe the worked solution and the answer bank on them.

No student's code runs here, and nothing is compared.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from autograder.course import replay_attack
from autograder.course.answer_bank import AnswerBank, KnownAnswer
from autograder.course.chapter_model import Chapter
from autograder.course.expected_cache import ExpectedCache
from autograder.course.load_solutions import Solution, solution_error
from autograder.diagnosis.difference_messages import call_as_exercise_spells_it
from autograder.diagnosis.expected_observations import ExpectedObservations, KnownMistake
from autograder.errors import ExerciseError
from autograder.exercises.exercise import Case, Exercise, ExerciseSet
from autograder.exercises.observation import ExceptionSnapshot, Observation
from autograder.exercises.source_rules import broken_rules

VISIBLE_SEED = 0
_DRAWS = 8  # the maximum number of draws for fresh cases on which repeating the shipped observations earns no points
_LONG = 0.25  # seconds: the observations of a wrong answer that takes longer are put on the shelf by themselves
_APART = 1_000_003  # the distance between the seeds of these draws


class AnswerKeys:
    """The answer keys of a chapter's exercises, by exercise and seed; each is computed once.

    The full key holds the observations of the worked solution and of every known mistake. The reference key leaves
    out all mistakes but slips: any other mistake costs as much as an unrecognized fault, so the score is the same,
    and computing it takes a fraction of the time. Keys for fresh cases are read from `shelf`, if there is one, and
    written to it.
    """

    def __init__(
        self,
        course: Path,
        chapter: Chapter,
        exercises: ExerciseSet,
        banks: Mapping[str, AnswerBank],
        solutions: Mapping[str, Solution],
        shelf: ExpectedCache | None = None,
    ) -> None:
        self.course, self.chapter, self.exercises = course, chapter, exercises
        self.drawn: dict[tuple[str, int], int] = {}  # the seed from which the cases for a seed were drawn in the end
        self._banks, self._solutions, self._shelf = banks, solutions, shelf
        self._full: dict[tuple[str, int], ExpectedObservations] = {}
        self._reference: dict[tuple[str, int], ExpectedObservations] = {}
        self._shipped: dict[str, ExpectedObservations] = {}
        self._of_bank: dict[str, list[tuple[KnownAnswer, tuple[Observation, ...]]]] = {}

    def cases(self, name: str, seed: int) -> tuple[Case, ...]:
        """Return the cases of an exercise for this seed; seed 0 gives the visible ones."""
        return self.reference_key(name, seed).cases

    def full_key(self, name: str, seed: int) -> ExpectedObservations:
        """Return the observations of the worked solution and of every wrong answer on the cases of this seed."""
        if (name, seed) not in self._full:
            self._full[name, seed] = self._from_shelf("whole", name, seed, self._compute_full)
        return self._full[name, seed]

    def reference_key(self, name: str, seed: int) -> ExpectedObservations:
        """Return the key with the worked solution and the mistakes that cost less than other faults.

        If a submission that only repeats the shipped observations would earn points on the fresh cases, they are drawn
        again, from a seed derived from this one.
        """
        if (name, seed) not in self._reference:
            self._reference[name, seed] = self._from_shelf("bare", name, seed, self._compute_reference)
        return self._reference[name, seed]

    def bank_observations(self, name: str) -> list[tuple[KnownAnswer, tuple[Observation, ...]]]:
        """Return each answer of the bank with its observations on the visible cases."""
        if name not in self._of_bank:
            key = self.full_key(name, VISIBLE_SEED)
            known = {mistake.tag: mistake.observations for mistake in key.mistakes}
            self._of_bank[name] = [
                (answer, known.get(answer.tag) or _observe(self.exercises[name], answer, key.cases))
                for answer in self._banks[name]
            ]
        return self._of_bank[name]

    def shipped_key(self, name: str) -> ExpectedObservations:
        """Return the part of the visible cases' key that is shipped to students, as reduced by `keep`."""
        return self.full_key(name, VISIBLE_SEED).only(self.exercises[name].keep)

    def shipped_reference(self, name: str) -> ExpectedObservations:
        """Return the shipped part of the worked solution's observations, which a student could copy; no mistakes."""
        if name not in self._shipped:
            exercise = self.exercises[name]
            known = self._reference.get((name, VISIBLE_SEED)) or self._observe_solution(exercise, VISIBLE_SEED)
            self._shipped[name] = replace(known, mistakes=()).only(exercise.keep)
        return self._shipped[name]

    def _from_shelf(
        self, kind: str, name: str, seed: int, compute: Callable[[Exercise, int], ExpectedObservations]
    ) -> ExpectedObservations:
        """Return the key from the shelf, with its cases drawn again; or compute it, and put it there."""
        exercise, shelf = self.exercises[name], self._shelf if seed != VISIBLE_SEED else None
        found = shelf.find(kind, name, seed) if shelf else None
        if found is not None:
            self.drawn[name, seed], key = found
            reference = self._reference.get((name, seed))
            return replace(key, cases=reference.cases if reference else exercise.cases(self.drawn[name, seed]))
        key = compute(exercise, seed)
        if shelf is not None:
            shelf.keep(kind, seed, self.drawn[name, seed], key)
        return key

    def _compute_full(self, exercise: Exercise, seed: int) -> ExpectedObservations:
        reference = self.reference_key(exercise.name, seed)
        slips = {mistake.tag: mistake for mistake in reference.mistakes}
        wrong = [answer for answer in self._banks[exercise.name] if not answer.is_right]
        mistakes = (slips.get(answer.tag) or self._shelved_mistake(answer, reference, seed) for answer in wrong)
        return replace(reference, mistakes=tuple(mistakes))

    def _compute_reference(self, exercise: Exercise, seed: int) -> ExpectedObservations:
        for again in range(_DRAWS):
            self.drawn[exercise.name, seed] = drawn = seed + again * _APART
            key = self._observe_solution(exercise, drawn)
            known = (answer for answer in self._banks[exercise.name] if answer.slip)
            key = replace(key, mistakes=tuple(self._shelved_mistake(answer, key, seed) for answer in known))
            if seed == VISIBLE_SEED or not replay_attack.cheat_earns_points(
                exercise, self.shipped_reference(exercise.name), key
            ):
                break
        return key

    def _shelved_mistake(self, answer: KnownAnswer, key: ExpectedObservations, seed: int) -> KnownMistake:
        """Observe a wrong answer on the cases of a key; if that takes long, put the result on the shelf at once.

        A run that is killed repeatedly then gets further each time, even if one key takes longer than a run may last.
        """
        shelf, drawn = self._shelf if seed != VISIBLE_SEED else None, self.drawn.get((key.exercise, seed), seed)
        kind = f"{answer.tag} on {drawn}"
        found = shelf.find(kind, key.exercise, seed) if shelf else None
        if found is not None:
            return found[1].mistakes[0]
        begun = time.perf_counter()
        mistake = _mistake(self.exercises[key.exercise], answer, key.cases)
        if shelf and time.perf_counter() - begun >= _LONG:
            shelf.keep(kind, seed, drawn, ExpectedObservations(key.exercise, (), (), (mistake,)))
        return mistake

    def _observe_solution(self, exercise: Exercise, drawn: int) -> ExpectedObservations:
        """Return the key without mistakes; raise where the probe or the worked solution fails."""
        cases = exercise.cases(drawn)
        reference = exercise.observe(self._solutions[exercise.name], cases)
        for case, seen in zip(cases, reference, strict=True):
            if not isinstance(seen, dict):
                raise ExerciseError(
                    f"{exercise.name}: expected the probe of {case.requirement!r} to give a dict of what it sees, "
                    f"found {type(seen).__name__}. Give each thing seen a name."
                )
            error = seen.get("raised")
            if error:  # if the worked solution failed, every answer that fails would be right
                self._refuse(exercise, case, error)
        return ExpectedObservations(exercise.name, cases, reference, ())

    def _refuse(self, exercise: Exercise, case: Case, error: ExceptionSnapshot) -> NoReturn:
        what = f"{error.type}: {error.message}, at {call_as_exercise_spells_it(exercise, case)}"
        if error.line:
            raise solution_error(self.chapter, exercise.name, f"{what}, in its line `{error.line}`")
        path = exercise.path.relative_to(self.course.parent).as_posix()
        raise ExerciseError(
            f"{path}: the probe of {case.requirement!r} raised {what}; the solution had no part in it. "
            "Correct the probe, or the arguments that the case gives."
        )


def _mistake(exercise: Exercise, answer: KnownAnswer, cases: Sequence[Case]) -> KnownMistake:
    names = tuple(rule.name for rule in broken_rules(exercise.rules, answer.source, exercise.name))
    observations = tuple(map(_without_line, _observe(exercise, answer, cases)))
    return KnownMistake(answer.tag, answer.sentence or "", observations, names, answer.unless, answer.slip)


def _observe(exercise: Exercise, answer: KnownAnswer, cases: Sequence[Case]) -> tuple[Observation, ...]:
    """Return the observations of an answer of the bank on each case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning is for the student to read; turned into an error it would be judged
        return exercise.observe(answer.function, cases)


def _without_line(seen: Observation) -> Observation:
    """Leave out the line of code that raised: the bank's code is not shipped to students."""
    error = seen.get("raised")
    return seen | {"raised": replace(error, line="")} if isinstance(error, ExceptionSnapshot) else seen
