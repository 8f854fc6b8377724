"""Check that the cases of an exercise refuse every mutant of its worked solution.

A mutant that passes because it is right must be listed in the answer bank's `survives`, with the reason. A reason that
begins with `Sometimes: ` belongs to a mutant that passes or fails by chance.
"""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from autograder.authoring.mutation import Mutant, mutants
from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.course.missing_exercise_parts import ExerciseParts, display_path
from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.observation import Observation
from autograder.exercises.source_rules import broken_rules

SOMETIMES_PREFIX = (
    "Sometimes: "  # begins the reason of a survivor that may also fail, depending on the memory allocator
)
# The time limit of a mutant, since some never end: TIMES the solution's processor time, and MORE seconds.
TIMES, MORE = 2, 0.25
LISTED_MUTANT_TIME_FACTOR = (
    5  # the factor by which this limit is longer for listed mutants, which do end: visible cases may train longer
)
MIN_MUTANTS = 10  # the minimum number of mutants, which a solution of one or two lines has
_SEEDS = (VISIBLE_SEED, 4104)

_Expected = list[tuple[Case, Observation]]


def survivor_complaints(
    judge: Judge, parts: ExerciseParts, prelude: Mapping[str, Any], thorough: bool
) -> Iterator[str]:
    """Yield a line for each surviving mutant that the bank does not list, and for each listed one that fails.

    Also if there are too few mutants. A listed mutant is expected to pass every case, which takes long: unless
    `thorough`, it runs on the visible cases only.
    """
    exercise, known = judge.exercises[parts.name], judge.banks[parts.name].survivors
    expected, seconds = _expected(judge, parts.name)
    made = list(mutants(judge.chapter.solution(parts.name)))
    if len(made) < MIN_MUTANTS:
        yield (
            f"{display_path(parts, parts.chapter)}: the solution of {parts.name!r} has {len(made)} mutants, too few to "
            f"prove much; ask for a little more, so that there are {MIN_MUTANTS}."
        )
    of_listed = expected if thorough else expected[: len(judge.keys.cases(parts.name, VISIBLE_SEED))]

    def lives(mutant: Mutant) -> bool:
        if mutant.change in known:
            return mutant_survives(exercise, mutant, of_listed, prelude, LISTED_MUTANT_TIME_FACTOR * seconds)
        return mutant_survives(exercise, mutant, expected, prelude, seconds)

    alive = {mutant.change for mutant in sorted(made, key=lambda mutant: mutant.line) if lives(mutant)}
    for change in sorted(alive - set(known)):
        yield (
            f"{display_path(parts, parts.exercise)}: nothing refuses the solution with `{change}`; add a case that "
            f"does, or list it with the reason in bank.survives of {display_path(parts, parts.bank)}."
        )
    for change, reason in known.items():
        if change not in alive and not reason.startswith(SOMETIMES_PREFIX):
            bank = display_path(parts, parts.bank)
            yield f"{bank}: `{change}` is listed as a survivor and does not survive; take it out."


def _expected(judge: Judge, name: str) -> tuple[_Expected, float]:
    """Return each visible and fresh case with the observation of the worked solution, and the time limit in seconds.

    For the fresh cases only the solution is observed, and not the known mistakes, which are not needed here.
    """
    exercise, visible = judge.exercises[name], judge.keys.full_key(name, VISIBLE_SEED)
    pairs = list(zip(visible.cases, visible.reference, strict=True))
    fresh, begun = exercise.cases(_SEEDS[1]), time.process_time()
    seen = exercise.observe(judge.solutions[name], fresh)
    taken = len(_SEEDS) * (time.process_time() - begun)
    return pairs + list(zip(fresh, seen, strict=True)), MORE + TIMES * taken


def mutant_survives(
    exercise: Exercise, mutant: Mutant, expected: _Expected, prelude: Mapping[str, Any], seconds: float
) -> bool:
    """Return whether a mutant gets full points on the expected cases, within `seconds` of processor time.

    The case that kills it is moved to the front of `expected`: the next mutants change code near by, and the same
    case refuses most of them.
    """
    namespace = dict(prelude)
    try:
        with warnings.catch_warnings(), limit_cpu_time(seconds):
            warnings.simplefilter("ignore")
            exec(mutant.source, namespace)
            for place, (case, right) in enumerate(expected):
                (seen,) = exercise.observe(namespace[exercise.name], [case])
                if exercise.compare(right, seen, exercise.tolerance) is not None:
                    expected.insert(0, expected.pop(place))
                    return False
    except TimeoutError:
        return False
    return not broken_rules(exercise.rules, mutant.source, exercise.name)


@contextmanager
def limit_cpu_time(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in a block that uses too much processor time; a probe observes it like any other error.

    Processor time is measured, so that the result does not depend on how busy the machine is.
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
