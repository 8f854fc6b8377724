"""What a process that runs submissions gets ready before the first one comes, however it was started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.sandbox.execution.course_function_stubs import STAND_INS
from autograder.sandbox.execution.notebook_child import ReadyNotebook
from autograder.sandbox.execution.program import Ground

if TYPE_CHECKING:
    from autograder.sandbox.execution.submission_child import ReadyChapter


def made_ready(ground: Ground) -> ReadyChapter | ReadyNotebook:
    """What serves the programs that stand on this; raises WorkFailed where the chapter does not begin."""
    if ground.whole:
        return ReadyNotebook(ground.setup, STAND_INS)
    from autograder.sandbox.execution.submission_child import (
        ReadyChapter,  # with torch, which other notebooks do without
    )

    return ReadyChapter(ground)
