"""Prepare a process before the first submission arrives: import the chapter's exercises, and run its setup cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.sandbox.execution.course_function_stubs import STUBS
from autograder.sandbox.execution.run_specification import SharedSetup
from autograder.sandbox.execution.whole_notebook_child import PreparedShell

if TYPE_CHECKING:
    from autograder.sandbox.execution.submission_child import PreparedChapter


def preload_chapter(ground: SharedSetup) -> PreparedChapter | PreparedShell:
    """Import the exercises and run the setup cell; return the object whose `serve` runs programs or whole notebooks.

    Raises WorkFailed if the setup cell fails.
    """
    if ground.whole:
        return PreparedShell(ground.setup, STUBS)
    from autograder.sandbox.execution.submission_child import (
        PreparedChapter,  # imports torch, which whole notebooks may not need
    )

    return PreparedChapter(ground)
