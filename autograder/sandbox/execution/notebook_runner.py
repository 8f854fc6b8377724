"""Runs a notebook whole, cell by cell in a child process, and gathers what each cell gives.

The child is told a cell when it has answered for the one before: what comes later is no secret that it could tell.
What it sends back is a stranger's word, and becomes outputs of the kinds that a page shows and does not run.
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
from autograder.pipe_messages import Frame, FrameError, receive, send
from autograder.sandbox.execution.cell_outputs import KINDS, MOST_SHOWN, MOST_TEXT, Output, error
from autograder.sandbox.execution.data_file_transfer import packed
from autograder.sandbox.execution.program import LIMITS, AnswerCell, Child, Children, Ground, Limits, Program
from autograder.sandbox.execution.wait_for_child import PATIENCE, Patience, epitaph, wait_for
from autograder.submission.picture_size import MOST, pixels

_CELLS = 10  # a notebook has the time of so many cells that use theirs up
_TRIES = 3  # processes that a notebook may lose
_GRACE = 8.0  # seconds for a cell that is told that its time is over
_SILENT = "the cell did not end when it was told that its time was over"
_NO_TIME = "the cells before it used up the time for the whole notebook"
_TOO_LARGE = f"(a picture of more than {MOST // 10**6} million pixels, which is not shown)"
_UNREADABLE = "what the cell gave back cannot be read"


@dataclass(frozen=True)
class NotebookRun:
    """What is run: the text of each cell, None for one that is not; where chance begins; the files beside it.

    `seconds` is what a cell may compute.
    """

    ground: Ground
    cells: Sequence[str | None]
    seed: int
    seconds: float
    files: Mapping[str, bytes] = field(default_factory=dict)


def run_cells(run: NotebookRun, *, children: Children, limits: Limits = LIMITS) -> dict[int, list[Output]]:
    """The outputs of each cell that is run, by its place; a cell that was never reached has an error that says why.

    A cell that kills the process, or cannot be stopped, costs only itself: the others run again without it.
    """
    found: dict[int, list[Output]] = {}
    patience = Patience(_CELLS * PATIENCE * run.seconds)
    left = [place for place, cell in enumerate(run.cells) if cell is not None and cell.strip()]
    for _ in range(_TRIES):
        lost = _run_until_lost(run, left, found, patience, children, limits)
        if lost is None:
            return found
        left.remove(lost)
    for place in left:
        found.setdefault(place, [error("ProcessEnded", "other cells of the notebook ended the Python process")])
    return found


def _run_until_lost(
    run: NotebookRun,
    left: Sequence[int],
    found: dict[int, list[Output]],
    patience: Patience,
    children: Children,
    limits: Limits,
) -> int | None:
    """Run cells in one process, adding what each gave; returns the one that killed it or went on, else None."""
    steps = tuple(AnswerCell(str(run.cells[place]), seconds=run.seconds) for place in left)
    with children(Program(run.ground, steps, {}), limits) as child:
        _send(child, _beginning(run), limits)
        for place in left:
            if patience.seconds <= 0:
                found.setdefault(place, [error("CellTimeoutError", _NO_TIME)])
                continue
            outputs, goes_on = _outputs(child, place, run, patience, limits)
            found.setdefault(place, outputs)
            if not goes_on:
                return place
    return None


def _beginning(run: NotebookRun) -> Frame:
    listed, data = packed(run.files)
    return Frame({"seed": run.seed, "files": listed}, data)


def _send(child: Child, frame: Frame, limits: Limits) -> None:
    send(child.to, frame, time.monotonic() + limits.start_seconds)


def _outputs(
    child: Child, place: int, run: NotebookRun, patience: Patience, limits: Limits
) -> tuple[list[Output], bool]:
    """The outputs of one cell, and whether the process goes on."""
    begun = time.monotonic()
    try:
        head = {"stage": place, "source": run.cells[place], "seconds": run.seconds}
        _send(child, Frame(head), limits)
        wait_for(child, run.seconds + _GRACE, patience)
        frame = receive(child.source, time.monotonic() + run.seconds, limits.message_bytes, limits.text_bytes)
        if frame is None:
            return [error(*epitaph(child))], False
        if frame.head.get("stage") != place:
            raise FrameError("the message is about another cell")
        return checked(frame.body), True
    except BrokenPipeError:
        return [error(*epitaph(child))], False
    except TimeoutError:
        return [error("CellTimeoutError", _SILENT)], False
    except (FrameError, DamagedData) as problem:
        return [error(type(problem).__name__, _UNREADABLE)], False
    finally:
        patience.seconds -= time.monotonic() - begun


def checked(body: bytes) -> list[Output]:
    """The outputs that a message holds, rebuilt from what may be in one; raises DamagedData for anything else."""
    if len(body) > 4 * MOST_SHOWN:
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
        told = {"ename": _text(output["ename"]), "evalue": _text(output["evalue"]), "traceback": lines}
        return {"output_type": kind, **told}
    if kind in ("display_data", "execute_result"):
        data = {each: _shown(each, output["data"][each]) for each in KINDS if each in output["data"]}
        data = {each: shown for each, shown in data.items() if shown is not None} or {"text/plain": _TOO_LARGE}
        more = {"execution_count": None} if kind == "execute_result" else {}
        return {"output_type": kind, "metadata": {}, "data": data, **more}
    raise DamagedData("expected an output of a known kind")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise DamagedData("expected a text")
    return value.encode("utf-8", "replace").decode()[: 2 * MOST_TEXT]  # half a surrogate pair can be in no file


def _shown(kind: str, value: Any) -> str | None:
    """A text, or a picture; None for one that unfolds to more than a page can show."""
    if kind == "text/plain":
        return _text(value)
    try:
        picture = base64.b64decode("".join(value.split()), validate=True)
    except binascii.Error as problem:
        raise DamagedData("expected a picture") from problem
    return str(value) if pixels(kind, picture) <= MOST else None
