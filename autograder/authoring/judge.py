"""The judge: runs the reference and the answer bank of a course, and holds observations against what they show.

It works where the course folder is, never in the process that runs a student's code.
"""

from __future__ import annotations

import linecache
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from autograder.authoring import cheating
from autograder.authoring.bank import KnownAnswer, bank_path, load_bank
from autograder.authoring.chapter import read_chapter
from autograder.authoring.key_shelf import KeyShelf
from autograder.authoring.lent import Lent, begun, joined
from autograder.authoring.parts import check_parts
from autograder.catalog.course import course_in
from autograder.catalog.place import chapter_path
from autograder.errors import ChapterError, ExerciseError
from autograder.files import digest_of
from autograder.judging.judgement import is_final, judge, judge_read
from autograder.judging.key import Key, Mistake
from autograder.judging.text import Text
from autograder.judging.verdict import Report
from autograder.judging.words import spelled
from autograder.watching.exercise import Case, Exercise, ExerciseSet
from autograder.watching.observation import Observation, Raised
from autograder.watching.rules import broken

VISIBLE_SEED = 0
_DRAWS = 8  # how often fresh cases are drawn, at most, so that they give no points for what is shipped
_LONG = 0.25  # seconds from which on what a wrong answer shows is kept apart
_MOST = 4096  # reports that are remembered
_APART = 1_000_003  # how far apart the seeds of these drawings are


class Judge:
    """The judge of one chapter of a course folder (the one with `chapters/` and `answers/`).

    `only` names an exercise: then nothing is read of the others, whatever is wrong with them. The exercises of other
    chapters that are `lent` to this one are judged as they are there; where there is no such chapter, `prelude` is what
    answers find before them. Keys for fresh cases are looked for on the `shelf` first, and put there.
    """

    def __init__(
        self,
        course: Path,
        stem: str,
        only: str | None = None,
        lent: Sequence[Lent] = (),
        prelude: str = "",
        shelf: KeyShelf | None = None,
    ) -> None:
        self.course, self._shelf = course, shelf
        path, found = chapter_path(course, stem), course_in(course)
        is_chapter = path.is_file() or not lent
        self.chapter = read_chapter(path) if is_chapter else begun(stem, prelude)
        self.names = self.chapter.exercises if only is None else (only,)
        self.homes: tuple[str, ...] = (stem,) if is_chapter else ()
        self.exercises = ExerciseSet(stem)
        if is_chapter:
            check_parts(course, self.chapter, only)
            self.exercises = found.exercises(stem) if only is None else ExerciseSet(stem, [found.exercise(stem, only)])
        self.banks = {name: load_bank(bank_path(course, stem, name)) for name in self.names}
        self._references = self._run_solutions() if is_chapter else {}
        if lent:
            self._borrow(lent)
        self._keys: dict[tuple[str, int], Key] = {}
        self._bare: dict[tuple[str, int], Key] = {}
        self._repeated: dict[str, Key] = {}
        self.drawn: dict[tuple[str, int], int] = {}  # from which seed the cases of an exercise were drawn, for a seed
        self._reports: dict[tuple[str, int, str, Text | str], Report] = {}
        self._shown: dict[str, list[tuple[KnownAnswer, tuple[Observation, ...]]]] = {}

    def _borrow(self, lent: Sequence[Lent]) -> None:
        others = {each.name: Judge(self.course, each.home, only=each.name) for each in lent}
        self.chapter = joined(self.chapter, self.course, lent)
        self.names = (*self.names, *others)
        self.homes = tuple(dict.fromkeys((*self.homes, *(each.home for each in lent))))
        borrowed = [judge.exercises[name] for name, judge in others.items()]
        self.exercises = ExerciseSet(self.chapter.stem, [*self.exercises, *borrowed])
        self.banks |= {name: judge.banks[name] for name, judge in others.items()}
        self._references |= {name: judge.reference(name) for name, judge in others.items()}

    def _run_solutions(self) -> dict[str, Callable[..., Any]]:
        namespace: dict[str, Any] = {"__name__": f"solutions_{self.chapter.stem}"}
        exec(self.chapter.prelude, namespace)
        for name in self.names:
            try:
                text, place = self.chapter.solution(name), f"<solution of {name}>"
                exec(compile(text, place, "exec"), namespace)
                # So that an error tells its line; one without a line was raised outside of the solution.
                linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
            except Exception as error:
                raise self._faulty(name, f"{type(error).__name__}: {error}") from error
        return {name: namespace[name] for name in self.names}

    def _faulty(self, name: str, what: str) -> ChapterError:
        line = self.chapter.exercise(name).line
        return ChapterError(f"{self.chapter.where}:{line}: the solution of {name!r} raised {what}. Correct it.")

    def reference(self, name: str) -> Callable[..., Any]:
        """The worked solution of an exercise, ready to be called."""
        return self._references[name]

    def cases(self, name: str, seed: int) -> tuple[Case, ...]:
        """The cases of a grading run; seed 0 gives the visible ones."""
        return self.bare_key(name, seed).cases

    def key(self, name: str, seed: int) -> Key:
        """What the reference and every wrong answer of the bank show on the cases of this seed; computed once."""
        if (name, seed) not in self._keys:
            self._keys[name, seed] = self._from_shelf("whole", name, seed, self._make_key)
        return self._keys[name, seed]

    def bare_key(self, name: str, seed: int) -> Key:
        """The key without the mistakes that cost as any other fault does: what makes no difference to a score.

        It is made in a fraction of the time. Fresh cases on which somebody earns points who repeats what is shipped are
        drawn again, from another seed that follows from this one.
        """
        if (name, seed) not in self._bare:
            self._bare[name, seed] = self._from_shelf("bare", name, seed, self._bare_key)
        return self._bare[name, seed]

    def _from_shelf(self, kind: str, name: str, seed: int, make: Callable[[Exercise, int], Key]) -> Key:
        """A key from the shelf, with its cases drawn again; or made now, and put there."""
        exercise, shelf = self.exercises[name], self._shelf if seed != VISIBLE_SEED else None
        found = shelf.find(kind, name, seed) if shelf else None
        if found is not None:
            self.drawn[name, seed], key = found
            bare = self._bare.get((name, seed))
            return replace(key, cases=bare.cases if bare else exercise.cases(self.drawn[name, seed]))
        key = make(exercise, seed)
        if shelf is not None:
            shelf.keep(kind, seed, self.drawn[name, seed], key)
        return key

    def _make_key(self, exercise: Exercise, seed: int) -> Key:
        bare = self.bare_key(exercise.name, seed)
        slips = {mistake.tag: mistake for mistake in bare.mistakes}
        wrong = [answer for answer in self.banks[exercise.name] if not answer.is_right]
        mistakes = (slips.get(answer.tag) or self._mistake(answer, bare, seed) for answer in wrong)
        return replace(bare, mistakes=tuple(mistakes))

    def _bare_key(self, exercise: Exercise, seed: int) -> Key:
        for again in range(_DRAWS):
            self.drawn[exercise.name, seed] = drawn = seed + again * _APART
            key = self._with_slips(self._right_on(exercise, drawn), seed)
            if seed == VISIBLE_SEED or not cheating.pays(exercise, self.shipped_reference(exercise.name), key):
                break
        return key

    def _with_slips(self, key: Key, seed: int) -> Key:
        known = (answer for answer in self.banks[key.exercise] if answer.slip)
        return replace(key, mistakes=tuple(self._mistake(answer, key, seed) for answer in known))

    def _mistake(self, answer: KnownAnswer, key: Key, seed: int) -> Mistake:
        """What a wrong answer shows on the cases of a key; what takes long is kept before the key is whole."""
        shelf, drawn = self._shelf if seed != VISIBLE_SEED else None, self.drawn.get((key.exercise, seed), seed)
        kind = f"{answer.tag} on {drawn}"
        found = shelf.find(kind, key.exercise, seed) if shelf else None
        if found is not None:
            return found[1].mistakes[0]
        begun = time.perf_counter()
        mistake = _mistake(self.exercises[key.exercise], answer, key.cases)
        if shelf and time.perf_counter() - begun >= _LONG:
            shelf.keep(kind, seed, drawn, Key(key.exercise, (), (), (mistake,)))
        return mistake

    def _right_on(self, exercise: Exercise, drawn: int) -> Key:
        """The key without any mistakes."""
        cases = exercise.cases(drawn)
        reference = exercise.observe(self.reference(exercise.name), cases)
        for case, seen in zip(cases, reference, strict=True):
            if not isinstance(seen, dict):
                raise ExerciseError(
                    f"{exercise.name}: expected the probe of {case.requirement!r} to give a dict of what it sees, "
                    f"found {type(seen).__name__}. Give each thing seen a name."
                )
            error = seen.get("raised")
            if error:  # a solution that fails would make every failing answer right
                self._refuse(exercise, case, error)
        return Key(exercise.name, cases, reference, ())

    def _refuse(self, exercise: Exercise, case: Case, error: Raised) -> NoReturn:
        what = f"{error.type}: {error.message}, at {spelled(exercise, case)}"
        if error.line:
            raise self._faulty(exercise.name, f"{what}, in its line `{error.line}`")
        path = exercise.path.relative_to(self.course.parent).as_posix()
        raise ExerciseError(
            f"{path}: the probe of {case.requirement!r} raised {what}; the solution had no part in it. "
            "Correct the probe, or the arguments that the case gives."
        )

    def shown(self, name: str) -> list[tuple[KnownAnswer, tuple[Observation, ...]]]:
        """Each answer of the bank to an exercise, with what it shows on the visible cases; none is observed twice."""
        if name not in self._shown:
            key = self.key(name, VISIBLE_SEED)
            known = {mistake.tag: mistake.observations for mistake in key.mistakes}
            self._shown[name] = [
                (answer, known.get(answer.tag) or _observed(self.exercises[name], answer, key.cases))
                for answer in self.banks[name]
            ]
        return self._shown[name]

    def shipped_key(self, name: str) -> Key:
        """What students are shipped of an exercise: of its key on the visible cases, what the exercise keeps."""
        return self.key(name, VISIBLE_SEED).only(self.exercises[name].keep)

    def shipped_reference(self, name: str) -> Key:
        """What a student could repeat: of the reference on the visible cases, what is shipped; no mistakes."""
        if name not in self._repeated:
            exercise = self.exercises[name]
            known = self._bare.get((name, VISIBLE_SEED)) or self._right_on(exercise, VISIBLE_SEED)
            self._repeated[name] = replace(known, mistakes=()).only(exercise.keep)
        return self._repeated[name]

    def judge(self, name: str, seed: int, observations: Sequence[Observation], source: str) -> Report:
        """The report on an answer that was observed on the cases of this seed; `source` is its solution cell."""
        return judge(self.exercises[name], self.key(name, seed), observations, source)

    def reported(self, name: str, seed: int, digest: str, source: str) -> Report | None:
        """The report on an answer of the same text that showed the same; None where there is none yet."""
        return self._reports.get((name, seed, digest, digest_of(source)))

    def judge_once(self, key: Key, seed: int, observations: Sequence[Observation], source: str, digest: str) -> Report:
        """As `judge`, by this key, but once for all answers that show the same, for which `digest` stands, and whose
        texts say the same.
        """
        name, exercise = key.exercise, self.exercises[key.exercise]
        text = Text.read(exercise, key, source)
        report = self._reports.get((name, seed, digest, text)) or judge_read(exercise, key, observations, text)
        if is_final(report) or key is not self.bare_key(name, seed):
            for known in (text, digest_of(source)):
                if len(self._reports) >= _MOST:
                    self._reports.pop(next(iter(self._reports)))
                self._reports[name, seed, digest, known] = report
        return report


def _mistake(exercise: Exercise, answer: KnownAnswer, cases: tuple[Case, ...]) -> Mistake:
    names = tuple(rule.name for rule in broken(exercise.rules, answer.source, exercise.name))
    observations = tuple(map(_without_line, _observed(exercise, answer, cases)))
    return Mistake(answer.tag, answer.sentence or "", observations, names, answer.unless, answer.slip)


def _observed(exercise: Exercise, answer: KnownAnswer, cases: tuple[Case, ...]) -> tuple[Observation, ...]:
    """What an answer of the bank shows on each case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning is the student's to read; where it is an error, it would be judged
        return exercise.observe(answer.function, cases)


def _without_line(seen: Observation) -> Observation:
    """Leave out the line of code that raised: the bank's code is not shipped to students."""
    error = seen.get("raised")
    return seen | {"raised": replace(error, line="")} if isinstance(error, Raised) else seen
