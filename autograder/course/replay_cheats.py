"""Cheating: what a submission earns that makes the probe report what the package ships, and computes nothing.

Where few small numbers are drawn, fresh cases may by chance ask for what is shipped. Nobody is graded on these:
`Judge.key` draws again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from autograder.diagnosis.expected import Key
from autograder.diagnosis.judge_observations import judge
from autograder.diagnosis.verdict import Report, Status
from autograder.errors import CourseError
from autograder.exercises.exercise import Exercise
from autograder.exercises.observation import Observation, Plain, Seen

MOST = 0.25  # what constants may earn of an exercise whose first check is honestly met
_SOURCE = "def cheats(): ..."


def replayed(exercise: Exercise, shipped: Key, key: Key) -> Report:
    """The report on a submission that repeats what the reference shows on the visible cases, whatever it is asked."""
    return judge(exercise, key, _constants(shipped, key), _SOURCE)


def with_right_shapes(exercise: Exercise, shipped: Key, key: Key) -> Report:
    """The same, where tensors of which only the form is watched are told as they are asked for.

    That form can be read off the inputs. Who replaces a probe in the own process can report this, and no verdict made
    elsewhere can know: so much of an exercise asks for facts alone.
    """
    told = [_filled(*pair) for pair in zip(_constants(shipped, key), key.reference, strict=True)]
    return judge(exercise, key, told, _SOURCE)


def _filled(told: Plain, right: Plain) -> Plain:
    """What is told, with the right outlines in the places of its own."""
    if isinstance(told, Seen) and isinstance(right, Seen):
        return right if told.values is None and right.values is None else told
    if isinstance(told, dict) and isinstance(right, dict):
        return {name: _filled(part, right.get(name)) for name, part in told.items()}
    return told


def after_an_honest_first(exercise: Exercise, shipped: Key, key: Key) -> Report:
    """The same, where the cases of the first requirement are honestly done."""
    first = key.cases[0].requirement
    seen = [
        right if case.requirement == first else constant
        for case, right, constant in zip(key.cases, key.reference, _constants(shipped, key), strict=True)
    ]
    return judge(exercise, key, seen, _SOURCE)


def met(report: Report) -> list[str]:
    """The requirements that are met."""
    return [verdict.requirement for verdict in report.verdicts if verdict.status is Status.PASS]


def share_of_constants(report: Report) -> float:
    """The share of an exercise that constants earn beside its first check, which was honestly met."""
    return len(met(report)[1:]) / len(report.verdicts)


def pays(exercise: Exercise, shipped: Key, key: Key) -> bool:
    """Whether the cases of a key give points for what is shipped: any alone, or many after an honest first check."""
    try:
        if met(replayed(exercise, shipped, key)):
            return True
        return share_of_constants(after_an_honest_first(exercise, shipped, key)) > MOST
    except CourseError:
        raise
    except Exception:  # an exercise's own comparison expects more than is shipped: then it is no answer
        return False


def lines(exercise: Exercise, shipped: Key, fresh: Mapping[int, Key]) -> Iterator[str]:
    """A line for each way in which an exercise gives points for nothing, on fresh cases: their keys, by seed."""
    for seed, key in fresh.items():
        earned = met(replayed(exercise, shipped, key))
        if earned:
            yield f"who repeats what is shipped passes {earned} (seed {seed}); let them hang on fresh input."
            break
    for seed, key in fresh.items():
        report = after_an_honest_first(exercise, shipped, key)
        if share_of_constants(report) > MOST:
            yield (
                f"after an honest first check, constants pass {met(report)[1:]} (seed {seed}), more than a quarter; "
                "let them hang on fresh input, such as right values: `given`."
            )
            break


def _constants(shipped: Key, key: Key) -> list[Observation]:
    """For each case of a key, what is shipped of the case in its place among those of its requirement."""
    known: dict[str, list[Observation]] = {}
    for case, seen in zip(shipped.cases, shipped.reference, strict=True):
        known.setdefault(case.requirement, []).append(seen)
    constants = []
    for case in key.cases:
        left = known.get(case.requirement, [{}])
        constants.append(left.pop(0) if len(left) > 1 else left[0])
    return constants
