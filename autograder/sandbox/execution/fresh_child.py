"""The child's end of a fresh process: it serves one program, and ends.

It is told the chapter, the solution cells and the cases through its standard input, and answers through its standard
output: both are put out of the cells' way before any of the student's code runs.
"""

from __future__ import annotations

import os
import sys

from autograder.errors import WorkFailed
from autograder.pipe_messages import READY, Frame, discard, receive, send
from autograder.sandbox.execution.preload import made_ready
from autograder.sandbox.execution.program import Ground


def main() -> None:
    """Serve one program: the chapter comes first, then the program."""
    source, sink = _take_pipes()
    frame = receive(source)
    if frame is None:
        return
    try:
        ready = made_ready(Ground(**frame.head))
    except WorkFailed as error:
        send(sink, Frame({"problem": str(error)}))
    else:
        send(sink, Frame({"stage": READY}))
        ready.serve(source, sink)


def _take_pipes() -> tuple[int, int]:
    """Move the pipes away from descriptors 0 and 1, where the cells could read or print into them."""
    source, sink = os.dup(0), os.dup(1)
    discard(0)
    discard(1)
    return source, sink


def _try() -> None:
    """Begin as `main` does, where somebody wants to see why it does not."""
    from autograder.sandbox.execution.submission_child import new_shell  # with torch

    new_shell()
    print("The process that runs submissions starts: IPython and torch are there.")


if __name__ == "__main__":
    _try() if sys.argv[1:] == ["--try"] else main()
