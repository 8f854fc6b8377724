"""Mutation of the worked solutions: every mutant fails, or stands in its bank's `survives` with its reason.

A reason that begins with `Sometimes: ` is that of a mutant which passes or fails by chance.

To look at one exercise: `pytest tests/test_mutation.py -k standardize`.
"""

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from autograder.authoring.judge import VISIBLE_SEED
from autograder.watching.exercise import Case
from autograder.watching.observation import Observation
from autograder.watching.rules import broken
from tests.mutation import Mutant, mutants
from tests.our_course import COURSE
from tests.test_bank import judge_of, prelude

SEEDS = (VISIBLE_SEED, 4104)
SECONDS = 5.0
SOMETIMES = "Sometimes: "  # begins the reason of a survivor that can as well fail, by what the allocator does
EXERCISES = {exercise.name: exercise for exercise in COURSE.every()}

each_exercise = pytest.mark.parametrize("name", EXERCISES)


@cache
def listed(stem: str) -> dict[str, dict[str, str]]:
    """The known survivors of a chapter: by exercise, what changed and why no check can notice."""
    return {name: bank.survivors for name, bank in judge_of(stem).banks.items()}


@cache
def of_exercise(name: str) -> list[Mutant]:
    """The mutants of an exercise's worked solution; made once."""
    return list(mutants(judge_of(EXERCISES[name].chapter).chapter.solution(name)))


@cache
def expected(name: str, seed: int) -> tuple[tuple[Case, ...], tuple[Observation, ...]]:
    """The cases of a seed, and what the worked solution shows on them; the known mistakes are not needed here."""
    cases = EXERCISES[name].cases(seed)
    return cases, EXERCISES[name].observe(judge_of(EXERCISES[name].chapter).reference(name), cases)


def survives(name: str, mutant: Mutant) -> bool:
    """Whether the grader gives a mutant full points, on the visible cases and on fresh ones."""
    exercise = EXERCISES[name]
    namespace = dict(prelude(exercise.chapter))
    exec(mutant.source, namespace)
    for seed in SEEDS:
        for case, right in zip(*expected(name, seed), strict=True):
            seen = exercise.requirements[case.requirement].watch(namespace[name], case)
            if exercise.compare(right, seen, exercise.tolerance) is not None:
                return False
    return not broken(exercise.rules, mutant.source, name)


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


class TestSurvivors:
    # Where time runs out in the midst of a garbage collection, Python can only report it.
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    @each_exercise
    def test_no_other_mutant_survives(self, name: str) -> None:
        """The grader refuses every mutant but those that are listed, and every listed one passes."""
        alive = set()
        for seed in SEEDS:
            expected(name, seed)  # outside of the time limit
        for mutant in of_exercise(name):
            with warnings.catch_warnings(), time_limit(SECONDS):
                warnings.simplefilter("ignore")
                if survives(name, mutant):
                    alive.add(mutant.change)

        known = listed(EXERCISES[name].chapter).get(name, {})
        always = {change for change, reason in known.items() if not reason.startswith(SOMETIMES)}
        assert alive - set(known) == set(), "these pass: add a case that tells them apart, or list them with the reason"
        assert always - alive == set(), "these are listed in the bank, but do not survive: take them out"

    @pytest.mark.parametrize("stem", COURSE.stems)
    def test_each_one_has_its_reason(self, stem: str) -> None:
        """A survivor is listed under an exercise of its chapter, with a sentence."""
        for name, reasons in listed(stem).items():
            assert EXERCISES[name].chapter == stem
            assert all(len(reason) > 15 and reason.endswith(".") for reason in reasons.values())


class TestMutants:
    @each_exercise
    def test_there_are_many(self, name: str) -> None:
        """A solution of a line or two has ten mutants and more, each told in other words."""
        made = of_exercise(name)

        assert len(made) >= 10
        assert len({mutant.change for mutant in made}) == len({mutant.source for mutant in made}) == len(made)

    @pytest.mark.parametrize(
        "change",
        [
            "x.mean(dim=dim, keepdim=True) -> x.mean(dim=dim)",
            "x.mean -> x.sum",
            "x - mean -> x + mean",
            "x - mean -> x.sub_(mean)",
            "True -> False",
            "1 -> 2",
            "x[1:].clone() -> x[1:]",
            "1: -> :",
            "mean > 0 -> mean >= 0",
            "mean = x.mean(dim=dim, keepdim=True) -> pass",
            "return (x - mean, x[1:].clone(), mean > 0) -> return",
        ],
    )
    def test_they_are_what_learners_do(self, change: str) -> None:
        """Dropped keywords and copies, siblings, swapped operators, shifted numbers, deleted statements."""
        cell = (
            "def f(x, dim):\n    mean = x.mean(dim=dim, keepdim=True)\n    return x - mean, x[1:].clone(), mean > 0\n"
        )

        assert change in {mutant.change for mutant in mutants(cell)}

    def test_signature_and_docstring_stay(self) -> None:
        """What the starter gives is not mutated."""
        head = 'def f(x, k=3):\n    """Add 3."""\n'

        assert all(mutant.source.startswith(head) for mutant in mutants(f"{head}    return x + k\n"))

    def test_an_endless_mutant_is_stopped(self) -> None:
        """A loop without end costs seconds, not the run."""
        with pytest.raises(TimeoutError), time_limit(0.05):
            _run_forever()


def _run_forever() -> None:
    while True:
        pass
