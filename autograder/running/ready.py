"""What a process that runs submissions gets ready before the first one comes, however it was started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.recording.child import ReadyNotebook
from autograder.running.program import Ground
from autograder.running.stand_ins import STAND_INS

if TYPE_CHECKING:
    from autograder.running.child import ReadyChapter


def made_ready(ground: Ground) -> ReadyChapter | ReadyNotebook:
    """What serves the programs that stand on this; raises WorkFailed where the chapter does not begin."""
    if ground.whole:
        return ReadyNotebook(ground.setup, STAND_INS)
    from autograder.running.child import ReadyChapter  # with torch, which other notebooks do without

    return ReadyChapter(ground)
