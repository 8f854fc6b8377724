"""Cheating: what a submission earns that makes the probe report what the package ships, and computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autograder.authoring.judge import Judge
from autograder.judging.key import Key
from autograder.judging.verdict import Report, Status
from autograder.watching.observation import Observation

MOST = 0.25  # what constants may earn of an exercise whose first check is honestly met
_SOURCE = "def cheats(): ..."


def replayed(judge: Judge, name: str, seed: int) -> Report:
    """The report on a submission that repeats what the reference shows on the visible cases, whatever it is asked."""
    return judge.judge(name, seed, _constants(judge.shipped_key(name), judge.key(name, seed)), _SOURCE)


def after_an_honest_first(judge: Judge, name: str, seed: int) -> Report:
    """The same, where the cases of the first requirement are honestly done."""
    key = judge.key(name, seed)
    constants = _constants(judge.shipped_key(name), key)
    first = key.cases[0].requirement
    seen = [
        right if case.requirement == first else constant
        for case, right, constant in zip(key.cases, key.reference, constants, strict=True)
    ]
    return judge.judge(name, seed, seen, _SOURCE)


def lines(judge: Judge, name: str, seeds: Sequence[int]) -> Iterator[str]:
    """A line for each way in which an exercise gives points for nothing, on fresh cases of these seeds."""
    for seed in seeds:
        earned = _met(replayed(judge, name, seed))
        if earned:
            yield f"who repeats what is shipped passes {earned} (seed {seed}); let them hang on fresh input."
            break
    for seed in seeds:
        report = after_an_honest_first(judge, name, seed)
        earned = _met(report)[1:]
        if len(earned) > MOST * len(report.verdicts):
            yield (
                f"after an honest first check, constants pass {earned} (seed {seed}), more than a quarter; let them "
                "hang on fresh input, such as right values: `given`."
            )
            break


def _met(report: Report) -> list[str]:
    return [verdict.requirement for verdict in report.verdicts if verdict.status is Status.PASS]


def _constants(shipped: Key, key: Key) -> list[Observation]:
    """For each case of a key, what is shipped of the case in its place among those of its requirement."""
    known: dict[str, list[Observation]] = {}
    for case, seen in zip(shipped.cases, shipped.reference, strict=True):
        known.setdefault(case.requirement, []).append(seen)
    constants = []
    for case in key.cases:
        left = known[case.requirement]
        constants.append(left.pop(0) if len(left) > 1 else left[0])
    return constants
