"""Every answer of the bank, computed here and now, judged with the shipped keys: is it told what it should be told?
And does a build here leave the shipped keys as they are?

`python -m tests.other_processors` prints a line for each answer that is not, or one line where there is none.
Environment variables such as `MKL_CBWR=COMPATIBLE` make this processor compute as another one does; `--last-bits`
changes the last bits of what may differ between processors, and what is drawn where builds of torch draw otherwise;
`--threads 2` divides sums among threads. Without a NAME it looks at every exercise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import torch

from autograder.authoring.message_check import failed_verdicts, other_messages
from autograder.authoring.proof import shipped_key
from autograder.authoring.stale_observations import still_holds
from autograder.course.answer_bank import KnownAnswer
from autograder.course.exercise_parts import ExerciseParts
from autograder.course.judge import Judge
from autograder.diagnosis.judge_observations import judge
from autograder.diagnosis.verdict import Report
from autograder.exercises.exercise import Exercise
from tests.last_bits import LastBits
from tests.our_course import COURSE as OURS

COURSE = Path(__file__).parent.parent / "course"
EXERCISES = {exercise.name: exercise for exercise in OURS.all_exercises()}


def strays(name: str, threads: int, last_bits: bool) -> Iterator[str]:
    """A line for each answer to an exercise that is told something else than it should be."""
    parts = ExerciseParts(COURSE, EXERCISES[name].chapter, name)
    course_judge, key = Judge(COURSE, parts.stem, only=name), shipped_key(parts)
    assert key is not None, f"{name} is not shipped: run `make build`"
    torch.set_num_threads(threads)  # the setup cell has set it to 1
    with LastBits() if last_bits else nullcontext():  # type: ignore[no-untyped-call]
        for answer, seen in course_judge.keys.bank_observations(name):
            told = _told(EXERCISES[name], judge(EXERCISES[name], key, seen, answer.source), answer)
            if told:
                yield f"{name}, {answer.tag}: {told}"
        if not still_holds(course_judge, key):
            yield f"{name}: a build would change its observations"


def _told(exercise: Exercise, report: Report, answer: KnownAnswer) -> str:
    """What an answer is told instead of what it should be told; empty where all is well."""
    return _of_a_right_one(report) if answer.is_right else _of_a_wrong_one(exercise, report, answer)


def _of_a_right_one(report: Report) -> str:
    first = report.first
    return f"refused, by {first.requirement!r}: {first.sentence}" if first else ""


def _of_a_wrong_one(exercise: Exercise, report: Report, answer: KnownAnswer) -> str:
    others = [f"by {each.requirement!r}: {each.sentence}" for each in other_messages(exercise, answer, report)]
    return "; ".join(others) if failed_verdicts(report) else "full points"


def main() -> int:
    """Print what is told otherwise; returns 1 where there is anything."""
    parser = argparse.ArgumentParser(description="Judge the answer bank, as computed here, with the shipped keys.")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--last-bits", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the exercises (default: all)")
    options = parser.parse_args()
    names = options.names or list(EXERCISES)
    found = [line for name in names for line in strays(name, options.threads, options.last_bits)]
    of = f"{len(names)} exercise{'s' * (len(names) != 1)}"
    print("\n".join(found) or f"{of}: every answer is told what it should be told.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
