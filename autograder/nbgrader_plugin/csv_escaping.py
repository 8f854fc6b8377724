"""Cells of a CSV file that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.errors import WorkFailed

# What makes a spreadsheet compute a cell, also behind spaces (OWASP, "CSV Injection"), and the wide forms of the signs.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20", "|", "%")
NO_GRADE = "-"  # Moodle's own sign, which nothing computes: an empty cell would be a grade of nothing


def write(path: Path, rows: Iterable[Sequence[object]]) -> None:
    """Write rows as UTF-8 text, commas between the cells; raises WorkFailed where that cannot be.

    Numbers stand as they are; an apostrophe stands before text that a spreadsheet would compute.
    """
    try:
        path.write_bytes(encoded(rows))
    except OSError as error:
        raise WorkFailed(
            f"cannot write {path}: {error.strerror}. Make room or give permission, then export again."
        ) from None


def encoded(rows: Iterable[Sequence[object]]) -> bytes:
    """What `write` writes."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(map(safe, rows))
    return text.getvalue().encode()


def safe(row: Sequence[object]) -> list[str]:
    """The cells of a row as text."""
    return [_safe(value) for value in row]


def _safe(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return str(value)
    text = value.encode("utf-8", "replace").decode()  # half a surrogate pair can be written into no file
    return f"'{text}" if text != NO_GRADE and text.lstrip(" \u00a0").startswith(_FORMULA) else text
