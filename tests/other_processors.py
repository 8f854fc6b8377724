"""Judge every answer of the bank, as computed on this machine, with the shipped keys.

`python -m tests.other_processors [NAME ...]` prints a line for each answer that does not get its message, and for each
exercise whose shipped keys a build here would change; or one line if there is none. Environment variables such as
`MKL_CBWR=COMPATIBLE` make this processor compute like another one. `--last-bits` simulates other processors and builds
of torch (see `last_bits`); `--threads 2` divides sums among threads. Without a NAME it tries every exercise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import torch

from autograder.authoring.bank_message_check import verdicts_with_unexpected_message
from autograder.authoring.proof import shipped_answer_key
from autograder.authoring.stale_observations import is_observation_file_current
from autograder.course.answer_bank import KnownAnswer
from autograder.course.chapter_judge import Judge
from autograder.course.missing_exercise_parts import ExerciseParts
from autograder.diagnosis.judge_answer import judge
from autograder.diagnosis.verdict import Report
from autograder.exercises.exercise import Exercise
from tests.last_bits import LastBits
from tests.our_course import COURSE as OURS

COURSE = Path(__file__).parent.parent / "course"
EXERCISES = {exercise.name: exercise for exercise in OURS.all_exercises()}


def strays(name: str, threads: int, last_bits: bool) -> Iterator[str]:
    """Yield a line for each answer to an exercise that does not get its message."""
    parts = ExerciseParts(COURSE, EXERCISES[name].chapter, name)
    course_judge, key = Judge(COURSE, parts.stem, only=name), shipped_answer_key(parts)
    assert key is not None, f"{name} is not shipped: run `make build`"
    torch.set_num_threads(threads)  # after the setup cell, which sets it to 1
    with LastBits() if last_bits else nullcontext():  # type: ignore[no-untyped-call]
        for answer, seen in course_judge.keys.bank_observations(name):
            told = _told(EXERCISES[name], judge(EXERCISES[name], key, seen, answer.source), answer)
            if told:
                yield f"{name}, {answer.tag}: {told}"
        if not is_observation_file_current(course_judge, key):
            yield f"{name}: a build would change its observations"


def _told(exercise: Exercise, report: Report, answer: KnownAnswer) -> str:
    """Return the messages that an answer gets instead of its own; empty if all is well."""
    return _of_a_right_one(report) if answer.is_right else _of_a_wrong_one(exercise, report, answer)


def _of_a_right_one(report: Report) -> str:
    first = report.first
    return f"refused, by {first.requirement!r}: {first.sentence}" if first else ""


def _of_a_wrong_one(exercise: Exercise, report: Report, answer: KnownAnswer) -> str:
    others = [
        f"by {each.requirement!r}: {each.sentence}"
        for each in verdicts_with_unexpected_message(exercise, answer, report)
    ]
    return "; ".join(others) if report.failed_verdicts else "full points"


def main() -> int:
    """Print the differences; return 1 if there are any."""
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
