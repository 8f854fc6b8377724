"""Prepare a process for running submissions, before the first one arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.sandbox.execution.course_function_stubs import STAND_INS
from autograder.sandbox.execution.notebook_child import ReadyNotebook
from autograder.sandbox.execution.program import Ground

if TYPE_CHECKING:
    from autograder.sandbox.execution.submission_child import ReadyChapter


def made_ready(ground: Ground) -> ReadyChapter | ReadyNotebook:
    """Import the exercises and run the setup cell; return the object whose `serve` runs programs or whole notebooks.

    Raises WorkFailed if the setup cell fails.
    """
    if ground.whole:
        return ReadyNotebook(ground.setup, STAND_INS)
    from autograder.sandbox.execution.submission_child import (
        ReadyChapter,  # imports torch, which whole notebooks may not need
    )

    return ReadyChapter(ground)
