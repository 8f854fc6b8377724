"""Run a function for each student in worker processes, if there are enough students to make that faster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, as_completed

from autograder.grading.grading_executors import process_pool

Work = Callable[[str], str]  # does the work for one student; returns the reason for a failure, or ""
# Students for whom it is worth to start a process: as many pages as this one writes while another imports nbgrader.
MIN_STUDENTS = 8


def map_in_processes(
    students: Sequence[str], here: Work, elsewhere: Work, count: int, worth: int = MIN_STUDENTS
) -> Generator[tuple[str, str], None, None]:
    """Run `elsewhere` on the students in worker processes, and yield each student with the result once it is there.

    Up to `count` processes start, if each gets at least `worth` students; this process runs `here` on all that are
    left, also if a worker dies. Close the generator to stop early: that ends the processes.
    """
    count = min(count, len(students) // worth)
    left = dict.fromkeys(students)
    if count > 1:
        for student, reason in _elsewhere(students, elsewhere, count):
            del left[student]
            yield student, reason
    for student in left:
        yield student, here(student)


def _elsewhere(students: Sequence[str], one: Work, count: int) -> Generator[tuple[str, str], None, None]:
    with process_pool(count) as executor:
        under_way = {executor.submit(one, student): student for student in students}
        for future in as_completed(under_way):
            try:
                reason = future.result()
            except BrokenExecutor:
                return
            yield under_way[future], reason
