"""Grade an assignment of several notebooks: each one by itself, with one verdict for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from threading import Lock

from autograder.grading.assignment import Assignment
from autograder.grading.assignment_grader import Grader
from autograder.grading.submission_verdict import SubmissionVerdict, qualified_name
from autograder.sandbox.execution.run_specification import LIMITS, Limits
from autograder.submission.submission import SubmittedFiles

_making = Lock()


class MultiNotebookGrader:
    """The graders of an assignment's notebooks."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._graders = {name: Grader(part) for name, part in assignment.notebooks.items()}

    def grade(self, parcel: SubmittedFiles, seed: int, limits: Limits = LIMITS) -> SubmissionVerdict:
        """Grade a student's notebooks one after the other and return their common verdict."""
        found = {name: each.grade(parcel.parts[name], seed, limits) for name, each in self._graders.items()}
        return SubmissionVerdict(
            assignment=self._assignment.stem,
            seed=seed,
            digest=parcel.digest,
            reports=tuple(report for each in found.values() for report in each.reports),
            points={name: points for each in found.values() for name, points in each.points.items()},
            extra={name: extra for each in found.values() for name, extra in each.extra.items()},
            notebooks={report.exercise: name for name, each in found.items() for report in each.reports},
            repairs=tuple(_prefixed(found, {name: each.repairs for name, each in found.items()})),
            eye=(
                *parcel.eye,
                *_prefixed(found, {name: (*_trouble(each), *each.eye) for name, each in found.items()}),
            ),
            trouble=_whole_trouble(found),
            key=self._assignment.key(parcel),
            tests={qualified_name(name, test): two for name, each in found.items() for test, two in each.tests.items()},
            by_hand=self._assignment.by_hand,
            outputs={
                qualified_name(name, key): out for name, each in found.items() for key, out in each.outputs.items()
            },
        )


def _prefixed(found: Iterable[str], sentences: Mapping[str, Iterable[str]]) -> Iterable[str]:
    return (f"{name}: {sentence}" for name in found for sentence in sentences[name])


def _trouble(verdict: SubmissionVerdict) -> tuple[str, ...]:
    return (f"could not be read: {verdict.trouble}",) if verdict.trouble else ()


def _whole_trouble(found: Mapping[str, SubmissionVerdict]) -> str | None:
    """Return the first trouble if no notebook could be read, else None."""
    troubles = [each.trouble for each in found.values() if each.trouble]
    return troubles[0] if len(troubles) == len(found) else None


@lru_cache(maxsize=1)
def _made(assignment: Assignment) -> MultiNotebookGrader:
    return MultiNotebookGrader(assignment)


def get_multi_notebook_grader(assignment: Assignment) -> MultiNotebookGrader:
    """Return the grader of an assignment of several notebooks; each process makes it once."""
    with _making:
        return _made(assignment)
