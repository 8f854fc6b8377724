"""The proof of an exercise: what it does to its starter, its solution, its answer bank and to thoughtless answers.

Each part yields a line for what is missing: the file, what was found, and what to write. No line: proven.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch

from autograder.authoring import answer_text_check, static_checks
from autograder.authoring.message_check import otherwise, twin, unmet
from autograder.authoring.solution_timing import time_lines
from autograder.authoring.surviving_mutants import survivor_lines
from autograder.authoring.sync_check import holds
from autograder.course import exercise_index, replay_cheats, shipped_observations
from autograder.course.answer_bank import KnownAnswer
from autograder.course.answer_keys import VISIBLE_SEED
from autograder.course.chapter_reader import read_chapter
from autograder.course.course_location import SHIPPED
from autograder.course.exercise_parts import ExerciseParts, as_exercise_errors, missing_parts, shown
from autograder.course.judge import Judge
from autograder.diagnosis.expected import ExpectedObservations
from autograder.diagnosis.judge_observations import UNTOUCHED, judge
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.errors import ChapterError, CourseError, DamagedData
from autograder.exercises.observation import Observation

# The visible cases, and fresh ones as a grading run draws them.
SEEDS = (VISIBLE_SEED, 4101, 4102, 4103)
_DRAWS = (7, 7, 8)


def prove(parts: ExerciseParts, seeds: Sequence[int] = SEEDS) -> list[str]:
    """A line for each thing that is missing of an exercise; none, and it is proven on the cases of these seeds."""
    try:
        with as_exercise_errors(parts.course):
            chapter = read_chapter(parts.chapter)
            lines = list(missing_parts(parts.course, chapter, parts.name)) or list(static_checks.marks(parts, chapter))
            return lines or _proven(Proof(parts, Judge(parts.course, parts.stem, only=parts.name), seeds))
    except CourseError as error:
        return str(error).splitlines()


def _proven(proof: Proof) -> list[str]:
    """A line for each thing that is missing where all parts are there; nothing is run on cases that do not fit."""
    unfit = list(proof.cases())
    return [*proof.form(), *(unfit or proof.run())]


class Proof:
    """The proof of one exercise, whose parts are all there."""

    def __init__(self, parts: ExerciseParts, judge: Judge, seeds: Sequence[int] = SEEDS) -> None:
        self.parts = parts
        self.seeds = seeds
        self.judge = judge
        self.exercise = judge.exercises[parts.name]
        self.bank = judge.banks[parts.name]
        self._is_thorough = set(SEEDS) <= set(seeds)
        # By day the class that is graded in the tests runs the solution and the right answers on the same fresh cases.
        self._run_on = tuple(seeds) if self._is_thorough else (VISIBLE_SEED,)
        self._prelude: dict[str, Any] = {}
        exec(judge.chapter.prelude, self._prelude)
        self._cell = f"{shown(parts, parts.chapter)}:{judge.chapter.exercise(parts.name).line}"
        self._file, self._answers = shown(parts, parts.exercise), shown(parts, parts.bank)

    def form(self) -> Iterator[str]:
        """What is told without running an answer."""
        yield from static_checks.unshown(self.parts, self.exercise)
        yield from static_checks.exercise_lines(self.parts, self.exercise)
        yield from static_checks.bank_lines(
            self.parts, self.exercise, self.bank, self.judge.chapter.solution(self.parts.name)
        )

    def run(self) -> Iterator[str]:
        """What the answers are told, and what is shipped; where the solution fails, nothing else is looked at."""
        if failed := list(self._solution()):
            yield from failed
            return
        yield from static_checks.facet_lines(self.parts, self.exercise, self._key(VISIBLE_SEED))
        yield from self._starter()
        yield from list(self._known()) or self._were_it_unknown()
        yield from self._thoughtless()
        yield from (f"{self._file}: {line}" for line in time_lines(self.judge, self.parts.name))
        fresh = {seed: self._key(seed) for seed in self.seeds if seed != VISIBLE_SEED}
        repeated = self.judge.keys.shipped_key(self.parts.name)
        yield from (f"{self._file}: {line}" for line in replay_cheats.cheat_lines(self.exercise, repeated, fresh))
        yield from survivor_lines(self.judge, self.parts, self._prelude, self._is_thorough)
        yield from self._shipped()

    def cases(self) -> Iterator[str]:
        """Every seed draws other cases for the same requirements, whatever was drawn before."""
        visible = self._sentences(VISIBLE_SEED)
        for seed in SEEDS[1:]:
            if self._sentences(seed) != visible:
                yield f"{self._file}: {_on(seed)} other requirements; yield cases for the same ones, in one order."
                break
        once, again, other = (str([(c.args, c.kwargs) for c in self.exercise.cases(seed)]) for seed in _DRAWS)
        if once != again:
            yield f"{self._file}: a seed does not draw the same cases again; take all that is random from `draw`."
        if once == other:
            yield f"{self._file}: every seed draws the same cases; take their numbers from `draw`."

    def _sentences(self, seed: int) -> list[str]:
        return list(dict.fromkeys(case.requirement for case in self.exercise.cases(seed)))

    def report(self, cell: str, seed: int) -> Report:
        """Grade the text of a solution cell on the cases of a seed, as a notebook would run it."""
        return self.report_on(self._run(cell), cell, seed)

    def _run(self, cell: str) -> Callable[..., Any]:
        """Run the text of a solution cell below the setup cell; returns the answer."""
        return answer_text_check.run_as_cell(cell, self.parts.name, dict(self._prelude))

    def report_on(self, answer: Callable[..., Any], cell: str, seed: int) -> Report:
        """Grade a function on the cases of a seed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning in an answer is the student's to read
            seen = self.exercise.observe(answer, self._key(seed).cases)
        return self._judged(seen, cell, seed)

    def _key(self, seed: int) -> ExpectedObservations:
        return self.judge.keys.full_key(self.parts.name, seed)

    def _judged(self, seen: Sequence[Observation], cell: str, seed: int) -> Report:
        return self.judge.judge(
            self.parts.name, seed, seen, answer_text_check.of_file(self.judge, self.parts.name, cell)
        )

    def _report_of(self, answer: KnownAnswer, seed: int) -> Report:
        """Grade an answer of the bank as `report` does.

        What its function shows on the visible cases is known. By day its text is not run again where it means the same:
        the class that is graded in the tests runs all texts, on fresh cases and in processes of their own.
        """
        if seed != VISIBLE_SEED or self._is_thorough or not answer.means_below(self._prelude):
            return self.report(answer.source, seed)
        self._run(answer.source)
        seen = next(seen for known, seen in self.judge.keys.bank_observations(self.parts.name) if known is answer)
        return self._judged(seen, answer.source, seed)

    def _solution(self) -> Iterator[str]:
        """The worked solution passes every check."""
        for seed in self._run_on:
            first = self.report(self.judge.chapter.solution(self.parts.name), seed).first
            if first:
                yield f"{self._cell}: {_on(seed)} the solution fails {_told(first)}; mend it, or the cases."
                return

    def _starter(self) -> Iterator[str]:
        """A starter scores 0: as not attempted, or in a bug hunt with the sentence of its own."""
        cell = self.judge.chapter.starter(self.parts.name)
        is_stub = "raise NotImplementedError" in cell
        for seed in self.seeds:
            report = self.report(cell, seed)
            if report.score:
                yield f"{self._cell}: {_on(seed)} the untouched starter passes checks; let the first case refuse it."
                return
            if is_stub and any(verdict.status is not Status.NOT_ATTEMPTED for verdict in report.verdicts):
                yield f"{self._cell}: {_on(seed)} the untouched starter counts as an attempt; leave it nbgrader's stub."
                return
            if not is_stub and report.verdicts[0].status is not Status.NOT_ATTEMPTED:
                yield f"{self._answers}: the untouched starter has no sentence; add the wrong answer {UNTOUCHED!r}."
                return

    def _known(self) -> Iterator[str]:
        """Right answers pass every check; each check that a wrong one fails names this mistake, and no other."""
        for answer in self.bank:
            try:
                found = self._refused(answer) if answer.is_right else self._told_otherwise(answer)
                found = found or self._read_otherwise(answer)
            except ChapterError as error:
                found = f"{error}."
            if found:
                yield f"{self._answers}: the {'right' if answer.is_right else 'wrong'} answer {answer.tag!r} {found}"

    def _refused(self, answer: KnownAnswer) -> str:
        for seed in self._run_on:
            first = self._report_of(answer, seed).first
            if first:
                return f"is refused {_on(seed)} by {_told(first)}; mend the cases or the tolerance, or take it out."
        return ""

    def _read_otherwise(self, answer: KnownAnswer) -> str:
        if answer_text_check.are_one(self.judge, self.parts.name, answer.source, self._run(answer.source)):
            return ""
        return "is read otherwise by `check` than by grading; mend `answer_text`, or what it is given."

    def _told_otherwise(self, answer: KnownAnswer) -> str:
        """What a wrong answer is told instead of its sentence; empty where all is well.

        On fresh cases nothing is run again: their keys hold what the answer shows on them.
        """
        for seed in self.seeds:
            report = self._report_of(answer, seed) if seed == VISIBLE_SEED else self._by_its_key(answer, seed)
            if not unmet(report):
                return f"has full points {_on(seed)}; add a case to {self._file} that refuses it."
            if answer.slip and len(unmet(report)) > 1:
                costs = ", ".join(repr(each.requirement) for each in unmet(report))
                return f"is a slip, which costs one requirement, and costs {costs} {_on(seed)}; take `slip` out."
            for verdict in otherwise(self.exercise, answer, report):
                if other := twin(self.exercise, self._key(seed), answer.tag):
                    return f"shows the same as {other!r} {_on(seed)}; take it out, or add a case that tells them apart."
                return f"is told otherwise {_on(seed)} by {_told(verdict)}; add a case that tells them apart."
        return ""

    def _were_it_unknown(self) -> Iterator[str]:
        """A wrong answer that is taken out of the bank is told no other's sentence, unless it is said to be true."""
        for answer in (each for each in self.bank if not each.is_right):
            told: dict[str, str] = {}
            for seed in self.seeds:
                report = self._by_its_key(answer, seed, known=False)
                told |= {each.mistake: each.sentence for each in report.verdicts if each.mistake}
            for tag in sorted(set(told) - set(answer.also)):
                yield (
                    f"{self._answers}: were it unknown, {answer.tag!r} would be told the sentence of {tag!r} "
                    f"({told[tag]}); where that is true of it, write also=({tag!r},), else add a case, or say it so."
                )
            for tag in sorted(set(answer.also) - set(told)) if set(SEEDS) <= set(self.seeds) else ():
                yield f"{self._answers}: {answer.tag!r} is never told the sentence of {tag!r}; take it out of `also`."

    def _by_its_key(self, answer: KnownAnswer, seed: int, known: bool = True) -> Report:
        key = self._key(seed)
        seen = next(mistake.observations for mistake in key.mistakes if mistake.tag == answer.tag)
        others = tuple(mistake for mistake in key.mistakes if known or mistake.tag != answer.tag)
        return judge(self.exercise, replace(key, mistakes=others), seen, answer.source)

    def _thoughtless(self) -> Iterator[str]:
        """The first argument, the last one, None, a constant or an empty container: 0 points."""
        for what, answer in _thoughtless().items():
            if any(self.report_on(answer, "", seed).score for seed in self.seeds):
                yield f"{self._file}: who returns {what} has points; let the first requirement refuse it."

    def _shipped(self) -> Iterator[str]:
        """The committed observations and hints are what the exercise and its bank say."""
        place = shown(self.parts, self.parts.course / SHIPPED / self.parts.stem)
        remedy = f"run `python -m autograder build {self.parts.stem}`"
        key = shipped_key(self.parts)
        if key is None or not holds(self.judge, key):
            yield f"{place}.json: not what the cases and the bank show; {remedy}."
        if shipped_hints(self.parts) != self.exercise.hints:
            yield f"{place}{exercise_index.HINTS}: not the exercise's hints; {remedy}."


def shipped_key(parts: ExerciseParts) -> ExpectedObservations | None:
    """The committed key of an exercise; None where there is none that can be read."""
    files = {suffix: parts.course / SHIPPED / f"{parts.stem}{suffix}" for suffix in shipped_observations.SUFFIXES}
    if not all(path.is_file() for path in files.values()):
        return None
    return _decoded(*(path.read_bytes() for path in files.values())).get(parts.name)


@lru_cache(maxsize=1)
def _decoded(*data: bytes) -> dict[str, ExpectedObservations]:
    try:
        return shipped_observations.decode(dict(zip(shipped_observations.SUFFIXES, data, strict=True)))
    except DamagedData:
        return {}


def shipped_hints(parts: ExerciseParts) -> tuple[str, ...]:
    """The committed hints of an exercise; none where they cannot be read."""
    path = parts.course / SHIPPED / f"{parts.stem}{exercise_index.HINTS}"
    try:
        return exercise_index.hints_from(path).get(parts.name, ())
    except DamagedData:
        return ()


def _thoughtless() -> dict[str, Callable[..., Any]]:
    constants: list[Any] = [None, 0, 1.0, True, "", (), [], {}, torch.zeros(()), torch.zeros(3, 3)]
    return {
        "the first argument": lambda *args, **kwargs: args[0],
        "the last argument": lambda *args, **kwargs: args[-1],
        **{repr(value): lambda *args, constant=value, **kwargs: constant for value in constants},
    }


def _told(verdict: Verdict) -> str:
    return f"{verdict.requirement!r} ({verdict.sentence})"


def _on(seed: int) -> str:
    return "on the visible cases" if seed == VISIBLE_SEED else f"on fresh cases (seed {seed})"
