"""Prove an exercise: judge its starter, its solution, its answer bank and trivial answers, and check its files.

Each check yields a line for each thing that is wrong: the file, what was found, and what to write. An exercise for
which no check yields a line is proven.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch

from autograder.authoring import bank_message_check, compare_kernel_and_file_text, exercise_file_checks
from autograder.authoring.check_declared_solution_time import timing_faults
from autograder.authoring.stale_observations import is_observation_file_current
from autograder.authoring.surviving_mutants import survivor_complaints
from autograder.course import points_and_hints, replay_attack, shipped_observations
from autograder.course.answer_bank import KnownAnswer
from autograder.course.chapter_judge import Judge
from autograder.course.chapter_reader import read_chapter
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.course.course_location import SHIPPED
from autograder.course.missing_exercise_parts import ExerciseParts, as_exercise_errors, display_path, missing_parts
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.judge_answer import UNTOUCHED_TAG, judge
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.errors import ChapterFormatError, CourseError, DamagedData
from autograder.exercises.observation import Observation

# The visible cases, and fresh ones as a grading run draws them.
PROOF_SEEDS = (VISIBLE_SEED, 4101, 4102, 4103)
_DRAWS = (7, 7, 8)


def prove(parts: ExerciseParts, seeds: Sequence[int] = PROOF_SEEDS) -> list[str]:
    """Return a line for each thing that is wrong with an exercise; none if it is proven on the cases of these seeds."""
    try:
        with as_exercise_errors(parts.course):
            chapter = read_chapter(parts.chapter)
            missing = list(missing_parts(parts.course, chapter, parts.name))
            lines = missing or list(exercise_file_checks.unfilled_placeholders(parts, chapter))
            return lines or _proven(Proof(parts, Judge(parts.course, parts.stem, only=parts.name), seeds))
    except CourseError as error:
        return str(error).splitlines()


def _proven(proof: Proof) -> list[str]:
    """Return the lines of an exercise whose files all exist; run no answer if the drawn cases are wrong."""
    unfit = list(proof.cases())
    return [*proof.form(), *(unfit or proof.run())]


class Proof:
    """Runs the proof of one exercise, whose files must all exist; its methods yield a line for each thing wrong."""

    def __init__(self, parts: ExerciseParts, judge: Judge, seeds: Sequence[int] = PROOF_SEEDS) -> None:
        self.parts = parts
        self.seeds = seeds
        self.judge = judge
        self.exercise = judge.exercises[parts.name]
        self.bank = judge.banks[parts.name]
        self._is_thorough = set(PROOF_SEEDS) <= set(seeds)
        # Fewer seeds save time in the default tests, whose example class runs these answers on fresh cases as well.
        self._run_on = tuple(seeds) if self._is_thorough else (VISIBLE_SEED,)
        self._prelude: dict[str, Any] = {}
        exec(judge.chapter.prelude, self._prelude)
        self._cell = f"{display_path(parts, parts.chapter)}:{judge.chapter.exercise(parts.name).line}"
        self._file, self._answers = display_path(parts, parts.exercise), display_path(parts, parts.bank)

    def form(self) -> Iterator[str]:
        """Yield what can be found without running an answer."""
        yield from exercise_file_checks.requirements_without_case(self.parts, self.exercise)
        yield from exercise_file_checks.hint_and_requirement_faults(self.parts, self.exercise)
        solution = self.judge.chapter.solution(self.parts.name)
        yield from exercise_file_checks.bank_faults(self.parts, self.exercise, self.bank, solution)

    def run(self) -> Iterator[str]:
        """Run the answers, and yield what is wrong with their reports, with the mutants and with the shipped files.

        If the worked solution fails, yield that alone.
        """
        if failed := list(self._solution()):
            yield from failed
            return
        yield from exercise_file_checks.facet_message_faults(self.parts, self.exercise, self._key(VISIBLE_SEED))
        yield from self._starter()
        yield from list(self._known()) or self._were_it_unknown()
        yield from self._thoughtless()
        yield from (f"{self._file}: {line}" for line in timing_faults(self.judge, self.parts.name))
        fresh = {seed: self._key(seed) for seed in self.seeds if seed != VISIBLE_SEED}
        repeated = self.judge.keys.shipped_key(self.parts.name)
        yield from (f"{self._file}: {line}" for line in replay_attack.replay_findings(self.exercise, repeated, fresh))
        yield from survivor_complaints(self.judge, self.parts, self._prelude, self._is_thorough)
        yield from self._shipped()

    def cases(self) -> Iterator[str]:
        """Check that each seed draws its own cases, always the same ones, for the same requirements in one order."""
        visible = self._sentences(VISIBLE_SEED)
        for seed in PROOF_SEEDS[1:]:
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
        """Run the text of a solution cell as a notebook would, and return the report for the cases of a seed."""
        return self.report_on(self._run(cell), cell, seed)

    def _run(self, cell: str) -> Callable[..., Any]:
        """Run the text of a solution cell below the setup cell; returns the answer."""
        return compare_kernel_and_file_text.run_as_cell(cell, self.parts.name, dict(self._prelude))

    def report_on(self, answer: Callable[..., Any], cell: str, seed: int) -> Report:
        """Return the report on a function for the cases of a seed; `cell` is its source text."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning in an answer is the student's to read
            seen = self.exercise.observe(answer, self._key(seed).cases)
        return self._judged(seen, cell, seed)

    def _key(self, seed: int) -> ExpectedObservations:
        return self.judge.keys.full_key(self.parts.name, seed)

    def _judged(self, seen: Sequence[Observation], cell: str, seed: int) -> Report:
        text = compare_kernel_and_file_text.answer_text_from_file(self.judge, self.parts.name, cell)
        return self.judge.judge(self.parts.name, seed, seen, text)

    def _report_of(self, answer: KnownAnswer, seed: int) -> Report:
        """Return the report on an answer of the bank, as `report` does.

        The observations of its function on the visible cases are known. Unless the proof is thorough, they are used
        again if its text has the same meaning below the setup cell: the example class in the tests runs every text.
        """
        if seed != VISIBLE_SEED or self._is_thorough or not answer.means_same_below(self._prelude):
            return self.report(answer.source, seed)
        self._run(answer.source)
        seen = next(seen for known, seen in self.judge.keys.bank_observations(self.parts.name) if known is answer)
        return self._judged(seen, answer.source, seed)

    def _solution(self) -> Iterator[str]:
        """Check that the worked solution passes every check."""
        for seed in self._run_on:
            first = self.report(self.judge.chapter.solution(self.parts.name), seed).first
            if first:
                yield f"{self._cell}: {_on(seed)} the solution fails {_quoted(first)}; mend it, or the cases."
                return

    def _starter(self) -> Iterator[str]:
        """Check that the starter scores 0: as not attempted or, in a bug hunt, with its own sentence in the bank."""
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
                yield f"{self._answers}: the untouched starter has no sentence; add the wrong answer {UNTOUCHED_TAG!r}."
                return

    def _known(self) -> Iterator[str]:
        """Check that right answers pass, and that each check that a wrong answer fails names its own mistake."""
        for answer in self.bank:
            try:
                found = self._refused(answer) if answer.is_right else self._told_otherwise(answer)
                found = found or self._read_otherwise(answer)
            except ChapterFormatError as error:
                found = f"{error}."
            if found:
                yield f"{self._answers}: the {'right' if answer.is_right else 'wrong'} answer {answer.tag!r} {found}"

    def _refused(self, answer: KnownAnswer) -> str:
        """Return why a right answer does not pass, or ""."""
        for seed in self._run_on:
            first = self._report_of(answer, seed).first
            if first:
                return f"is refused {_on(seed)} by {_quoted(first)}; mend the cases or the tolerance, or take it out."
        return ""

    def _read_otherwise(self, answer: KnownAnswer) -> str:
        """Return a complaint if `check` and grading read different texts of an answer, else ""."""
        if compare_kernel_and_file_text.kernel_and_file_agree(
            self.judge, self.parts.name, answer.source, self._run(answer.source)
        ):
            return ""
        return "is read otherwise by `check` than by grading; mend `answer_text`, or what it is given."

    def _told_otherwise(self, answer: KnownAnswer) -> str:
        """Return which other result a wrong answer gets in place of its own message, or "".

        On fresh cases it is not run again, since their keys hold its observations.
        """
        for seed in self.seeds:
            report = self._report_of(answer, seed) if seed == VISIBLE_SEED else self._by_its_key(answer, seed)
            if not report.failed_verdicts:
                return f"has full points {_on(seed)}; add a case to {self._file} that refuses it."
            if answer.slip and len(report.failed_verdicts) > 1:
                costs = ", ".join(repr(each.requirement) for each in report.failed_verdicts)
                return f"is a slip, which costs one requirement, and costs {costs} {_on(seed)}; take `slip` out."
            for verdict in bank_message_check.verdicts_with_unexpected_message(self.exercise, answer, report):
                if other := bank_message_check.indistinguishable_mistake(self.exercise, self._key(seed), answer.tag):
                    return f"shows the same as {other!r} {_on(seed)}; take it out, or add a case that tells them apart."
                return f"gets another message {_on(seed)}, from {_quoted(verdict)}; add a case that tells them apart."
        return ""

    def _were_it_unknown(self) -> Iterator[str]:
        """Check that a wrong answer, taken out of the bank, gets no other's sentence but those named in its `also`."""
        for answer in (each for each in self.bank if not each.is_right):
            named: dict[str, str] = {}
            for seed in self.seeds:
                report = self._by_its_key(answer, seed, known=False)
                named |= {each.mistake: each.sentence for each in report.verdicts if each.mistake}
            for tag in sorted(set(named) - set(answer.also)):
                yield (
                    f"{self._answers}: if it were not in the bank, {answer.tag!r} would get the sentence of {tag!r} "
                    f"({named[tag]}); if that is true of it, write also=({tag!r},), else add a case, or correct it."
                )
            for tag in sorted(set(answer.also) - set(named)) if set(PROOF_SEEDS) <= set(self.seeds) else ():
                yield f"{self._answers}: {answer.tag!r} never gets the sentence of {tag!r}; take it out of `also`."

    def _by_its_key(self, answer: KnownAnswer, seed: int, known: bool = True) -> Report:
        """Judge a wrong answer by its observations in the key; with `known=False`, by a key without its mistake."""
        key = self._key(seed)
        seen = next(mistake.observations for mistake in key.mistakes if mistake.tag == answer.tag)
        others = tuple(mistake for mistake in key.mistakes if known or mistake.tag != answer.tag)
        return judge(self.exercise, replace(key, mistakes=others), seen, answer.source)

    def _thoughtless(self) -> Iterator[str]:
        """Check that answers which return an argument, a constant or an empty container score 0."""
        for what, answer in _thoughtless().items():
            if any(self.report_on(answer, "", seed).score for seed in self.seeds):
                yield f"{self._file}: returning {what} earns points; let the first requirement refuse it."

    def _shipped(self) -> Iterator[str]:
        """Check that the committed observations and hints agree with the exercise and its bank."""
        place = display_path(self.parts, self.parts.course / SHIPPED / self.parts.stem)
        remedy = f"run `autograder build {self.parts.stem}`"
        key = shipped_answer_key(self.parts)
        if key is None or not is_observation_file_current(self.judge, key):
            yield f"{place}.json: not what the cases and the bank show; {remedy}."
        if shipped_hints(self.parts) != self.exercise.hints:
            yield f"{place}{points_and_hints.HINTS}: not the exercise's hints; {remedy}."


def shipped_answer_key(parts: ExerciseParts) -> ExpectedObservations | None:
    """Return the committed key of an exercise; None if it does not exist or cannot be read."""
    files = {
        suffix: parts.course / SHIPPED / f"{parts.stem}{suffix}"
        for suffix in shipped_observations.SHIPPED_FILE_SUFFIXES
    }
    if not all(path.is_file() for path in files.values()):
        return None
    return _decoded(*(path.read_bytes() for path in files.values())).get(parts.name)


@lru_cache(maxsize=1)
def _decoded(*data: bytes) -> dict[str, ExpectedObservations]:
    try:
        return shipped_observations.decode(dict(zip(shipped_observations.SHIPPED_FILE_SUFFIXES, data, strict=True)))
    except DamagedData:
        return {}


def shipped_hints(parts: ExerciseParts) -> tuple[str, ...]:
    """Return the committed hints of an exercise; an empty tuple if they cannot be read."""
    path = parts.course / SHIPPED / f"{parts.stem}{points_and_hints.HINTS}"
    try:
        return points_and_hints.read_hints_file(path).get(parts.name, ())
    except DamagedData:
        return ()


def _thoughtless() -> dict[str, Callable[..., Any]]:
    constants: list[Any] = [None, 0, 1.0, True, "", (), [], {}, torch.zeros(()), torch.zeros(3, 3)]
    return {
        "the first argument": lambda *args, **kwargs: args[0],
        "the last argument": lambda *args, **kwargs: args[-1],
        **{repr(value): lambda *args, constant=value, **kwargs: constant for value in constants},
    }


def _quoted(verdict: Verdict) -> str:
    return f"{verdict.requirement!r} ({verdict.sentence})"


def _on(seed: int) -> str:
    return "on the visible cases" if seed == VISIBLE_SEED else f"on fresh cases (seed {seed})"
