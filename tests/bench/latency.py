"""Measure how long a student waits for `check()`, on every exercise of every chapter with its worked solution."""

from __future__ import annotations

import contextlib
import io
import time
from pathlib import Path

from torch.optim.optimizer import register_optimizer_step_post_hook

from autograder.course.chapter_judge import Judge
from autograder.course.course import course_in
from autograder.notebook.check_and_hint import check

_CALLS = 5


def seconds_of_checks(course: Path) -> dict[str, list[float]]:
    """Return the wall times of several calls of `check`, by exercise."""
    taken: dict[str, list[float]] = {}
    for judge in (Judge(course, stem) for stem in course_in(course).stems):
        for name in judge.chapter.exercises:
            taken[name] = [_seconds(name, judge) for _ in range(_CALLS)]
    return taken


def training(course: Path) -> frozenset[str]:
    """Return the names of the exercises whose check trains a model."""
    judges = (Judge(course, stem) for stem in course_in(course).stems)
    return frozenset(name for judge in judges for name in judge.chapter.exercises if trains(name, judge))


def trains(name: str, judge: Judge) -> bool:
    """Return whether an optimizer of torch takes a step while `check` runs the worked solution."""
    steps: list[object] = []
    counting = register_optimizer_step_post_hook(lambda optimizer, *_: steps.append(optimizer))
    try:
        _seconds(name, judge)
    finally:
        counting.remove()
    return bool(steps)


def _seconds(name: str, judge: Judge) -> float:
    begun = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        check(name, judge.solutions[name])
    return time.perf_counter() - begun
