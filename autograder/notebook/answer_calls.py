"""An answer's calls in a notebook: what each one prints is kept, and one that comes to no end is stopped."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

from IPython.utils.capture import RichOutput, capture_output

from autograder.diagnosis import difference_messages
from autograder.diagnosis.judge_observations import uniform_report
from autograder.diagnosis.value_format import shorten
from autograder.diagnosis.verdict import Report, Status
from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.observation import Observation, Raised
from autograder.exercises.probe import raised
from autograder.notebook.time_limit import OutOfTime, deadline

# An answer is stopped after ten times what the worked solution takes, within these seconds. The ten is what a slow or
# busy machine and a roundabout answer have to spare. How fast this machine is, is not measured: it would differ from
# check to check. The slowest answer that is known takes a sixth of its limit.
_PATIENCE, _LEAST, _MOST = 10, 3.0, 20.0
_LINES = 30  # of what a call prints
_WIDTH = 120  # characters of such a line
_KEPT = 20_000  # characters of what a call prints
_SHOWN = 3  # pictures and the like that a call displays


class Interrupted(KeyboardInterrupt):
    """A reader stopped a check. It ends the run of the notebook's cells, as every interrupt does."""

    def _render_traceback_(self) -> list[str]:
        """Show one line instead of a traceback; IPython calls this when the error leaves a cell."""
        return [f"KeyboardInterrupt: {self}"]


@dataclass(frozen=True)
class Printed:
    """What a call printed and displayed: the beginning of it, and how long all of it was."""

    text: str = ""
    more: int = 0
    shown: tuple[RichOutput, ...] = ()

    def show(self, head: str) -> None:
        """Print it below a line that says where it comes from; nothing where the call was silent."""
        lines = self.text.splitlines()
        if lines or self.shown:
            print(head)
        for line in lines[:_LINES]:
            print(f"    {line if len(line) <= _WIDTH else line[:_WIDTH] + ' …'}")
        if lines[_LINES:] or self.more:
            print(f"    … and {len(lines[_LINES:])} lines more" + (", and more after them" if self.more else ""))
        for output in self.shown:
            output.display()


@dataclass(frozen=True)
class Calls:
    """What was seen of an answer, call by call, and what each call printed; `stopped` where one came to no end."""

    observations: tuple[Observation, ...]
    printed: tuple[Printed, ...]
    stopped: Raised | None = None

    def show_printed(self, exercise: Exercise, cases: Sequence[Case], report: Report) -> None:
        """Print once what the answer printed: in the first call that is not right, else in the first one."""
        wrong = next((verdict.case for verdict in report.verdicts if verdict.case is not None), None)
        place, which = (0, "the first call") if wrong is None else (wrong, "the first call that is not right")
        if place < len(self.printed):
            call = shorten(difference_messages.spelled(exercise, cases[place]), _WIDTH)
            self.printed[place].show(f"Your code printed in {which}, {call}:")


def limit(exercise: Exercise) -> float:
    """Return after how many seconds an answer is stopped."""
    return min(_MOST, max(_LEAST, _PATIENCE * exercise.takes))


def not_ended(exercise: Exercise, cases: Sequence[Case], calls: Calls) -> Report:
    """The report on an answer that was stopped: in which call, and at which line."""
    line = calls.stopped.line if calls.stopped else ""
    where = f" It was at: `{line}`." if line else ""
    told = f"{difference_messages.still_running(limit(exercise))}{where} Does a loop never end?"
    first, *rest = uniform_report(exercise, cases, Status.TIMEOUT, told).verdicts
    place = len(calls.observations)
    return Report(
        exercise.name, (replace(first, call=difference_messages.spelled(exercise, cases[place]), case=place), *rest)
    )


def watch(exercise: Exercise, answer: Callable[..., Any], cases: Sequence[Case]) -> Calls:
    """Watch an answer on each case, up to its limit of time; raises Interrupted where a reader stops it."""
    seen: list[Observation] = []
    printed: list[Printed] = []
    try:
        with deadline(limit(exercise)):
            for case in cases:
                kept = _Kept()
                try:
                    with redirect_stdout(kept), capture_output(stdout=False, stderr=False) as rich:
                        seen += exercise.observe(answer, (case,))
                finally:
                    printed.append(Printed(kept.getvalue(), kept.more, tuple(rich.outputs[:_SHOWN])))
    except OutOfTime as stop:
        return Calls(tuple(seen), tuple(printed), raised(stop))
    except KeyboardInterrupt as stop:
        line = raised(stop).line
        where = f" It was at: `{line}`." if line else ""
        raise Interrupted(f"you stopped the check of `{exercise.name}`.{where}") from None
    return Calls(tuple(seen), tuple(printed))


class _Kept(io.StringIO):
    """What is printed, up to a length; `more` counts the characters after it."""

    more = 0

    def write(self, text: str) -> int:
        room = max(0, _KEPT - self.tell())
        self.more += len(text) - len(text[:room])
        super().write(text[:room])
        return len(text)
