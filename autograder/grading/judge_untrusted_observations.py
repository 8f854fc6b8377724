"""Judge observations that came from a student's process, within limits of time and memory.

A student's code may forge observations of any form. These become a failed report, and not an error of the grader.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.course.chapter_judge import Judge
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.judge_answer import judge as judge_by
from autograder.diagnosis.judge_answer import known_mistakes_irrelevant, make_report_with_one_cause
from autograder.diagnosis.verdict import Report, Status
from autograder.errors import CourseError
from autograder.exercises.observation import Observation
from autograder.untrusted_data_cpu_limit import limit_cpu_seconds

FORGED_OBSERVATION_MESSAGE = (
    "What came back from your code is of a form that no answer has, so nothing in it could be judged."
)
_MOST = 2**30  # bytes that judging one answer may allocate


def judge_untrusted_observations(
    judge: Judge, name: str, seed: int, seen: Sequence[Observation], source: str, digest: str = ""
) -> Report:
    """Return the report on the observations `seen` of an answer.

    With a `digest` of the observations, the report is cached and shared by all submissions with equal observations.
    A student's code that writes observations itself may write what no comparison expects: the report then fails, like
    that of any wrong answer. If the observations of the reference solution cannot be judged either, the fault is the
    grader's, and its exception is raised.
    """
    known = judge.reports.find(name, seed, digest, source) if digest else None
    if known:
        return known
    try:
        # Most answers are right or not attempted: the observations of known mistakes are computed only for the others.
        report = _within_bounds(judge, judge.keys.reference_key(name, seed), seed, seen, source, digest)
        if not known_mistakes_irrelevant(report):
            report = _within_bounds(judge, judge.keys.full_key(name, seed), seed, seen, source, digest)
        return report
    except CourseError:
        raise
    except Exception:
        judge.judge(name, seed, judge.keys.full_key(name, seed).reference, source)
        return make_report_with_one_cause(
            judge.exercises[name], judge.keys.cases(name, seed), Status.FAIL, FORGED_OBSERVATION_MESSAGE
        )


def _within_bounds(
    judge: Judge, key: ExpectedObservations, seed: int, seen: Sequence[Observation], source: str, digest: str
) -> Report:
    """Judge within the limits, by a key that is computed before: that may run whole trainings, without limits."""
    exercise = judge.exercises[key.exercise]
    with limit_cpu_seconds(), _bounded_memory(_MOST):
        if digest:
            is_full_key = key is not judge.keys.reference_key(key.exercise, seed)
            return judge.reports.judge(exercise, key, seed, seen, source, digest, is_full_key)
        return judge_by(exercise, key, seen, source)


def unjudgeable_lines(reports: Sequence[Report]) -> tuple[str, ...]:
    """Return a line for the teacher for each report on observations that could not be judged."""
    return tuple(
        f"{each.exercise}: {FORGED_OBSERVATION_MESSAGE}"
        for each in reports
        if each.verdicts[0].sentence == FORGED_OBSERVATION_MESSAGE
    )


@contextlib.contextmanager
def _bounded_memory(most: int) -> Iterator[None]:
    """Limit this process to `most` more bytes of address space within the block; on Linux only."""
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
