"""Compare the time that the worked solution takes with the time that the exercise declares as `takes`.

In a notebook, `check` derives from `takes` how long it waits for an answer.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator

from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.exercises.exercise import Exercise

_USUAL = float(Exercise.takes)
# Factors of tolerance: a busy or slow machine may take twice as long, and a fast one a tenth.
_MORE, _LESS = 2, 0.1


def timing_faults(judge: Judge, name: str) -> Iterator[str]:
    """Yield a line if the solution takes much longer than declared, or so little time that `takes` is not needed.

    The solution has run on the visible cases before, so that its imports are not measured.
    """
    declared, taken = judge.exercises[name].takes, _taken(judge, name)
    if taken > _MORE * declared:
        yield (
            f"the solution takes {taken:.1f} s on the visible cases, where takes={declared:g} is declared: a notebook "
            f"would stop answers too soon. Write takes={math.ceil(taken)}, or make the cases smaller."
        )
    elif declared > _USUAL and taken < _LESS * _USUAL:
        yield f"the solution takes {taken:.2f} s on the visible cases; take takes={declared:g} out."


def _taken(judge: Judge, name: str) -> float:
    """Return the seconds of wall time or of processor time, whichever is less.

    Other processes lengthen the first, and several threads the second.
    """
    cases = judge.keys.full_key(name, VISIBLE_SEED).cases
    clock, processor = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge.exercises[name].observe(judge.solutions[name], cases)
    return min(time.perf_counter() - clock, time.process_time() - processor)
