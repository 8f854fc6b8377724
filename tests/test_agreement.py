"""When committed observations still hold: last digits may differ, but nothing that a student or teacher reads."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from autograder.authoring.build_course import shipped_observations_and_hints
from autograder.authoring.proof_receipts import still_valid_expected_observations
from autograder.authoring.stale_observations import is_observation_file_current
from autograder.course import shipped_observations
from autograder.course.answer_bank import KnownAnswer
from autograder.course.chapter_judge import Judge
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.exercises.exercise import Case, ExerciseSet
from autograder.exercises.observation import Observation, TensorSnapshot
from tests import made
from tests.our_course import COURSE


class MadeJudge:
    """A stand-in for the judge with the made exercise: the methods that `still_holds` calls."""

    exercises = ExerciseSet("ch99_made", [made.exercise()])
    names = ("double",)

    def __init__(self) -> None:
        self.keys = self

    def full_key(self, _name: str, seed: int) -> ExpectedObservations:
        """Return the key that a build would compute now."""
        return made.key(seed)

    def shipped_key(self, _name: str) -> ExpectedObservations:
        """Return the whole key, since the made exercise ships every case."""
        return made.key()

    def bank_observations(self, name: str) -> list[tuple[KnownAnswer, tuple[Observation, ...]]]:
        """Return the observations of the known mistakes, and of a right answer."""
        known = [(function, *told) for function, told in made.MISTAKES.items()]
        answers: list[tuple[Callable[..., object], str, str | None]] = [*known, (made.roundabout, "roundabout", None)]
        cases = made.key().cases
        return [
            (KnownAnswer(name, tag, text, each, inspect.getsource(each)), made.exercise().observe(each, cases))
            for each, tag, text in answers
        ]


def held(key: ExpectedObservations) -> bool:
    """Return whether a committed key still holds for the made exercise."""
    (committed,) = shipped_observations.decode(shipped_observations.encode({"double": key})).values()
    return is_observation_file_current(cast(Judge, MadeJudge()), committed)


def with_mistake(**changed: Any) -> ExpectedObservations:
    """Return the key with its first mistake changed."""
    first, *others = made.key().mistakes
    return replace(made.key(), mistakes=(replace(first, **changed), *others))


def scaled(key: ExpectedObservations, factor: float) -> ExpectedObservations:
    """Return the key with all returned values multiplied by a factor."""
    for observations in (key.reference, *(mistake.observations for mistake in key.mistakes)):
        for seen in observations:
            cast(TensorSnapshot, seen["returned"]).values.mul_(factor)  # type: ignore[union-attr]
    return key


def test_it_holds_as_built() -> None:
    """A key that was just built holds."""
    assert held(made.key())


def test_rounding_of_another_processor_changes_nothing() -> None:
    """A key holds if only the last digits of its values differ."""
    assert held(scaled(made.key(), 1 + 1e-6))


CHANGES: dict[str, Callable[[], ExpectedObservations]] = {
    "other inputs": lambda: made.key(seed=1),
    "another requirement": lambda: replace(
        made.key(), cases=tuple(Case("triples", *each.args, **each.kwargs) for each in made.key().cases)
    ),
    "one mistake less": lambda: replace(made.key(), mistakes=made.key().mistakes[1:]),
    "another sentence": lambda: with_mistake(sentence="You cube."),
    "another tag": lambda: with_mistake(tag="cube"),
    "another rule": lambda: with_mistake(rules=("no_loops",)),
    "another facet": lambda: with_mistake(
        observations=tuple(seen | {"rng": True} for seen in made.key().mistakes[0].observations)
    ),
    "a mistake that is told otherwise": lambda: with_mistake(observations=made.key().reference),
    "another reference": lambda: scaled(made.key(), 1.01),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_somebody_would_notice_does_not_hold(change: str) -> None:
    """A key does not hold if anything but rounding differs: cases, messages, rules, facets, values."""
    assert not held(CHANGES[change]())


def test_damaged_files_do_not_hold() -> None:
    """Unreadable files do not hold, so that a build replaces them."""
    files = shipped_observations.encode({"double": made.key()})

    assert not still_valid_expected_observations(cast(Judge, MadeJudge()), files | {".json": b"[]"})
    assert not still_valid_expected_observations(cast(Judge, MadeJudge()), {".json": files[".json"]})


@pytest.mark.parametrize(("change", "kept"), [("a digit", True), ("a sentence", False)])
def test_a_build_keeps_what_holds(change: str, kept: bool) -> None:
    """A build keeps a file that differs in last digits, and replaces one whose mistakes are out of date."""
    committed = {
        suffix: (COURSE.folder / "shipped" / f"ch01b_broadcasting{suffix}").read_bytes()
        for suffix in shipped_observations.SHIPPED_FILE_SUFFIXES
    }
    keys = shipped_observations.decode(committed)
    if change == "a digit":
        keys["add_bias"].reference[0]["returned"].values[0, 0, 0] *= 1 + 2**-23
    else:
        keys["add_bias"] = replace(keys["add_bias"], mistakes=keys["add_bias"].mistakes[1:])
    changed = shipped_observations.encode(keys)

    assert changed != committed
    built = shipped_observations_and_hints(COURSE.folder, "ch01b_broadcasting", changed)
    assert (changed == {suffix: built[suffix] for suffix in shipped_observations.SHIPPED_FILE_SUFFIXES}) is kept
