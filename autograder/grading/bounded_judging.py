"""Judging what a stranger's process says that it saw: with bounds, and without fault of ours where it fits nothing."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.course.judge import Judge
from autograder.diagnosis.expected import ExpectedObservations
from autograder.diagnosis.judge_observations import is_final, uniform_report
from autograder.diagnosis.judge_observations import judge as judge_by
from autograder.diagnosis.verdict import Report, Status
from autograder.errors import CourseError
from autograder.exercises.observation import Observation
from autograder.time_budget import time_budget

NO_FORM = "What came back from your code is of a form that no answer has, so nothing in it could be judged."
_MOST = 2**30  # bytes that judging one answer may take, beside what there is already


def judged(judge: Judge, name: str, seed: int, seen: Sequence[Observation], source: str, digest: str = "") -> Report:
    """The report on what was seen of an answer; where a `digest` stands for that, computed once for a class.

    Probes write down what an answer does; who writes it down itself may write what no comparison expects. That fails,
    like any wrong answer. Where the reference's own observations cannot be judged either, the fault is ours, and is
    raised.
    """
    known = judge.reports.find(name, seed, digest, source) if digest else None
    if known:
        return known
    try:
        # Most answers are right, or left open: then nobody has to know what the known mistakes show.
        report = _within_bounds(judge, judge.keys.reference_key(name, seed), False, seed, seen, source, digest)
        if not is_final(report):
            report = _within_bounds(judge, judge.keys.full_key(name, seed), True, seed, seen, source, digest)
        return report
    except CourseError:
        raise
    except Exception:
        judge.judge(name, seed, judge.keys.full_key(name, seed).reference, source)
        return uniform_report(judge.exercises[name], judge.keys.cases(name, seed), Status.FAIL, NO_FORM)


def _within_bounds(
    judge: Judge,
    key: ExpectedObservations,
    is_full_key: bool,
    seed: int,
    seen: Sequence[Observation],
    source: str,
    digest: str,
) -> Report:
    """The report by a key that is there already: whole trainings may be run for one, which is not bounded."""
    exercise = judge.exercises[key.exercise]
    with time_budget(), _bounded_memory(_MOST):
        if digest:
            return judge.reports.judge(exercise, key, seed, seen, source, digest, is_full_key)
        return judge_by(exercise, key, seen, source)


def names_forged(reports: Sequence[Report]) -> tuple[str, ...]:
    """A line for a person's eye for each report on something that could not be judged."""
    return tuple(f"{each.exercise}: {NO_FORM}" for each in reports if each.verdicts[0].sentence == NO_FORM)


@contextlib.contextmanager
def _bounded_memory(most: int) -> Iterator[None]:
    """Let this process map so many bytes more, and not all that the machine has; elsewhere than on Linux, no bound."""
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    bounds = [mapped + most, *(limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(bounds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
