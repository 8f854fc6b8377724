"""Submissions: the bytes that a student hands in become a repaired notebook and the answers."""

from __future__ import annotations

import copy

from nbformat import NotebookNode

from autograder.grading.handed import UnreadableError, handed_cells
from autograder.grading.repair import Submission, repair

__all__ = ["Submission", "read", "unreadable"]


def read(data: bytes, release: NotebookNode) -> Submission:
    """Read and repair what was handed in; never raises for anything that the bytes may hold."""
    try:
        return repair(handed_cells(data), release)
    except UnreadableError as reason:
        return unreadable(str(reason), release)


def unreadable(reason: str, release: NotebookNode) -> Submission:
    """The submission that stands for a file that cannot be read: the released notebook, and the reason."""
    return Submission(copy.deepcopy(release), trouble=reason)
