"""The child's side of a fresh process: it runs one program, and ends.

The grader sends the chapter and the program (cells and cases) to its standard input, and reads its standard output.
Both pipes are moved to other descriptors before any of the student's code runs, so that the code cannot use them by
accident.
"""

from __future__ import annotations

import os
import sys

from autograder.errors import WorkFailed
from autograder.pipe_messages import READY, Frame, receive_frame, redirect_to_null, send_frame
from autograder.sandbox.execution.preload_chapter import preload_chapter
from autograder.sandbox.execution.run_specification import SharedSetup


def main() -> None:
    """Prepare the chapter that the first frame names, then run the program that comes next."""
    source, sink = _take_pipes()
    frame = receive_frame(source)
    if frame is None:
        return
    try:
        ready = preload_chapter(SharedSetup(**frame.head))
    except WorkFailed as error:
        send_frame(sink, Frame({"problem": str(error)}))
    else:
        send_frame(sink, Frame({"stage": READY}))
        ready.serve(source, sink)


def _take_pipes() -> tuple[int, int]:
    """Move the pipes to new descriptors, and return these: cells read from descriptor 0 and print into descriptor 1."""
    source, sink = os.dup(0), os.dup(1)
    redirect_to_null(0)
    redirect_to_null(1)
    return source, sink


def _try_start() -> None:
    """Start IPython and torch as `main` does, so that a person can see the traceback if that fails."""
    from autograder.sandbox.execution.submission_child import new_shell  # imports torch

    new_shell()
    print("The process that runs submissions starts: IPython and torch are there.")


if __name__ == "__main__":
    _try_start() if sys.argv[1:] == ["--try"] else main()
