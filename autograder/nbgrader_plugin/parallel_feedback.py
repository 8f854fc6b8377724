"""A class shared out among processes where that pays: what is done for one student hangs on no other."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, as_completed

from autograder.grading.executors import pool

One = Callable[[str], str]  # does something for a student; gives the reason why it could not be done, or ""
WORTH = 8  # so many pages of feedback are written here while another process imports nbgrader


def shared_out(
    students: Sequence[str], here: One, elsewhere: One, count: int, worth: int = WORTH
) -> Generator[tuple[str, str], None, None]:
    """Each student with what `here` gives for them, or `elsewhere` in another process, in the order of being done.

    Up to `count` other processes take part, each for `worth` students or more. Where one of them dies, what is left
    is done here. Close it when you stop early: that ends them.
    """
    count = min(count, len(students) // worth)
    left = dict.fromkeys(students)
    if count > 1:
        for student, reason in _elsewhere(students, elsewhere, count):
            del left[student]
            yield student, reason
    for student in left:
        yield student, here(student)


def _elsewhere(students: Sequence[str], one: One, count: int) -> Generator[tuple[str, str], None, None]:
    with pool(count) as executor:
        under_way = {executor.submit(one, student): student for student in students}
        for future in as_completed(under_way):
            try:
                reason = future.result()
            except BrokenExecutor:
                return
            yield under_way[future], reason
