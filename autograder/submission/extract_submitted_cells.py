"""Extract the cells from the bytes of an untrusted notebook file, and keep nothing else of it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from autograder.ipython_syntax import translation_cost
from autograder.submission import attached_pictures, read_exported_script, zip_archive
from autograder.submission.attached_pictures import AttachedPicture
from autograder.submission.decode_text_file import decode_text
from autograder.submission.notebook_json import parse_notebook_json
from autograder.submission.unreadable_notebook_messages import (
    HOW_TO_DOWNLOAD,
    UnreadableError,
    describe_other_kind_of_json,
    not_a_notebook_error,
    refuse_other_file_kinds,
)

MAX_NOTEBOOK_BYTES = 32 * 2**20
# Outputs are removed if the file has more than MAX_NOTEBOOK_BYTES.
MAX_BYTES_WITH_OUTPUTS = 128 * 2**20
MAX_CELLS = 1000
MAX_CELL_CHARACTERS = 20_000  # characters in one cell: Python's parser takes long, and far more memory than the text
_KEPT = 1_000  # characters that are kept of a longer cell
MAX_NOTEBOOK_CHARACTERS = 300_000  # characters in all cells
MAX_MAGIC_TRANSLATION_COST = 200_000  # characters that IPython may read to translate lines that begin with `%` or `!`
MAX_MAGIC_CELL_CHARACTERS = 10_000  # characters in one cell with such a line
# Data that Colab stores within a text and that is not a valid picture.
_PICTURE = re.compile(r"data:[\w.+/-]{1,100};base64,[A-Za-z0-9+/=]+")
_SHORTER = "Take out cells that are no answers, save, and hand it in again."
_KINDS = ("code", "markdown", "raw")
_AS_TEXT = ("2", "3", "4")


@dataclass(frozen=True)
class SubmittedCell:
    """A submitted cell: its type, text and pictures, and the two ids by which it can be matched to a released cell."""

    index: int
    kind: str
    source: str
    cell_id: str
    grade_id: str
    is_cut: bool = False  # too long: `source` is its beginning, and is not run
    pictures: tuple[AttachedPicture, ...] = ()


@dataclass(frozen=True)
class SubmittedContents:
    """The cells of a file, and messages: about repairs (`repairs`), and what a person should look at (`eye`)."""

    cells: tuple[SubmittedCell, ...]
    repairs: tuple[str, ...] = ()
    eye: tuple[str, ...] = ()


def read_notebook_contents(data: bytes) -> SubmittedContents:
    """Return the cells of a notebook file, or of one in a zip archive; raises UnreadableError with the reason."""
    _check_size(data)
    if not zip_archive.is_archive(data):
        return _contents(data)
    found = zip_archive.read_zipped_notebooks(data, MAX_NOTEBOOK_BYTES)
    if len(found) > 1:
        names = zip_archive.summarize_names([each.name for each in found])
        raise not_a_notebook_error(
            f"it is a zip archive of {len(found)} notebooks ({names}). Hand in the one that counts."
        )
    read = _contents(found[0].data)
    message = f"handed in as a zip archive; {zip_archive.summarize_names([found[0].name])} in it was read"
    return replace(read, repairs=(message, *read.repairs))


def _contents(data: bytes) -> SubmittedContents:
    refuse_other_file_kinds(data)
    read = decode_text(data)
    if not read.text.strip():
        raise UnreadableError("the file is empty. Hand in the notebook again.")
    found = read_exported_script.read_script_as_notebook(read.text) or parse_notebook_json(read.text)
    cells, of_format = _cells(found.value)
    if not cells:
        raise UnreadableError("the notebook has no cells. Hand in the notebook that you worked in.")
    if len(cells) > MAX_CELLS:
        raise UnreadableError(f"the notebook has {len(cells)} cells; more than {MAX_CELLS} are not read. {_SHORTER}")
    handed = tuple(_handed(index, cell) for index, cell in enumerate(cells))
    _check_work(handed)
    kept, lost = _limit_pictures(handed)
    repairs = (*read.repairs, *found.repairs, *of_format, *_ends_put_back(cells))
    return SubmittedContents(kept, repairs, (*read.eye, *found.eye, *lost))


def _ends_put_back(cells: list[Any]) -> tuple[str, ...]:
    """Return a message about cells whose lines had lost their line ends, if there are any."""
    count = sum(_lost_ends(_dict(cell).get("source")) for cell in cells)
    return (f"cells whose lines had lost their ends, which were put back: {count}",) if count else ()


def _limit_pictures(handed: tuple[SubmittedCell, ...]) -> tuple[tuple[SubmittedCell, ...], tuple[str, ...]]:
    """Return the cells with only as many pictures as a notebook may have, and a message if some were removed."""
    every = [picture for cell in handed for picture in cell.pictures]
    sizes = itertools.accumulate(len(picture.data) for picture in every)
    count = sum(
        size <= attached_pictures.MAX_PICTURE_CHARACTERS
        for size in itertools.islice(sizes, attached_pictures.MAX_PICTURE_COUNT)
    )
    if count == len(every):
        return handed, ()
    left = iter(every[:count])
    kept = tuple(replace(cell, pictures=tuple(itertools.islice(left, len(cell.pictures)))) for cell in handed)
    return kept, (f"{len(every) - count} of its {len(every)} pictures are too many or too large, and are not shown",)


def _check_work(handed: tuple[SubmittedCell, ...]) -> None:
    """Raise UnreadableError if reading the cells would take too long."""
    length = sum(len(cell.source) for cell in handed)
    if length > MAX_NOTEBOOK_CHARACTERS:
        raise UnreadableError(
            f"its cells have {length} characters in all; more than {MAX_NOTEBOOK_CHARACTERS} are not read. {_SHORTER}"
        )
    work = {cell.index: translation_cost(cell.source) for cell in handed if cell.kind == "code"}
    if sum(work.values()) > MAX_MAGIC_TRANSLATION_COST or any(
        work.get(c.index) and len(c.source) > MAX_MAGIC_CELL_CHARACTERS for c in handed
    ):
        raise UnreadableError(
            "it has too many lines that begin with a sign such as `%`, `!` or `?`, or a long cell with one. "
            "Take them out, save, and hand it in again."
        )


def _check_size(data: bytes) -> None:
    if not data.strip(b"\0 \t\r\n"):  # a full disk or a broken copy leaves zeros
        raise UnreadableError("the file is empty. Hand in the notebook again.")
    if len(data) > MAX_NOTEBOOK_BYTES:
        raise UnreadableError(
            f"the file has more than {MAX_NOTEBOOK_BYTES >> 20} MB beside its outputs, or "
            f"{MAX_BYTES_WITH_OUTPUTS >> 20} MB with them, which is not read. Clear all "
            "outputs, save, and hand it in again."
        )


def _cells(notebook: dict[str, Any]) -> tuple[list[Any], tuple[str, ...]]:
    """Return the cells of a notebook of any format in the form of format 4, and a message if the format is old."""
    found, cells = notebook.get("nbformat"), notebook.get("cells")
    if found in _AS_TEXT:  # some programs write numbers in quotes
        found = int(found)
    if found in (2, 3) and isinstance(notebook.get("worksheets"), list):
        message = f"the notebook is of the old format {found}; read all the same"
        return list(_old_cells(notebook["worksheets"])), (message,)
    if "nbformat" not in notebook and not (isinstance(cells, list) and any(map(_is_cell, cells))):
        raise not_a_notebook_error(describe_other_kind_of_json(notebook))
    if found not in (4, None):
        version = f"found format {found}" if isinstance(found, int) and 0 <= found < 100 else "found none"
        raise UnreadableError(f"expected a notebook of format 4, {version}. {HOW_TO_DOWNLOAD}")
    return (cells if isinstance(cells, list) else []), ()


def _is_cell(value: object) -> bool:
    return isinstance(value, dict) and "cell_type" in value


def _old_cells(worksheets: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the cells of formats 2 and 3 in the form of format 4.

    These formats keep cells in worksheets, the text of code cells in `input`, and headings as cells of their own.
    """
    for cell in (cell for sheet in worksheets for cell in _list(_dict(sheet).get("cells"))):
        kind = _dict(cell).get("cell_type")
        text = _dict(cell).get("input" if kind == "code" else "source")
        kind = "markdown" if kind == "heading" else kind
        yield {"cell_type": kind, "source": text, "metadata": _dict(cell).get("metadata")}


def _handed(index: int, cell: object) -> SubmittedCell:
    """Read one cell; fields of a wrong type count as missing."""
    if not isinstance(cell, dict):
        return SubmittedCell(index, "raw", "", "", "")
    kind = cell["cell_type"] if cell.get("cell_type") in _KINDS else "raw"
    source, drawn = _source(cell.get("source"), kind)
    is_cut = len(source) > MAX_CELL_CHARACTERS
    return SubmittedCell(
        index=index,
        kind="raw" if is_cut else kind,
        source=source[:_KEPT] if is_cut else source,
        is_cut=is_cut,
        pictures=(*attached_pictures.attached_pictures(cell), *drawn) if kind == "markdown" and not is_cut else (),
        cell_id=_text(cell.get("id")),
        grade_id=_text(_dict(_dict(cell.get("metadata")).get("nbgrader")).get("grade_id")),
    )


def _source(value: object, kind: str) -> tuple[str, tuple[AttachedPicture, ...]]:
    """Return the text of a cell without the pictures that were stored in it, and these pictures."""
    if isinstance(value, list):
        value = ("\n" if _lost_ends(value) else "").join(_texts(value))
    text = _text(value)
    if not text.isascii():  # JSON can hold half a surrogate pair, which cannot be written to a file
        text = text.encode("utf-8", "replace").decode()
    if kind == "code" or "data:" not in text:  # the quick test for pictures
        return text, ()
    text, drawn = attached_pictures.extract_inline_pictures(text) if kind == "markdown" else (text, ())
    return _PICTURE.sub("picture", text), drawn


def _texts(lines: list[Any]) -> list[str]:
    return [line for line in lines if isinstance(line, str)]


def _lost_ends(value: object) -> bool:
    """Return whether a text is a list of lines without line ends, as some converters write it."""
    if not isinstance(value, list) or len(value) < 2:
        return False
    return not any(isinstance(line, str) and "\n" in line for line in value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
