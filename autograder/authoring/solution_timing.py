"""How long the worked solution takes, compared with what the exercise declares: a notebook's check waits by that."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator

from autograder.course.answer_keys import VISIBLE_SEED
from autograder.course.judge import Judge
from autograder.exercises.exercise import Exercise

_USUAL = float(Exercise.takes)
# A busy or slow machine takes twice as long, and proves the same exercise; a fast one a tenth.
_MORE, _LESS = 2, 0.1


def time_lines(judge: Judge, name: str) -> Iterator[str]:
    """Yield a line where the worked solution takes much longer than declared, or so little that nothing is to declare.

    It runs on the visible cases once more: what it imports is there already, and does not count in a notebook either.
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
    """Return seconds of the clock or of the processor, whichever is less: other processes and threads count in one."""
    cases = judge.keys.full_key(name, VISIBLE_SEED).cases
    clock, processor = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge.exercises[name].observe(judge.solutions[name], cases)
    return min(time.perf_counter() - clock, time.process_time() - processor)
