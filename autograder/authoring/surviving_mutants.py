"""Mutants of a worked solution, run: each is refused, or stands in the answer bank's `survives` with its reason.

A reason that begins with `Sometimes: ` is that of a mutant which passes or fails by chance.
"""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from autograder.authoring.mutation import Mutant, mutants
from autograder.course.answer_keys import VISIBLE_SEED
from autograder.course.exercise_parts import ExerciseParts, shown
from autograder.course.judge import Judge
from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.observation import Observation
from autograder.exercises.source_rules import broken

SOMETIMES = "Sometimes: "  # begins the reason of a survivor that can as well fail, by what the allocator does
# How long a mutant may compute: so many times what the solution takes, and some seconds. A few come to no end.
TIMES, MORE = 2, 0.25
PATIENCE = 5  # times as long for one that is listed, which does come to an end: visible cases may train longer
LEAST = 10  # mutants: a solution of a line or two has as many
_SEEDS = (VISIBLE_SEED, 4104)

_Expected = list[tuple[Case, Observation]]


def survivor_lines(judge: Judge, parts: ExerciseParts, prelude: Mapping[str, Any], thorough: bool) -> Iterator[str]:
    """A line for each mutant that passes and is not listed, and for each listed one that does not pass.

    Unless all is to be proven thoroughly, a listed one runs on the visible cases only: what passes runs on every case.
    """
    exercise, known = judge.exercises[parts.name], judge.banks[parts.name].survivors
    expected, seconds = _expected(judge, parts.name)
    made = list(mutants(judge.chapter.solution(parts.name)))
    if len(made) < LEAST:
        yield (
            f"{shown(parts, parts.chapter)}: the solution of {parts.name!r} has {len(made)} mutants, too few to prove "
            f"much; ask for a little more, so that there are {LEAST}."
        )
    of_listed = expected if thorough else expected[: len(judge.keys.cases(parts.name, VISIBLE_SEED))]

    def lives(mutant: Mutant) -> bool:
        if mutant.change in known:
            return survives(exercise, mutant, of_listed, prelude, PATIENCE * seconds)
        return survives(exercise, mutant, expected, prelude, seconds)

    alive = {mutant.change for mutant in sorted(made, key=lambda mutant: mutant.line) if lives(mutant)}
    for change in sorted(alive - set(known)):
        yield (
            f"{shown(parts, parts.exercise)}: nothing refuses the solution with `{change}`; add a case that does, "
            f"or list it with the reason in bank.survives of {shown(parts, parts.bank)}."
        )
    for change, reason in known.items():
        if change not in alive and not reason.startswith(SOMETIMES):
            yield f"{shown(parts, parts.bank)}: `{change}` is listed as a survivor and does not survive; take it out."


def _expected(judge: Judge, name: str) -> tuple[_Expected, float]:
    """What the worked solution shows on each case, and for how long a mutant may compute on all of them.

    The known mistakes are not needed here.
    """
    exercise, visible = judge.exercises[name], judge.keys.full_key(name, VISIBLE_SEED)
    pairs = list(zip(visible.cases, visible.reference, strict=True))
    fresh, begun = exercise.cases(_SEEDS[1]), time.process_time()
    seen = exercise.observe(judge.solutions[name], fresh)
    taken = len(_SEEDS) * (time.process_time() - begun)
    return pairs + list(zip(fresh, seen, strict=True)), MORE + TIMES * taken


def survives(
    exercise: Exercise, mutant: Mutant, expected: _Expected, prelude: Mapping[str, Any], seconds: float
) -> bool:
    """Whether the grader gives a mutant full points, on the visible cases and on fresh ones.

    The case that refuses it goes to the front of what is expected: it refuses most that are changed near by, and such
    come one after the other.
    """
    namespace = dict(prelude)
    try:
        with warnings.catch_warnings(), time_limit(seconds):
            warnings.simplefilter("ignore")
            exec(mutant.source, namespace)
            for place, (case, right) in enumerate(expected):
                (seen,) = exercise.observe(namespace[exercise.name], [case])
                if exercise.compare(right, seen, exercise.tolerance) is not None:
                    expected.insert(0, expected.pop(place))
                    return False
    except TimeoutError:
        return False
    return not broken(exercise.rules, mutant.source, exercise.name)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in a block that computes for too long; to a probe it is an error like any other.

    The processor's time counts, so that a busy machine kills no mutant that an idle one would let live.
    """

    def stop(*_: object) -> None:
        raise TimeoutError(f"a mutant ran for more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
