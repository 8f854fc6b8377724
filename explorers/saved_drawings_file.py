"""Save drawings in a file beside the notebook, so that a new pad can offer them after the kernel has ended.

The file only grows: saving a drawing appends a line, and taking one back appends another.
"""

from __future__ import annotations

import json
from typing import Any

from autograder.notebook.append_only_file import append_line, error_reason, read_lines
from autograder.notebook.progress_log import progress_folder
from explorers.drawing_pad_state import MOST_STROKES, KeptDrawing, parse_stroke
from explorers.explorer_controls import InvalidChoice

DRAWINGS_FILE = ".pytorch-basics-drawings"  # nbgrader ignores names that begin with a dot
_MOST_BYTES = 2**24  # only this much of a longer file's end is read


def save_drawing(drawing: KeptDrawing) -> str:
    """Append a drawing to the file; return a message for the reader if that fails, else an empty string."""
    strokes = [{"points": stroke.points, "width": stroke.width} for stroke in drawing.strokes]
    return _noted(
        {"drawing": drawing.key, "digit": drawing.digit, "strokes": strokes}, "`pad.kept` has it until this kernel ends"
    )


def record_removed_drawing(drawing: KeptDrawing) -> str:
    """Record that a drawing is no longer saved; return a message for the reader if that fails."""
    return _noted({"taken_back": drawing.key}, "the next pad offers it again")


def saved_drawings() -> tuple[tuple[KeptDrawing, ...], str]:
    """Return the drawings in the file, and a message for the reader if something is wrong with it."""
    folder = progress_folder()
    if folder is None:
        return (), ""
    try:
        lines = read_lines(folder / DRAWINGS_FILE, _MOST_BYTES)
    except FileNotFoundError:
        return (), ""
    except OSError as error:
        return (), f"{DRAWINGS_FILE} cannot be read ({error_reason(error)}): the drawings in it are not offered."
    found: dict[str, KeptDrawing] = {}
    lost = sum(not _is_taken(line, found) for line in lines)
    lines_lost = f"{lost} line{'s' if lost > 1 else ''} of {DRAWINGS_FILE} cannot be read"
    return tuple(found.values()), f"{lines_lost}: what stood there is not offered." if lost else ""


def _is_taken(line: str, found: dict[str, KeptDrawing]) -> bool:
    """Apply a line of the file; return False if it is not a line of this format."""
    try:
        item = json.loads(line)
        if "taken_back" in item:
            found.pop(item["taken_back"], None)
            return True
        key, digit = item["drawing"], item["digit"]
        strokes = tuple(
            parse_stroke(f"{key}-{i}", each["points"], each["width"]) for i, each in enumerate(item["strokes"])
        )
    except (ValueError, KeyError, TypeError, RecursionError, InvalidChoice):
        return False
    if (
        not isinstance(key, str)
        or type(digit) is not int
        or not 0 <= digit <= 9
        or not 0 < len(strokes) <= MOST_STROKES
    ):
        return False
    found[key] = KeptDrawing(strokes, digit, key)
    return True


def _noted(said: dict[str, Any], otherwise: str) -> str:
    folder = progress_folder()
    if folder is None:
        return ""
    try:
        append_line(folder / DRAWINGS_FILE, json.dumps(said))
    except OSError as error:
        return f"({otherwise}: no writing to {DRAWINGS_FILE}, {error_reason(error)}.)"
    return ""
