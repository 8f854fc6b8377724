"""Fresh cases for a notebook in a real kernel: the judge's side, a process of its own that `fresh` starts."""

from __future__ import annotations

import os
from pathlib import Path

from autograder.authoring.judge import Judge
from autograder.errors import CourseError, CourseNotFound, DamagedData
from autograder.exercises import find
from autograder.frames import Frame, receive, send
from autograder.grading.submission_verdict import new_seed
from autograder.observation import from_bytes, to_bytes
from autograder.verdict import Report

COURSE_VARIABLE = "PYTORCH_BASICS_COURSE"
_CONFIG = "nbgrader_config.py"


def serve(name: str, source: int, sink: int) -> None:
    """Judge one answer over a pair of pipes; an error of ours goes back as one line."""
    try:
        report = _judged(name, source, sink)
    except CourseError as error:
        send(sink, Frame({"error": str(error)}))
    else:
        if report is not None:
            send(sink, Frame({"report": report.to_json()}))


def _judged(name: str, source: int, sink: int) -> Report | None:
    course, stem = find_course(Path.cwd()), find(name).chapter
    judge, seed = Judge(course, stem), new_seed()
    cases = judge.cases(name, seed)
    send(sink, Frame({"seed": seed}, to_bytes([(case.requirement, case.args, case.kwargs) for case in cases])))
    frame = receive(source)
    if frame is None:
        return None
    observations = from_bytes(frame.body)
    if not isinstance(observations, list) or len(observations) != len(cases):
        raise DamagedData(f"expected {len(cases)} observations of {name}. Run the cell again.")
    return judge.judge(name, seed, observations, str(frame.head.get("source", "")))


def find_course(start: Path) -> Path:
    """The course folder: where PYTORCH_BASICS_COURSE says, else the nearest one above `start`."""
    named = os.environ.get(COURSE_VARIABLE)
    if named:
        candidates = [Path(named)]
    else:
        places = [start.resolve(), *start.resolve().parents]
        candidates = [folder for place in places for folder in (place, place / "course")]
    for folder in candidates:
        if (folder / _CONFIG).is_file() and (folder / "chapters").is_dir():
            return folder
    where = f"{named} (from {COURSE_VARIABLE})" if named else f"{start} or above it"
    raise CourseNotFound(
        f"expected the course folder, the one with {_CONFIG} and chapters/; found none in {where}. "
        f"Run this in the course's clone, or set {COURSE_VARIABLE} to that folder."
    )
