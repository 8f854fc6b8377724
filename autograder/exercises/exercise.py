"""Exercises: what an answer is asked to fulfil, the cases that it is called on, and what is watched of each.

A requirement is one object: the sentence that students read, what is watched, and what to say where it is not met.
Called, it makes a case:

    along = Requirement("works along any dim", calling())

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
from autograder.exercises.difference import ASPECTS, Difference, Tolerance, first_difference
from autograder.exercises.observation import Observation
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import Note, Rule

Tier = Literal["warm-up", "core", "stretch"]


@dataclass(frozen=True, eq=False, init=False)
class Case:
    """One call of the answer: the requirement that it shows, and the arguments (plain data)."""

    requirement: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __init__(self, requirement: str, /, *args: Any, **kwargs: Any) -> None:
        object.__setattr__(self, "requirement", requirement)
        object.__setattr__(self, "args", args)
        object.__setattr__(self, "kwargs", kwargs)

    def to_plain(self) -> list[Any]:
        """Plain data, as an observation may be."""
        return [self.requirement, self.args, self.kwargs]

    @classmethod
    def from_plain(cls, data: Any) -> Case:
        """Read what `to_plain` gave."""
        requirement, args, kwargs = data
        return cls(requirement, *args, **kwargs)


Probe = Callable[[Callable[..., Any], Case], Observation]
# The facets that judging has words for in every exercise.
SPOKEN = frozenset({"returned", "again", "inputs", "rng", "sharing", "gradient", "raised"})
Compare = Callable[[Observation, Observation, Tolerance], Difference | None]
DrawCases = Callable[[Draw], Iterator[Case]]


def facet_of(told: str) -> str:
    """The facet that a name in a requirement's `tells` is about: of "returned:shape" or "returned=ok", the result."""
    return re.split("[.:=]", told, maxsplit=1)[0]


@dataclass(frozen=True, eq=False)
class Requirement:
    """Something that an answer must fulfil: the sentence that students read of it, and the probe that watches it.

    `tells` is what to say where a facet of the probe's observation is not as it should be, or, under "facet.key", an
    entry of it, under "facet:aspect" (shape, say), where it differs in that, or, under "facet=value", what should be
    this value; where it says nothing, what was expected and what was found is told. What stands under "returned" alone
    is about other values, not about a result of another form.

    Two things can keep it from being judged; then it is neither met nor failed, and says which other it waits for:
    `given` names facets that must be right first, though another requirement speaks of them: that x stays as it is says
    little of a function that computes nothing. `needs` are requirements that must be met first.
    """

    sentence: str
    watch: Probe
    tells: Mapping[str, str] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    needs: tuple[Requirement, ...] = ()

    def __post_init__(self) -> None:
        """Raises ExerciseError where what is to watch cannot be given an answer and a case, or an aspect is unknown."""
        for told in self.tells:
            aspect = told.removeprefix(facet_of(told))
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
        """A case that shows it: one call of the answer, with these arguments."""
        return _Shown(self, args, kwargs)


class _Shown(Case):
    """A case that knows the requirement which made it."""

    def __init__(self, made_by: Requirement, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__(made_by.sentence, *args, **kwargs)
        object.__setattr__(self, "made_by", made_by)

    made_by: Requirement


def _everything(seen: Observation) -> Observation:
    return seen


@dataclass(frozen=True, eq=False)
class Exercise:
    """One task: its cases with what is watched of each, what an answer must not use, and its hints."""

    name: str
    chapter: str
    tier: Tier
    goal: str
    draw_cases: DrawCases
    hints: tuple[str, ...]
    rules: tuple[Rule, ...] = ()
    notes: tuple[Note, ...] = ()
    tolerance: Tolerance = field(default_factory=Tolerance)
    compare: Compare = first_difference
    keep: Callable[[Observation], Observation] = _everything  # what is shipped of an observation: no last bits
    seconds: float = 10.0
    spelled: Callable[[str, Case], str] | None = None  # the call in a report, where a case is no plain call
    independent: bool = False  # parts that do not need each other: no requirement waits for the first
    # Seconds that the worked solution takes on the visible cases, coarsely, imports aside. A notebook stops an answer
    # after ten times as long. It is declared, since a student's install holds no solution whose time could be taken;
    # shipped data with a time that was taken would differ from build to build. `prove` compares it with reality.
    takes: float = 0.3

    @property
    def path(self) -> Path:
        """The file that it is written in."""
        return Path(getfile(self.draw_cases))

    @cached_property
    def requirements(self) -> dict[str, Requirement]:
        """What an answer must fulfil, by sentence, in the order of the cases; raises ExerciseError."""
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
        """Return what a requirement says of each facet; where it has no words for one, those of another requirement.

        One facet is watched alike in all requirements of an exercise. What only the engine has words for (the result)
        is left out: what another requirement says of it may hold for its own cases alone.
        """
        own = self.requirements[sentence].tells
        known = {*map(facet_of, own), *SPOKEN}
        others = (other.tells.items() for other in self.requirements.values())
        borrowed = {name: words for told in others for name, words in told if facet_of(name) not in known}
        return {**borrowed, **own}

    def cases(self, seed: int) -> tuple[Case, ...]:
        """The cases of this seed, whatever torch is set to: 0 draws the visible ones, a grading run draws its own."""
        with usual_settings(), torch.device("cpu"):
            return tuple(self.draw_cases(Draw(seed)))

    def observe(self, answer: Callable[..., Any], cases: Iterable[Case]) -> tuple[Observation, ...]:
        """Watch an answer on each case, each time under torch's usual settings, whatever was set before."""
        seen = []
        for case in cases:
            with usual_settings():
                seen.append(self.requirements[case.requirement].watch(answer, case))
        return tuple(seen)


@contextmanager
def usual_settings() -> Iterator[None]:
    """Set torch's default dtype and gradient mode to what a new process has, and back afterwards."""
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
    notes: tuple[Note, ...] = (),
    tolerance: Tolerance | None = None,
    compare: Compare = first_difference,
    keep: Callable[[Observation], Observation] = _everything,
    seconds: float = 10.0,
    spelled: Callable[[str, Case], str] | None = None,
    independent: bool = False,
    takes: float = 0.3,
) -> Callable[[DrawCases], Exercise]:
    """Make an exercise of the decorated generator of cases: of that name, with its docstring as the goal.

    Its chapter is the folder that its file stands in. Where its parts are `independent`, each requirement is judged by
    itself; elsewhere all wait for the first. Raises ExerciseError where the goal or a hint is missing.
    """

    def made(draw_cases: DrawCases) -> Exercise:
        name, goal = draw_cases.__name__, _goal(draw_cases, tier, hints)
        chapter = (draw_cases.__module__.split(".")[-2:] or [""])[0]
        watching = (tolerance or Tolerance(), compare, keep, seconds, spelled, independent, takes)
        return Exercise(name, chapter, tier, goal, draw_cases, hints, rules, notes, *watching)

    return made


def _goal(draw_cases: DrawCases, tier: Tier, hints: tuple[str, ...]) -> str:
    """The goal of an exercise, in whose form nothing is missing."""
    name, goal = draw_cases.__name__, (draw_cases.__doc__ or "").strip()
    if not goal:
        raise ExerciseError(f"{name}: expected a docstring that says the goal in a sentence, found none. Write it.")
    if tier not in get_args(Tier):
        told = ", ".join(map(repr, get_args(Tier)))
        raise ExerciseError(f"{name}: expected a tier of {told}, found {tier!r}. Write one of these.")
    if not hints:
        raise ExerciseError(f'{name}: expected at least one hint, found none. Write hints=("...",) in @exercise.')
    if not all(map(str.strip, hints)):
        raise ExerciseError(f"{name}: expected hints that say something, found an empty one. Write it, or take it out.")
    return goal


class ExerciseSet:
    """The exercises of one chapter, in order, by name."""

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
