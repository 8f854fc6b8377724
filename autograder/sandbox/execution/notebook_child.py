"""The child process of a notebook that is run whole: it is sent one cell after the other, and answers with outputs.

A cell is not told what comes after it. What the cells print on descriptors of their own is discarded.
"""

from __future__ import annotations

import io
import json
import os
import random
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from autograder.errors import WorkFailed
from autograder.pipe_messages import Frame, discard, receive, send
from autograder.sandbox.execution.cell_outputs import Output, error
from autograder.sandbox.execution.data_file_transfer import lay_out
from autograder.sandbox.execution.recording_shell import fail_once, new_recording_shell, run_recorded, take_streams

_SETUP_SECONDS = 60.0


class ReadyNotebook:
    """What is the same for all submissions: a shell in which the setup cell, where there is one, has run.

    `stand_ins` take the place of the names that the setup cell gives. Raises WorkFailed where that cell fails.
    """

    def __init__(self, setup: str, stand_ins: Mapping[str, Any]) -> None:
        os.environ["NBGRADER_EXECUTION"] = "autograde"  # as nbgrader sets it: a check that fails is an error
        self._shell = new_recording_shell()
        outputs = run_recorded(self._shell, setup, _SETUP_SECONDS) if setup else []
        problems = [each for each in outputs if each["output_type"] == "error"]
        if problems:
            raise WorkFailed(f"the setup cell raised {problems[0]['ename']}: {problems[0]['evalue']}")
        self._shell.user_ns.update({name: each for name, each in stand_ins.items() if name in self._shell.user_ns})

    def warm_up(self) -> None:
        """Do once what the first cell, the first error and the first picture of most notebooks take long for."""
        fail_once(self._shell)
        if "matplotlib.pyplot" in sys.modules:
            _draw_once()

    def serve(self, source: int, sink: int) -> None:
        """Run the cells that come from `source`, in the working folder; a frame to `sink` for each."""
        begin = receive(source)
        if begin is None:
            return
        # A copy of this process that a cell forks has nothing to say to the grader.
        for line in (source, sink):
            os.register_at_fork(after_in_child=partial(os.close, line))
        discard(2)
        _settle(begin)
        take_streams()
        while (asked := receive(source)) is not None:
            outputs = run_recorded(self._shell, asked.head["source"], asked.head["seconds"])
            send(sink, Frame({"stage": asked.head["stage"]}, _packed(outputs)))


def _draw_once() -> None:
    """Draw a picture that nobody sees, beside those of pyplot: fonts are looked for, and formats imported."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().set_title("x")
    FigureCanvasAgg(figure).print_figure(io.BytesIO(), bbox_inches="tight")


def _settle(begin: Frame) -> None:
    """Put the assignment's files in place, and let chance begin where the round says."""
    lay_out(begin.head["files"], begin.body)
    sys.path.insert(0, "")
    seed = begin.head["seed"]
    random.seed(seed)
    for name, call in (("numpy", "random.seed"), ("torch", "manual_seed")):
        if name in sys.modules:
            found: Any = sys.modules[name]
            for part in call.split("."):
                found = getattr(found, part)
            found(seed)


def _packed(outputs: list[Output]) -> bytes:
    try:
        return json.dumps(outputs).encode()
    except (TypeError, ValueError) as problem:  # what a cell made of the outputs
        return json.dumps([error(type(problem).__name__, str(problem))]).encode()
