"""Exercises, requirements and cases: what an answer must fulfil, and the calls that show whether it does.

A requirement is one object: the sentence that students read, the probe that observes the answer, and what to say if the
requirement is not met. Calling the requirement makes a case:

    along = Requirement("works along any dim", make_call_probe())

    @exercise(tier="core", hints=("Which dim is gone in the result?", "Look at `keepdim`."))
    def center(draw: Draw) -> Iterator[Case]:
        \"\"\"Take the mean away.\"\"\"
        yield along(draw.normal(3, 4), dim=0)
        yield along(draw.normal(3, 4), dim=1)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from inspect import getfile, signature
from pathlib import Path
from typing import Any, Literal, get_args

import torch

from autograder.errors import ExerciseError, UnknownExercise
from autograder.exercises.compare_observations import ASPECTS, Difference, Tolerance, first_difference
from autograder.exercises.observation import Observation
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import Rule, StyleRemark

Tier = Literal["warm-up", "core", "stretch"]


@dataclass(frozen=True, eq=False, init=False)
class Case:
    """One call of the answer: the sentence of the requirement that it tests, and the arguments (plain data)."""

    requirement: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __init__(self, requirement: str, /, *args: Any, **kwargs: Any) -> None:
        object.__setattr__(self, "requirement", requirement)
        object.__setattr__(self, "args", args)
        object.__setattr__(self, "kwargs", kwargs)

    def to_plain(self) -> list[Any]:
        """Return this case as plain data, which `observation.encode_plain_data` can encode."""
        return [self.requirement, self.args, self.kwargs]

    @classmethod
    def from_plain(cls, data: Any) -> Case:
        """Return the case that `to_plain` turned into `data`."""
        requirement, args, kwargs = data
        return cls(requirement, *args, **kwargs)


Probe = Callable[[Callable[..., Any], Case], Observation]
# The facets for which diagnosis/ has messages of its own, in every exercise.
FACETS_WITH_MESSAGES = frozenset({"returned", "again", "inputs", "rng", "sharing", "gradient", "raised"})
Compare = Callable[[Observation, Observation, Tolerance], Difference | None]
DrawCases = Callable[[Draw], Iterator[Case]]


def facet_of_message_key(told: str) -> str:
    """Return the facet in a key of a requirement's `tells`: "returned" for "returned:shape" or "returned=ok"."""
    return re.split("[.:=]", told, maxsplit=1)[0]


@dataclass(frozen=True, eq=False)
class Requirement:
    """Something that an answer must fulfil: the sentence that students read, and the probe that observes the answer.

    `tells` maps what differs to the message for students. A key is "facet"; "facet.key" for one entry of the facet;
    "facet:aspect" for a difference in that aspect, such as "returned:shape"; or "facet=value" for a facet that should
    have had this value. Without an entry, the message is made from the expected and the observed value. The key
    "returned" is used for different values alone, not for a result of another type, shape or dtype.

    A requirement is sometimes neither met nor failed, because it waits for another one. `given` names facets that
    another requirement is about and that must be right first: that x is unchanged says little about a function that
    computes nothing. `needs` lists requirements that must be met first.
    """

    sentence: str
    watch: Probe
    tells: Mapping[str, str] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    needs: tuple[Requirement, ...] = ()

    def __post_init__(self) -> None:
        """Raise ExerciseError if `watch` does not take (answer, case), or if `tells` names an unknown aspect."""
        for told in self.tells:
            aspect = told.removeprefix(facet_of_message_key(told))
            if aspect.startswith(":") and aspect[1:] not in ASPECTS:
                raise ExerciseError(
                    f"expected a facet, or one and an aspect of it, in what {self.sentence!r} tells, found {told!r}. "
                    f"The aspects are: {', '.join(ASPECTS)}."
                )
        try:
            signature(self.watch).bind(None, None)
        except TypeError:
            name = getattr(self.watch, "__name__", str(self.watch))
            raise ExerciseError(
                f"expected a probe for {self.sentence!r}, which is given an answer and a case, found {name}. "
                f"If it makes a probe, call it: `{name}()`."
            ) from None

    def __call__(self, /, *args: Any, **kwargs: Any) -> Case:
        """Return a case of this requirement: one call of the answer, with these arguments."""
        return _Shown(self, args, kwargs)


class _Shown(Case):
    """A case that refers to the requirement object that made it."""

    def __init__(self, made_by: Requirement, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__(made_by.sentence, *args, **kwargs)
        object.__setattr__(self, "made_by", made_by)

    made_by: Requirement


def _everything(seen: Observation) -> Observation:
    return seen


@dataclass(frozen=True, eq=False)
class Exercise:
    """One task: its cases and their requirements, the rules on an answer's text, and the hints."""

    name: str
    chapter: str
    tier: Tier
    goal: str
    draw_cases: DrawCases
    hints: tuple[str, ...]
    rules: tuple[Rule, ...] = ()
    notes: tuple[StyleRemark, ...] = ()
    tolerance: Tolerance = field(default_factory=Tolerance)
    compare: Compare = first_difference
    keep: Callable[[Observation], Observation] = (
        _everything  # the part of an observation that is shipped: nothing that differs between processors
    )
    seconds: float = 10.0
    spelled: Callable[[str, Case], str] | None = None  # how a report spells the call, if a case is no plain call
    independent: bool = False  # True: no requirement waits for the first one
    # Seconds that the worked solution takes on the visible cases, roughly and without imports. A notebook stops an
    # answer after ten times as long. The author declares it: a student's install holds no solution to measure, and a
    # measured time would make the shipped data differ from build to build. `prove` compares it with a measurement.
    takes: float = 0.3

    @property
    def path(self) -> Path:
        """Return the path of the source file that defines this exercise."""
        return Path(getfile(self.draw_cases))

    @cached_property
    def requirements(self) -> dict[str, Requirement]:
        """Map each sentence to its requirement, in the order of the visible cases.

        Raises ExerciseError if a case was made without a requirement, or two requirements have the same sentence.
        """
        found: dict[str, Requirement] = {}
        for case in self.cases(0):
            if not isinstance(case, _Shown):
                raise ExerciseError(
                    f"{self.path}: expected each case to be made by a requirement, found {case.requirement!r}. "
                    "Make a Requirement of that sentence, and yield what it gives when it is called."
                )
            if found.setdefault(case.requirement, case.made_by) is not case.made_by:
                raise ExerciseError(
                    f"{self.path}: expected one requirement for each sentence, found two for {case.requirement!r}. "
                    "Use one object in both places, or say what is different."
                )
        return found

    def tells(self, sentence: str) -> dict[str, str]:
        """Return the `tells` of a requirement, completed with those of the exercise's other requirements.

        A facet has the same meaning in all requirements of an exercise, so another requirement's message fits where
        this one has none. The facets in `FACETS_WITH_MESSAGES` (such as the result) are not borrowed: there, what
        another requirement says may hold for its own cases alone.
        """
        own = self.requirements[sentence].tells
        known = {*map(facet_of_message_key, own), *FACETS_WITH_MESSAGES}
        others = (other.tells.items() for other in self.requirements.values())
        borrowed = {name: words for told in others for name, words in told if facet_of_message_key(name) not in known}
        return {**borrowed, **own}

    def cases(self, seed: int) -> tuple[Case, ...]:
        """Return the cases of a seed, drawn under torch's usual settings; seed 0 gives the visible cases."""
        with default_torch_settings(), torch.device("cpu"):
            return tuple(self.draw_cases(Draw(seed)))

    def observe(self, answer: Callable[..., Any], cases: Iterable[Case]) -> tuple[Observation, ...]:
        """Return the observation of an answer on each case; torch's usual settings are restored before each."""
        seen = []
        for case in cases:
            with default_torch_settings():
                seen.append(self.requirements[case.requirement].watch(answer, case))
        return tuple(seen)


@contextmanager
def default_torch_settings() -> Iterator[None]:
    """Set torch's default dtype and gradient mode to those of a new process, and restore them after the block."""
    dtype, tracking = torch.get_default_dtype(), torch.is_grad_enabled()
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(tracking)


def exercise(
    *,
    tier: Tier,
    hints: tuple[str, ...] = (),
    rules: tuple[Rule, ...] = (),
    notes: tuple[StyleRemark, ...] = (),
    tolerance: Tolerance | None = None,
    compare: Compare = first_difference,
    keep: Callable[[Observation], Observation] = _everything,
    seconds: float = 10.0,
    spelled: Callable[[str, Case], str] | None = None,
    independent: bool = False,
    takes: float = 0.3,
) -> Callable[[DrawCases], Exercise]:
    """Turn the decorated generator of cases into an exercise with its name, and with its docstring as the goal.

    The chapter is the folder of the file. If `independent`, each requirement is judged by itself; otherwise all others
    wait for the first. Raises ExerciseError if the goal or a hint is missing.
    """

    def made(draw_cases: DrawCases) -> Exercise:
        name, goal = draw_cases.__name__, _goal(draw_cases, tier, hints)
        chapter = (draw_cases.__module__.split(".")[-2:] or [""])[0]
        watching = (tolerance or Tolerance(), compare, keep, seconds, spelled, independent, takes)
        return Exercise(name, chapter, tier, goal, draw_cases, hints, rules, notes, *watching)

    return made


def _goal(draw_cases: DrawCases, tier: Tier, hints: tuple[str, ...]) -> str:
    """Return the goal of an exercise; raise ExerciseError if its goal, tier or hints are missing or invalid."""
    name, goal = draw_cases.__name__, (draw_cases.__doc__ or "").strip()
    if not goal:
        raise ExerciseError(f"{name}: expected a docstring that says the goal in a sentence, found none. Write it.")
    if tier not in get_args(Tier):
        tiers = ", ".join(map(repr, get_args(Tier)))
        raise ExerciseError(f"{name}: expected a tier of {tiers}, found {tier!r}. Write one of these.")
    if not hints:
        raise ExerciseError(f'{name}: expected at least one hint, found none. Write hints=("...",) in @exercise.')
    if not all(map(str.strip, hints)):
        raise ExerciseError(f"{name}: expected hints that say something, found an empty one. Write it, or take it out.")
    return goal


class ExerciseSet:
    """The exercises of one chapter, in the order of the chapter and accessible by name."""

    def __init__(self, chapter: str, exercises: Iterable[Exercise] = ()) -> None:
        self.chapter = chapter
        self._exercises: dict[str, Exercise] = {each.name: each for each in exercises}

    def __iter__(self) -> Iterator[Exercise]:
        return iter(self._exercises.values())

    def __getitem__(self, name: str) -> Exercise:
        if name not in self._exercises:
            raise UnknownExercise(name, self._exercises)
        return self._exercises[name]

    def __contains__(self, name: object) -> bool:
        return name in self._exercises
