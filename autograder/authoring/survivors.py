"""Mutants of a worked solution, run: each is refused, or stands in the answer bank's `survives` with its reason.

A reason that begins with `Sometimes: ` is that of a mutant which passes or fails by chance.
"""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from autograder.authoring.judge import VISIBLE_SEED, Judge
from autograder.authoring.mutation import Mutant, mutants
from autograder.authoring.parts import ExerciseParts, shown
from autograder.watching.exercise import Case, Exercise
from autograder.watching.observation import Observation
from autograder.watching.rules import broken

SOMETIMES = "Sometimes: "  # begins the reason of a survivor that can as well fail, by what the allocator does
# How long a mutant may compute: so many times what the solution takes, and some seconds. A few come to no end.
TIMES, MORE = 2, 0.25
LEAST = 10  # mutants: a solution of a line or two has as many
_SEEDS = (VISIBLE_SEED, 4104)

_LEAST_WORTH = 0.02
_CLOCK = 1e-4  # seconds: what takes less takes as good as nothing


@dataclass
class CaseInTurn:
    """A case, what the solution shows on it and how long that takes; and what the case is worth as a refusal.

    Near 1 where it refused the mutants before: those that are changed near by come one after the other.
    """

    case: Case
    right: Observation
    seconds: float
    worth: float = 1.0

    def tried(self, refused: bool) -> None:
        """It was asked of a mutant."""
        self.worth = max(_LEAST_WORTH, (self.worth + refused) / 2)


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
    of_listed = expected if thorough else expected[: len(judge.cases(parts.name, VISIBLE_SEED))]
    alive = {
        mutant.change
        for mutant in sorted(made, key=lambda mutant: mutant.line)
        if survives(exercise, mutant, of_listed if mutant.change in known else expected, prelude, seconds)
    }
    for change in sorted(alive - set(known)):
        yield (
            f"{shown(parts, parts.exercise)}: nothing refuses the solution with `{change}`; add a case that does, "
            f"or list it with the reason in bank.survives of {shown(parts, parts.bank)}."
        )
    for change, reason in known.items():
        if change not in alive and not reason.startswith(SOMETIMES):
            yield f"{shown(parts, parts.bank)}: `{change}` is listed as a survivor and does not survive; take it out."


def _expected(judge: Judge, name: str) -> tuple[list[CaseInTurn], float]:
    """What the worked solution shows on each case, and for how long a mutant may compute on all of them.

    The known mistakes are not needed here. A visible case takes about as long as the fresh ones of its requirement.
    """
    exercise, visible = judge.exercises[name], judge.key(name, VISIBLE_SEED)
    fresh = [_timed(judge, name, case) for case in exercise.cases(_SEEDS[1])]
    seconds = {each.case.requirement: each.seconds for each in fresh}
    pairs = zip(visible.cases, visible.reference, strict=True)
    known = [CaseInTurn(case, right, seconds[case.requirement]) for case, right in pairs]
    return known + fresh, MORE + TIMES * len(_SEEDS) * sum(each.seconds for each in fresh)


def _timed(judge: Judge, name: str, case: Case) -> CaseInTurn:
    begun = time.process_time()
    (right,) = judge.exercises[name].observe(judge.reference(name), [case])
    return CaseInTurn(case, right, max(time.process_time() - begun, _CLOCK))


def survives(
    exercise: Exercise, mutant: Mutant, expected: Sequence[CaseInTurn], prelude: Mapping[str, Any], seconds: float
) -> bool:
    """Whether the grader gives a mutant full points, on the visible cases and on fresh ones.

    Those come first that refuse much in little time.
    """
    namespace = dict(prelude)
    try:
        with warnings.catch_warnings(), time_limit(seconds):
            warnings.simplefilter("ignore")
            exec(mutant.source, namespace)
            for each in sorted(expected, key=lambda each: each.seconds / each.worth):
                (seen,) = exercise.observe(namespace[exercise.name], [each.case])
                refused = exercise.compare(each.right, seen, exercise.tolerance) is not None
                each.tried(refused)
                if refused:
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
