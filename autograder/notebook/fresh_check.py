"""Fresh cases for a notebook in a real kernel: the kernel's side.

The kernel gets the cases from a judge in a process of its own, and gives back what the probe saw; the reference and the
answer bank stay with the judge (`fresh_judge`).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autograder.course.course import current_course
from autograder.diagnosis.verdict import Report
from autograder.errors import CourseError, WorkFailed
from autograder.exercises.exercise import Case
from autograder.exercises.observation import from_bytes, to_bytes
from autograder.notebook.answer_calls import not_ended, watch
from autograder.pipe_messages import Frame, FrameError, receive, send

_SECONDS = 120.0  # for a judge to start, and to judge


def ask(name: str, answer: Callable[..., Any], source: str) -> Report:
    """Have an answer judged on cases drawn anew, and print once what it prints.

    Raises CourseError where there is no course folder.
    """
    exercise = current_course().find(name)
    with _judge_process(name) as (to_judge, from_judge):
        cases = tuple(map(Case.from_plain, from_bytes(_told(from_judge).body)))
        calls = watch(exercise, answer, cases)
        if calls.stopped:
            report = not_ended(exercise, cases, calls)
        else:
            _tell(to_judge, Frame({"source": source}, to_bytes(list(calls.observations))))
            report = Report.from_json(_told(from_judge).head["report"])
        calls.show_printed(exercise, cases, report)
        return report


@contextlib.contextmanager
def no_score_for_our_fault() -> Iterator[None]:
    """Where nbgrader alone grades, end the kernel at a CourseError.

    nbgrader counts any error in a test as 0 and says nothing. Where the kernel is gone it gives no score, names the
    student as not graded, and ends with a status that is not 0.
    """
    try:
        yield
    except CourseError as error:
        if os.environ.get("NBGRADER_EXECUTION") == "autograde":
            os.write(_terminal(), f"\nNo points can be given here, and none are: {error}\n".encode())
            os._exit(1)  # what the kernel has printed goes with it
        raise


def _terminal() -> int:
    """Where errors go that no notebook keeps: a kernel that sends its own to the notebook still knows."""
    try:
        return sys.stderr.fileno()
    except OSError:
        return 2


@contextlib.contextmanager
def _judge_process(name: str) -> Iterator[tuple[int, int]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder", "judge_pipe", name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        bufsize=0,
    )
    assert process.stdin and process.stdout
    try:
        yield process.stdin.fileno(), process.stdout.fileno()
    finally:
        process.kill()
        process.stdin.close()
        process.stdout.close()
        process.wait()


def _told(fd: int) -> Frame:
    """The judge's next message; raises what the judge raised."""
    try:
        frame = receive(fd, time.monotonic() + _SECONDS)
    except (TimeoutError, FrameError) as error:
        raise _no_answer(str(error)) from None
    if frame is None:
        raise _no_answer("it ended")
    if "error" in frame.head:
        raise CourseError(str(frame.head["error"]))
    return frame


def _tell(fd: int, frame: Frame) -> None:
    try:
        send(fd, frame, time.monotonic() + _SECONDS)
    except (TimeoutError, FrameError, OSError) as error:
        raise _no_answer(str(error)) from None


def _no_answer(reason: str) -> WorkFailed:
    return WorkFailed(
        f"the judge of fresh cases gave no answer: {reason}. "
        "Run `python -m autograder judge_pipe NAME` in a terminal to see what it says."
    )
