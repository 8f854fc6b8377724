"""Measure the cost of the students' own code: their cells and the probes' calls, in a warm process without grader."""

from __future__ import annotations

import importlib
import os
import struct
import time
from collections.abc import Sequence
from pathlib import Path

from autograder.grading import class_grading
from autograder.grading.assignment import read_assignment
from autograder.grading.assignment_grader import get_grader
from autograder.grading.grade_submission import plan_submission
from autograder.sandbox.execution.choose_runner import loaded_slow_modules
from autograder.sandbox.execution.run_specification import CellStep, ProbeStep, Program
from autograder.sandbox.execution.submission_child import PreparedChapter, run_cell
from autograder.submission.read_submission import submission_from_files

_SECONDS = struct.Struct("d")


def seconds_of(course: Path, stem: str, folders: Sequence[Path], seed: int = 1) -> list[float]:
    """Return the CPU seconds of each submission's own code; it runs unconfined, as it comes from the answer bank."""
    wanted = read_assignment(course, stem, unconfined=True)
    made = get_grader(wanted)
    read = [
        submission_from_files(class_grading.read_student_files(wanted, folder), made.release, wanted.listed)
        for folder in folders
    ]
    programs = [plan_submission(submission, made.judge, seed).program for submission in read]
    chapter = PreparedChapter(programs[0].ground)
    for name in loaded_slow_modules():  # an answer's time does not include imports
        importlib.import_module(name)
    return [_in_a_fork(chapter, each) for each in programs]


def _in_a_fork(chapter: PreparedChapter, program: Program) -> float:
    """Run a program in a child process, so that the next program finds the chapter unchanged."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(sink, _SECONDS.pack(_run(chapter, program)))
        finally:
            os._exit(0)
    os.close(sink)
    with open(source, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    return float(_SECONDS.unpack(data)[0])


def _run(chapter: PreparedChapter, program: Program) -> float:
    begun = time.process_time()
    for step in program.steps:
        if isinstance(step, CellStep):
            run_cell(chapter.shell, step.source)
        elif isinstance(step, ProbeStep) and step.called in chapter.shell.user_ns:
            answer = chapter.shell.user_ns[step.called]
            list(chapter.exercises[step.exercise].observe(answer, program.cases[step.exercise]))
    return time.process_time() - begun
