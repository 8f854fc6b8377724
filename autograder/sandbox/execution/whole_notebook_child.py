"""The child process that runs a whole notebook: it receives one cell at a time, and answers with the cell's outputs.

So a cell cannot see the cells below it. What code writes directly to descriptors 1 and 2 is discarded.
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
from autograder.pipe_messages import Frame, receive_frame, redirect_to_null, send_frame
from autograder.sandbox.execution.cell_outputs import Output, error_output
from autograder.sandbox.execution.data_file_transfer import unpack_files
from autograder.sandbox.execution.recording_shell import (
    new_recording_shell,
    preload_error_handling,
    redirect_streams,
    run_recorded,
)

_SETUP_SECONDS = 60.0


class PreparedShell:
    """A shell in which the setup cell, if any, has run: prepared once, and the same for all submissions.

    `stand_ins` replace names that the setup cell binds. Raises WorkFailed if the setup cell fails.
    """

    def __init__(self, setup: str, stand_ins: Mapping[str, Any]) -> None:
        os.environ["NBGRADER_EXECUTION"] = "autograde"  # as nbgrader sets it: `check` then raises an error if it fails
        self._shell = new_recording_shell()
        outputs = run_recorded(self._shell, setup, _SETUP_SECONDS) if setup else []
        problems = [each for each in outputs if each["output_type"] == "error"]
        if problems:
            raise WorkFailed(f"the setup cell raised {problems[0]['ename']}: {problems[0]['evalue']}")
        self._shell.user_ns.update({name: each for name, each in stand_ins.items() if name in self._shell.user_ns})

    def warm_up(self) -> None:
        """Run a cell, raise an error and draw a picture: the first of each is slow, since it imports much."""
        preload_error_handling(self._shell)
        if "matplotlib.pyplot" in sys.modules:
            _draw_once()

    def serve(self, source: int, sink: int) -> None:
        """Run the cells that arrive from `source` in the working folder, and send a frame to `sink` for each."""
        begin = receive_frame(source)
        if begin is None:
            return
        # If a cell forks this process, the copy must not write to the grader or read from it.
        for pipe in (source, sink):
            os.register_at_fork(after_in_child=partial(os.close, pipe))
        redirect_to_null(2)
        _prepare_run(begin)
        redirect_streams()
        while (request := receive_frame(source)) is not None:
            outputs = run_recorded(self._shell, request.head["source"], request.head["seconds"])
            send_frame(sink, Frame({"stage": request.head["stage"]}, _packed(outputs)))


def _draw_once() -> None:
    """Draw a picture that nobody sees, so that matplotlib searches for fonts and imports its file formats now.

    It is drawn without pyplot, so that pyplot's state stays as it is.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().set_title("x")
    FigureCanvasAgg(figure).print_figure(io.BytesIO(), bbox_inches="tight")


def _prepare_run(begin: Frame) -> None:
    """Write the data files into the working folder, and seed the random number generators."""
    unpack_files(begin.head["files"], begin.body)
    sys.path.insert(0, "")
    seed = begin.head["seed"]
    random.seed(seed)
    for name, call in (("numpy", "random.seed"), ("torch", "manual_seed")):
        if name in sys.modules:
            seeding: Any = sys.modules[name]
            for attribute in call.split("."):
                seeding = getattr(seeding, attribute)
            seeding(seed)


def _packed(outputs: list[Output]) -> bytes:
    try:
        return json.dumps(outputs).encode()
    except (TypeError, ValueError) as problem:  # the cell's code has put other objects into the outputs
        return json.dumps([error_output(type(problem).__name__, str(problem))]).encode()
