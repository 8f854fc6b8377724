"""How long a student waits for `check()`: every exercise of every chapter, with its worked solution."""

from __future__ import annotations

import contextlib
import io
import time
from pathlib import Path

from autograder.authoring.judge import Judge
from autograder.catalog.course import course_in
from autograder.notebook.checking import check
from autograder.watching.exercise import Exercise

_CALLS = 5


def seconds_of_checks(course: Path) -> dict[str, list[float]]:
    """The wall time of several calls of `check`, by exercise."""
    taken: dict[str, list[float]] = {}
    for judge in (Judge(course, stem) for stem in course_in(course).stems):
        for name in judge.chapter.exercises:
            taken[name] = [_seconds(name, judge) for _ in range(_CALLS)]
    return taken


def training(course: Path) -> frozenset[str]:
    """The exercises whose answers train: they may compute for longer than others."""
    found = course_in(course)
    every = (each for stem in found.stems for each in found.exercises(stem))
    return frozenset(each.name for each in every if each.seconds > Exercise.seconds)


def _seconds(name: str, judge: Judge) -> float:
    begun = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        check(name, judge.reference(name))
    return time.perf_counter() - begun
