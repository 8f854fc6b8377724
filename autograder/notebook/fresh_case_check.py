"""Check an answer on fresh cases: the kernel's side of `check(..., fresh=True)`.

A judge in a process of its own (`autograder.grading.fresh_case_judge`) sends the cases. The kernel calls the answer and
sends its observations back. The reference solution and the answer bank stay in the judge's process.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from autograder.can_start_threads import can_start_processes
from autograder.course.course import current_course
from autograder.diagnosis.verdict import Report
from autograder.errors import CourseError, WorkFailed
from autograder.exercises.exercise import Case
from autograder.exercises.observation import decode_plain_data, encode_plain_data
from autograder.notebook.call_answer_on_cases import call_on_cases, timeout_report
from autograder.notebook.reveal_and_shows_error import wrap_message
from autograder.pipe_messages import Frame, FrameError, receive_frame, send_frame

_SECONDS = 120.0  # for a judge to start, and to judge


def must_do_without_fresh_cases() -> bool:
    """Return whether a check has to take the visible cases, as no process can be started, and say so once.

    Under nbgrader it is False even if no process can start: the check then raises, since visible cases must earn no
    points of fresh ones.
    """
    if can_start_processes() or "NBGRADER_EXECUTION" in os.environ:
        return False
    _say_once_that_cases_are_visible()
    return True


@cache
def _say_once_that_cases_are_visible() -> None:
    print(
        wrap_message(
            "(No fresh cases: they need a process of their own, and this Python can start none. "
            "Checks take the visible cases.)"
        )
    )


def judge_on_fresh_cases(name: str, answer: Callable[..., Any], source: str) -> Report:
    """Return the judge's report on an answer on fresh cases, and print the output of one of its calls.

    Raises CourseError if there is no course folder, and WorkFailed if no process can be started.
    """
    if not can_start_processes():
        raise WorkFailed("fresh cases need a process of their own, and this Python can start none.")
    exercise = current_course().find(name)
    with _judge_process(name) as (to_judge, from_judge):
        cases = tuple(map(Case.from_plain, decode_plain_data(_received(from_judge).body)))
        calls = call_on_cases(exercise, answer, cases)
        if calls.stopped:
            report = timeout_report(exercise, cases, calls)
        else:
            _send(to_judge, Frame({"source": source}, encode_plain_data(list(calls.observations))))
            report = Report.from_json(_received(from_judge).head["report"])
        calls.show_printed(exercise, cases, report)
        return report


@contextlib.contextmanager
def end_kernel_at_course_error() -> Iterator[None]:
    """Within `nbgrader autograde`, end the kernel if the block raises CourseError, which is no fault of the student.

    nbgrader silently counts any error in a test cell as 0 points. If the kernel dies, nbgrader gives no score, reports
    the student as not graded, and ends with a nonzero exit status.
    """
    try:
        yield
    except CourseError as error:
        if os.environ.get("NBGRADER_EXECUTION") == "autograde":
            os.write(_terminal(), f"\nNo points can be given here, and none are: {error}\n".encode())
            os._exit(1)  # the output of the kernel is lost with it, hence the message to the terminal
        raise


def _terminal() -> int:
    """Return the file descriptor of the terminal's stderr; a kernel redirects `sys.stderr` to the notebook."""
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


def _received(fd: int) -> Frame:
    """Return the judge's next message; raise CourseError if it is an error, and WorkFailed if none arrives in time."""
    try:
        frame = receive_frame(fd, time.monotonic() + _SECONDS)
    except (TimeoutError, FrameError) as error:
        raise _no_answer(str(error)) from None
    if frame is None:
        raise _no_answer("it ended")
    if "error" in frame.head:
        raise CourseError(str(frame.head["error"]))
    return frame


def _send(fd: int, frame: Frame) -> None:
    """Send a message to the judge; raise WorkFailed if it does not take it in time."""
    try:
        send_frame(fd, frame, time.monotonic() + _SECONDS)
    except (TimeoutError, FrameError, OSError) as error:
        raise _no_answer(str(error)) from None


def _no_answer(reason: str) -> WorkFailed:
    return WorkFailed(
        f"the judge of fresh cases gave no answer: {reason}. "
        "Run `autograder judge_pipe NAME` in a terminal to see what it says."
    )
