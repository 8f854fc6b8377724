"""Read a submission: turn the bytes that a student handed in into a repaired notebook and the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from nbformat import NotebookNode

from autograder.course.points_and_hints import IndexedChapter
from autograder.submission.build_repaired_notebook import place_untouched_cells
from autograder.submission.detect_wrong_chapter import refuse_other_chapter
from autograder.submission.extract_submitted_cells import SubmittedCell, read_notebook_contents
from autograder.submission.read_released_cells import starters
from autograder.submission.rebuild_notebook_from_release import repair_submission
from autograder.submission.repair_teacher_assignment_submission import repair_teacher_assignment_submission
from autograder.submission.submission import Submission, SubmittedFiles
from autograder.submission.unreadable_notebook_messages import UnreadableError


def submission_from_files(
    parcel: SubmittedFiles, release: NotebookNode, listed: Sequence[IndexedChapter] = (), *, as_it_stands: bool = False
) -> Submission:
    """Read and repair the notebook of a student's folder, and put messages about the files before those about cells.

    `as_it_stands` keeps the student's order of cells, as nbgrader does: for assignments that are not chapters of
    the course.
    """
    if parcel.trouble:
        submission = _unreadable(parcel.trouble, release)
    else:
        submission = read_submission(
            parcel.data,
            release,
            listed,
            repair_teacher_assignment_submission if as_it_stands else repair_submission,
        )
    repairs, eye = (*parcel.notes, *submission.repairs), (*parcel.eye, *submission.eye)
    return replace(submission, repairs=repairs, eye=eye, files=parcel.files)


def read_submission(
    data: bytes,
    release: NotebookNode,
    listed: Sequence[IndexedChapter] = (),
    mended: Callable[[Sequence[SubmittedCell], NotebookNode], Submission] = repair_submission,
) -> Submission:
    """Read and repair a submitted notebook. No content of the bytes makes it raise: an unreadable file is a result.

    `listed` are the chapters of the course, to recognize a notebook of another chapter. `mended` is the function that
    matches the cells to the release.
    """
    try:
        found = read_notebook_contents(data)
        refuse_other_chapter(found.cells, starters(release), listed)
    except UnreadableError as reason:
        return _unreadable(str(reason), release)
    made = mended(found.cells, release)
    return replace(made, repairs=(*found.repairs, *made.repairs), eye=(*found.eye, *made.eye))


def _unreadable(reason: str, release: NotebookNode) -> Submission:
    """Return the submission for a file that cannot be read: the untouched released notebook, and the reason."""
    return Submission(release, place_untouched_cells(release), trouble=reason)
