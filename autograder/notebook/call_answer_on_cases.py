"""Call an answer on cases in a notebook's kernel, capture the output of each call, and stop at a time limit."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

from IPython.utils.capture import RichOutput, capture_output

from autograder.diagnosis import difference_messages
from autograder.diagnosis.judge_answer import make_report_with_one_cause
from autograder.diagnosis.value_format import shorten
from autograder.diagnosis.verdict import Report, Status
from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.observation import ExceptionSnapshot, Observation
from autograder.exercises.probe import snapshot_exception
from autograder.notebook.time_limit import TimeLimitReached, interrupt_after

# The limit is ten times what the worked solution takes, but at least _LEAST and at most _MOST seconds. The factor ten
# leaves time for a slow or busy machine and for an inefficient answer. The limit does not depend on the speed of this
# machine, because a measured speed would differ from check to check. The slowest known answer takes a sixth of it.
_PATIENCE, _LEAST, _MOST = 10, 3.0, 20.0
_LINES = 30  # printed lines to show
_WIDTH = 120  # characters of a printed line to show
_KEPT = 20_000  # characters of printed text to keep
_SHOWN = 3  # displayed outputs, such as pictures, to keep per call


class InterruptedByReader(KeyboardInterrupt):
    """The reader interrupted a check. Like every KeyboardInterrupt it ends the run of the notebook's cells."""

    def _render_traceback_(self) -> list[str]:
        """Show one line instead of a traceback; IPython calls this when the error leaves a cell."""
        return [f"KeyboardInterrupt: {self}"]


@dataclass(frozen=True)
class PrintedOutput:
    """The output of one call: the beginning of the printed text, the number of characters after it, the displays."""

    text: str = ""
    more: int = 0
    shown: tuple[RichOutput, ...] = ()

    def show(self, head: str) -> None:
        """Print the line `head` and the output below it; print nothing if the call had no output."""
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
    """The observations and the output of an answer's calls; `stopped` is set if one reached the time limit."""

    observations: tuple[Observation, ...]
    printed: tuple[PrintedOutput, ...]
    stopped: ExceptionSnapshot | None = None

    def show_printed(self, exercise: Exercise, cases: Sequence[Case], report: Report) -> None:
        """Print the output of one call: of the first that is not right, else of the first."""
        wrong = next((verdict.case for verdict in report.verdicts if verdict.case is not None), None)
        place, which = (0, "the first call") if wrong is None else (wrong, "the first call that is not right")
        if place < len(self.printed):
            call = shorten(difference_messages.call_as_exercise_spells_it(exercise, cases[place]), _WIDTH)
            self.printed[place].show(f"Your code printed in {which}, {call}:")


def time_limit_of(exercise: Exercise) -> float:
    """Return the time limit of an answer in seconds."""
    return min(_MOST, max(_LEAST, _PATIENCE * exercise.takes))


def timeout_report(exercise: Exercise, cases: Sequence[Case], calls: Calls) -> Report:
    """Return the report on an answer that reached its time limit; it names the call and the line."""
    line = calls.stopped.line if calls.stopped else ""
    where = f" It was at: `{line}`." if line else ""
    sentence = f"{difference_messages.time_limit_message(time_limit_of(exercise))}{where} Does a loop never end?"
    first, *rest = make_report_with_one_cause(exercise, cases, Status.TIMEOUT, sentence).verdicts
    place = len(calls.observations)
    return Report(
        exercise.name,
        (
            replace(first, call=difference_messages.call_as_exercise_spells_it(exercise, cases[place]), case=place),
            *rest,
        ),
    )


def call_on_cases(exercise: Exercise, answer: Callable[..., Any], cases: Sequence[Case]) -> Calls:
    """Call an answer on each case within its time limit; raise InterruptedByReader if the reader stops the kernel."""
    seen: list[Observation] = []
    printed: list[PrintedOutput] = []
    try:
        with interrupt_after(time_limit_of(exercise)):
            for case in cases:
                kept = _LimitedStream()
                try:
                    with redirect_stdout(kept), capture_output(stdout=False, stderr=False) as rich:
                        seen += exercise.observe(answer, (case,))
                finally:
                    printed.append(PrintedOutput(kept.getvalue(), kept.more, tuple(rich.outputs[:_SHOWN])))
    except TimeLimitReached as stop:
        return Calls(tuple(seen), tuple(printed), snapshot_exception(stop))
    except KeyboardInterrupt as stop:
        line = snapshot_exception(stop).line
        where = f" It was at: `{line}`." if line else ""
        raise InterruptedByReader(f"you stopped the check of `{exercise.name}`.{where}") from None
    return Calls(tuple(seen), tuple(printed))


class _LimitedStream(io.StringIO):
    """A text stream that keeps the first _KEPT characters; `more` counts those after them."""

    more = 0

    def write(self, text: str) -> int:
        room = max(0, _KEPT - self.tell())
        self.more += len(text) - len(text[:room])
        super().write(text[:room])
        return len(text)
