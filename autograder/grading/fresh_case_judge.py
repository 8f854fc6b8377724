"""Judge an answer of a notebook on fresh cases, in a process that `autograder.notebook.fresh_case_check` starts.

The notebook's kernel gets the cases and sends back observations; the expected observations stay in this process.
"""

from __future__ import annotations

from pathlib import Path

from autograder.course.chapter_judge import Judge
from autograder.course.course import course_in
from autograder.course.course_location import find_course
from autograder.diagnosis.verdict import Report
from autograder.errors import CourseError, DamagedData
from autograder.exercises.observation import decode_plain_data, encode_plain_data
from autograder.grading.submission_verdict import new_seed
from autograder.pipe_messages import Frame, receive_frame, send_frame


def serve_judge_request(name: str, source: int, sink: int) -> None:
    """Serve one request for fresh cases: send them to `sink`, read the observations from `source`, send the report.

    Both are file descriptors. A CourseError is sent back as its message. Student code runs in the other process,
    never in this one.
    """
    try:
        report = _judged(name, source, sink)
    except CourseError as error:
        send_frame(sink, Frame({"error": str(error)}))
    else:
        if report is not None:
            send_frame(sink, Frame({"report": report.to_json()}))


def _judged(name: str, source: int, sink: int) -> Report | None:
    course = find_course(Path.cwd())
    stem = course_in(course).find(name).chapter
    judge, seed = Judge(course, stem), new_seed()
    cases = judge.keys.cases(name, seed)
    send_frame(sink, Frame({"seed": seed}, encode_plain_data([case.to_plain() for case in cases])))
    frame = receive_frame(source)
    if frame is None:
        return None
    observations = decode_plain_data(frame.body)
    if not isinstance(observations, list) or len(observations) != len(cases):
        raise DamagedData(f"expected {len(cases)} observations of {name}. Run the cell again.")
    return judge.judge(name, seed, observations, str(frame.head.get("source", "")))
