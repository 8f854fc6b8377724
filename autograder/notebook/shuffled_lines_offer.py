"""After two failed checks in a row, offer the shuffled lines of a right program, where the course has them."""

from __future__ import annotations

from autograder.course.course import current_course
from autograder.diagnosis.verdict import Report, Status

_ENOUGH = 2  # failed checks, after which a reader may be stuck
_failed_in_a_row: dict[str, int] = {}


def offer_shuffled_lines(report: Report) -> None:
    """Print the offer at the second failed check in a row of an exercise that has lines to arrange.

    An answer that is not begun neither counts nor ends the row; one that passes ends it.
    """
    name = report.exercise
    if report.verdicts[0].status is Status.NOT_ATTEMPTED:
        return
    _failed_in_a_row[name] = 0 if report.passed else _failed_in_a_row.get(name, 0) + 1
    if _failed_in_a_row[name] == _ENOUGH and name in current_course().arranged_names:
        print(
            "Stuck? The lines of a right program are there to be put in order. Some are not needed. In a new cell, run:"
        )
        print(f'from explorers import arrange; arrange("{name}")')
