"""What a student hands in, as it comes: the cells of an untrusted notebook file, and nothing else of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from autograder.grading.source import magic_work

MAX_BYTES = 32 * 2**20
MAX_PARTS = 1_000_000  # lists and objects: each takes much more memory than the two letters it is written with
MAX_CELLS = 1000
MAX_SOURCE = 20_000  # characters in one cell: Python's parser takes its time, and far more memory than the text
_KEPT = 1_000  # characters of a longer one
MAX_TEXT = 300_000  # characters in all cells
MAX_MAGIC = 200_000  # characters that IPython may have to read for the sake of lines that begin with `%` or `!`
MAX_MAGIC_SOURCE = 10_000  # characters in one cell with such a line
# Colab keeps a picture in the text itself.
_PICTURE = re.compile(r"data:[\w.+/-]{1,100};base64,[A-Za-z0-9+/=]+")
_KINDS = ("code", "markdown", "raw")


@dataclass(frozen=True)
class Handed:
    """One cell as handed in: only its kind, its text and the two marks by which it can be found again."""

    index: int
    kind: str
    source: str
    cell_id: str
    grade_id: str
    is_cut: bool = False  # too long to be read: what is left of it is text, and is not run


class UnreadableError(Exception):
    """The file is no notebook that can be graded; the message is the reason, for student and teacher."""


def handed_cells(data: bytes) -> list[Handed]:
    """The cells of a notebook file; raises UnreadableError with a reason in plain words."""
    notebook = _json(data)
    found = notebook.get("nbformat")
    if found != 4:
        told = f"found format {found}" if isinstance(found, int) and 0 <= found < 100 else "found none"
        raise UnreadableError(
            f"expected a notebook of format 4, {told}. Open it in JupyterLab, save it, and hand it in again."
        )
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not cells:
        raise UnreadableError("the notebook has no cells. Hand in the notebook that you worked in.")
    if len(cells) > MAX_CELLS:
        raise UnreadableError(f"the notebook has {len(cells)} cells; more than {MAX_CELLS} are not read.")
    handed = [_handed(index, cell) for index, cell in enumerate(cells)]
    _check_work(handed)
    return handed


def _check_work(handed: list[Handed]) -> None:
    """Raise UnreadableError where reading the cells would keep the class waiting."""
    length = sum(len(cell.source) for cell in handed)
    if length > MAX_TEXT:
        raise UnreadableError(f"its cells have {length} characters in all; more than {MAX_TEXT} are not read.")
    work = {cell.index: magic_work(cell.source) for cell in handed if cell.kind == "code"}
    if sum(work.values()) > MAX_MAGIC or any(work.get(c.index) and len(c.source) > MAX_MAGIC_SOURCE for c in handed):
        raise UnreadableError(
            "it has too many lines that begin with a sign such as `%`, `!` or `?`, or a long cell with one. "
            "Take them out, save, and hand it in again."
        )


def _check_size(data: bytes) -> None:
    if not data.strip():
        raise UnreadableError("the file is empty. Hand in the notebook again.")
    if len(data) > MAX_BYTES:
        raise UnreadableError(
            f"the file has more than {MAX_BYTES >> 20} MB, which is not read. "
            "Clear all outputs, save, and hand it in again."
        )
    if data.count(b"{") + data.count(b"[") > MAX_PARTS:
        raise UnreadableError(
            f"the file has more than {MAX_PARTS} lists and objects. Clear all outputs, save, and hand it in again."
        )


def _json(data: bytes) -> dict[str, Any]:
    _check_size(data)
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UnreadableError(
            "the file is no notebook: it is not UTF-8 text. Hand in the .ipynb file itself."
        ) from None
    except json.JSONDecodeError as error:
        raise UnreadableError(
            f"the file is no notebook: its JSON breaks off or is damaged at line {error.lineno}, "
            f"column {error.colno}. Save it once more in JupyterLab and hand it in again."
        ) from None
    except (ValueError, RecursionError):
        raise UnreadableError(
            "the file is no notebook: its JSON is nested too deeply or holds an endless number."
        ) from None
    if not isinstance(notebook, dict):
        raise UnreadableError("the file is no notebook: expected a JSON object. Hand in the .ipynb file itself.")
    return notebook


def _handed(index: int, cell: object) -> Handed:
    """Read one cell; whatever is not as it should be counts as absent."""
    if not isinstance(cell, dict):
        return Handed(index, "raw", "", "", "")
    kind = cell["cell_type"] if cell.get("cell_type") in _KINDS else "raw"
    source = _source(cell.get("source"), kind)
    is_cut = len(source) > MAX_SOURCE
    return Handed(
        index=index,
        kind="raw" if is_cut else kind,
        source=source[:_KEPT] if is_cut else source,
        is_cut=is_cut,
        cell_id=_text(cell.get("id")),
        grade_id=_text(_dict(_dict(cell.get("metadata")).get("nbgrader")).get("grade_id")),
    )


def _source(value: object, kind: str) -> str:
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    # Half a surrogate pair can be written in JSON, and then in no file.
    text = _text(value).encode("utf-8", "replace").decode()
    if kind != "code":
        text = _PICTURE.sub("picture", text)
    return text


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
