"""Score a simulated cheat that computes nothing and returns the shipped observations of the visible cases.

If a case consists of few small numbers, a fresh one may by chance equal a shipped one. Submissions are not graded on
such cases: `AnswerKeys` draws others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.judge_answer import judge
from autograder.diagnosis.verdict import Report
from autograder.errors import CourseError
from autograder.exercises.exercise import Exercise
from autograder.exercises.observation import Observation, Plain, TensorSnapshot

MAX_SHARE_OF_CONSTANTS = 0.25  # the share of an exercise that constants may earn if its first check is met honestly
_SOURCE = "def cheats(): ..."


def judge_replayed_observations(exercise: Exercise, shipped: ExpectedObservations, key: ExpectedObservations) -> Report:
    """Return the report on a cheat that repeats the reference's observations of the visible cases for every case."""
    return judge(exercise, key, _constants(shipped, key), _SOURCE)


def judge_shape_aware_replay(exercise: Exercise, shipped: ExpectedObservations, key: ExpectedObservations) -> Report:
    """Return the report on a replay that also reports the right form of tensors, without their values.

    The form can be computed from the inputs. An answer that replaces a probe in its own process can report this, and
    judging in another process cannot notice it.
    """
    reported = [_filled(*pair) for pair in zip(_constants(shipped, key), key.reference, strict=True)]
    return judge(exercise, key, reported, _SOURCE)


def _filled(reported: Plain, right: Plain) -> Plain:
    """Return what the cheat reports, with the right form in place of each tensor without values."""
    if isinstance(reported, TensorSnapshot) and isinstance(right, TensorSnapshot):
        return right if reported.values is None and right.values is None else reported
    if isinstance(reported, dict) and isinstance(right, dict):
        return {name: _filled(part, right.get(name)) for name, part in reported.items()}
    return reported


def judge_partly_honest_replay(exercise: Exercise, shipped: ExpectedObservations, key: ExpectedObservations) -> Report:
    """Return the report on a replay that solves the cases of the first requirement honestly."""
    first = key.cases[0].requirement
    seen = [
        right if case.requirement == first else constant
        for case, right, constant in zip(key.cases, key.reference, _constants(shipped, key), strict=True)
    ]
    return judge(exercise, key, seen, _SOURCE)


def passed_requirements(report: Report) -> list[str]:
    """Return the requirements that passed."""
    return [verdict.requirement for verdict in report.passed_checks]


def share_passed_by_replay(report: Report) -> float:
    """Return the share of the checks that a cheat passed by repeating observations, after an honest first check.

    The first passed check is not counted; `report` is that of `judge_partly_honest_replay`.
    """
    return len(passed_requirements(report)[1:]) / len(report.verdicts)


def cheat_earns_points(exercise: Exercise, shipped: ExpectedObservations, key: ExpectedObservations) -> bool:
    """Return whether an answer that computes nothing and repeats shipped observations earns points on a key's cases.

    It does if it passes any requirement so, or if it passes more than the share `MOST` after an honest first check.
    """
    try:
        if passed_requirements(judge_replayed_observations(exercise, shipped, key)):
            return True
        return share_passed_by_replay(judge_partly_honest_replay(exercise, shipped, key)) > MAX_SHARE_OF_CONSTANTS
    except CourseError:
        raise
    except Exception:  # an exercise's own comparison needs more than is shipped, so the cheat fails
        return False


def replay_findings(
    exercise: Exercise, shipped: ExpectedObservations, fresh: Mapping[int, ExpectedObservations]
) -> Iterator[str]:
    """Yield a complaint if repeating the shipped observations earns anything on fresh cases.

    Another one if constants after an honest first check earn more than `MOST`. `fresh` maps a seed to its answer
    key.
    """
    for seed, key in fresh.items():
        earned = passed_requirements(judge_replayed_observations(exercise, shipped, key))
        if earned:
            yield f"who repeats what is shipped passes {earned} (seed {seed}); let them hang on fresh input."
            break
    for seed, key in fresh.items():
        report = judge_partly_honest_replay(exercise, shipped, key)
        if share_passed_by_replay(report) > MAX_SHARE_OF_CONSTANTS:
            earned = passed_requirements(report)[1:]
            yield (
                f"after an honest first check, constants pass {earned} (seed {seed}), more than a quarter; "
                "let them hang on fresh input, such as right values: `given`."
            )
            break


def _constants(shipped: ExpectedObservations, key: ExpectedObservations) -> list[Observation]:
    """Return for each case of a key the shipped observation of the corresponding case of its requirement.

    If a requirement has more fresh cases than shipped ones, its last shipped observation is repeated.
    """
    known: dict[str, list[Observation]] = {}
    for case, seen in zip(shipped.cases, shipped.reference, strict=True):
        known.setdefault(case.requirement, []).append(seen)
    constants = []
    for case in key.cases:
        left = known.get(case.requirement, [{}])
        constants.append(left.pop(0) if len(left) > 1 else left[0])
    return constants
