"""Run a whole notebook in a child process, cell by cell, and collect the outputs of each cell.

The child receives a cell only when it has answered for the one before, so that code cannot read the cells below it. Its
messages are untrusted: they are validated, and only outputs that a page shows without running anything are kept.
"""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.errors import DamagedData
from autograder.pipe_messages import Frame, FrameError, receive_frame, send_frame
from autograder.sandbox.execution.cell_outputs import (
    MAX_DISPLAY_CHARACTERS,
    MAX_STREAM_CHARACTERS,
    SHOWN_MIME_TYPES,
    Output,
    error_output,
)
from autograder.sandbox.execution.data_file_transfer import pack_files
from autograder.sandbox.execution.run_specification import (
    LIMITS,
    CellStep,
    ChildProvider,
    Limits,
    PreparedChild,
    Program,
    SharedSetup,
)
from autograder.sandbox.execution.wait_for_message import (
    WAITING_FACTOR,
    RemainingWait,
    describe_process_end,
    wait_for_child_message,
)
from autograder.submission.count_picture_pixels import MAX_PIXELS, picture_pixels

_CELLS = 10  # a whole notebook may take as long as this many cells that use up their time
_TRIES = 3  # child processes that a notebook may use
_GRACE = 8.0  # seconds that a cell gets to end after its time is over
_SILENT = "the cell did not end when it was told that its time was over"
_NO_TIME = "the cells before it used up the time for the whole notebook"
_TOO_LARGE = f"(a picture of more than {MAX_PIXELS // 10**6} million pixels, which is not shown)"
_UNREADABLE = "what the cell gave back cannot be read"


@dataclass(frozen=True)
class NotebookToRun:
    """A notebook to run: the text of each cell (None: not run), the random seed, and the data files beside it.

    `seconds` is the CPU time that each cell may use.
    """

    ground: SharedSetup
    cells: Sequence[str | None]
    seed: int
    seconds: float
    files: Mapping[str, bytes] = field(default_factory=dict)


def run_cells(run: NotebookToRun, *, children: ChildProvider, limits: Limits = LIMITS) -> dict[int, list[Output]]:
    """Run the cells, and return the outputs of each by its index; a cell that was never reached gets an error output.

    If a cell kills the process or cannot be stopped, only its own outputs are lost: the others run again without it.
    """
    found: dict[int, list[Output]] = {}
    patience = RemainingWait(_CELLS * WAITING_FACTOR * run.seconds)
    left = [place for place, cell in enumerate(run.cells) if cell is not None and cell.strip()]
    for _ in range(_TRIES):
        lost = _run_until_lost(run, left, found, patience, children, limits)
        if lost is None:
            return found
        left.remove(lost)
    for place in left:
        found.setdefault(place, [error_output("ProcessEnded", "other cells of the notebook ended the Python process")])
    return found


def _run_until_lost(
    run: NotebookToRun,
    left: Sequence[int],
    found: dict[int, list[Output]],
    patience: RemainingWait,
    children: ChildProvider,
    limits: Limits,
) -> int | None:
    """Run cells in one process, and add the outputs of each to `found`.

    Returns the index of the cell that killed the process or could not be stopped, or None if all cells ended.
    """
    steps = tuple(CellStep(str(run.cells[place]), seconds=run.seconds) for place in left)
    with children(Program(run.ground, steps, {}), limits) as child:
        _send(child, _first_frame(run), limits)
        for place in left:
            if patience.seconds <= 0:
                found.setdefault(place, [error_output("CellTimeoutError", _NO_TIME)])
                continue
            outputs, goes_on = _outputs(child, place, run, patience, limits)
            found.setdefault(place, outputs)
            if not goes_on:
                return place
    return None


def _first_frame(run: NotebookToRun) -> Frame:
    listed, data = pack_files(run.files)
    return Frame({"seed": run.seed, "files": listed}, data)


def _send(child: PreparedChild, frame: Frame, limits: Limits) -> None:
    send_frame(child.to, frame, time.monotonic() + limits.start_seconds)


def _outputs(
    child: PreparedChild, place: int, run: NotebookToRun, patience: RemainingWait, limits: Limits
) -> tuple[list[Output], bool]:
    """Run one cell; return its outputs, and whether the process can run further cells."""
    begun = time.monotonic()
    try:
        head = {"stage": place, "source": run.cells[place], "seconds": run.seconds}
        _send(child, Frame(head), limits)
        wait_for_child_message(child, run.seconds + _GRACE, patience)
        frame = receive_frame(child.source, time.monotonic() + run.seconds, limits.message_bytes, limits.text_bytes)
        if frame is None:
            return [error_output(*describe_process_end(child))], False
        if frame.head.get("stage") != place:
            raise FrameError("the message is about another cell")
        return validated_outputs(frame.body), True
    except BrokenPipeError:
        return [error_output(*describe_process_end(child))], False
    except TimeoutError:
        return [error_output("CellTimeoutError", _SILENT)], False
    except (FrameError, DamagedData) as problem:
        return [error_output(type(problem).__name__, _UNREADABLE)], False
    finally:
        patience.seconds -= time.monotonic() - begun


def validated_outputs(body: bytes) -> list[Output]:
    """Return the outputs in a message from the child, built anew from allowed fields; raises DamagedData otherwise."""
    if len(body) > 4 * MAX_DISPLAY_CHARACTERS:
        raise DamagedData("expected fewer outputs")
    try:
        found = json.loads(body)
        return [_checked(each) for each in found]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise DamagedData(f"expected outputs: {problem}") from problem


def _checked(output: dict[str, Any]) -> Output:
    kind = output["output_type"]
    if kind == "stream" and output["name"] in ("stdout", "stderr"):
        return {"output_type": kind, "name": output["name"], "text": _text(output["text"])}
    if kind == "error":
        lines = [_text(line) for line in output["traceback"]]
        error_fields = {"ename": _text(output["ename"]), "evalue": _text(output["evalue"]), "traceback": lines}
        return {"output_type": kind, **error_fields}
    if kind in ("display_data", "execute_result"):
        data = {each: _shown(each, output["data"][each]) for each in SHOWN_MIME_TYPES if each in output["data"]}
        data = {each: shown for each, shown in data.items() if shown is not None} or {"text/plain": _TOO_LARGE}
        more = {"execution_count": None} if kind == "execute_result" else {}
        return {"output_type": kind, "metadata": {}, "data": data, **more}
    raise DamagedData("expected an output of a known kind")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise DamagedData("expected a text")
    return value.encode("utf-8", "replace").decode()[
        : 2 * MAX_STREAM_CHARACTERS
    ]  # no file can hold half a surrogate pair


def _shown(kind: str, value: Any) -> str | None:
    """Return a text or a picture of the output; None for a picture with more pixels than a page can show."""
    if kind == "text/plain":
        return _text(value)
    try:
        picture = base64.b64decode("".join(value.split()), validate=True)
    except binascii.Error as problem:
        raise DamagedData("expected a picture") from problem
    return str(value) if picture_pixels(kind, picture) <= MAX_PIXELS else None
