"""Write CSV files whose cells no spreadsheet evaluates as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.errors import WorkFailed

# Beginnings that make a cell a formula, also after spaces (OWASP, "CSV Injection"), with the full-width forms.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20", "|", "%")
NO_GRADE = "-"  # Moodle's sign for no grade, which no spreadsheet evaluates; Moodle would read an empty cell as a grade


def write_csv(path: Path, rows: Iterable[Sequence[object]]) -> None:
    """Write rows as a UTF-8 CSV file; raise WorkFailed if the file cannot be written.

    Text that a spreadsheet would take for a formula gets an apostrophe in front; numbers stay as they are.
    """
    try:
        path.write_bytes(csv_bytes(rows))
    except OSError as error:
        raise WorkFailed(
            f"cannot write {path}: {error.strerror}. Make room or give permission, then export again."
        ) from None


def csv_bytes(rows: Iterable[Sequence[object]]) -> bytes:
    """Return the bytes that `write_csv` writes."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(map(escape_row, rows))
    return text.getvalue().encode()


def escape_row(row: Sequence[object]) -> list[str]:
    """Return the cells of a row as text, escaped where a spreadsheet would take them for formulas."""
    return [_safe(value) for value in row]


def _safe(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return str(value)
    text = value.encode("utf-8", "replace").decode()  # a lone surrogate cannot be encoded as UTF-8
    return f"'{text}" if text != NO_GRADE and text.lstrip(" \u00a0").startswith(_FORMULA) else text
