"""Explain why a file cannot be read as a notebook: what it is, where it is damaged, and what the student can do."""

from __future__ import annotations

import json
import re

HAND_IN_AGAIN = "see that it opens in JupyterLab as a notebook, and hand it in again."
# JupyterLab opens a damaged notebook as text, though not as a notebook.
OPEN_AS_TEXT_ADVICE = "Open the file as text (in JupyterLab: right click, Open With, Editor)"
HOW_TO_DOWNLOAD = (
    "In JupyterLab choose File > Download, in Colab File > Download > Download .ipynb, and hand in that file."
)

_SIGNATURES = (
    (b"%PDF", f"it is a PDF, which is made for reading. {HOW_TO_DOWNLOAD}"),
    (b"\x1f\x8b", "it is a gzip archive, which is not opened here. Unpack it, and hand in the .ipynb file in it."),
    (b"7z\xbc\xaf", "it is a 7z archive, which is not opened here. Unpack it, and hand in the .ipynb file in it."),
    (b"Rar!", "it is a RAR archive, which is not opened here. Unpack it, and hand in the .ipynb file in it."),
    (b"\x89PNG", f"it is a picture. {HOW_TO_DOWNLOAD}"),
    (b"\xff\xd8\xff", f"it is a picture. {HOW_TO_DOWNLOAD}"),
    (
        b"\x00\x05\x16\x07",
        "it is what macOS keeps beside a file (`._name`). Hand in the file without `._` in its name.",
    ),
)
_PAGE = (
    "it is a web page: a browser saved what it showed, and not the notebook. On GitHub choose `Download raw file`. "
    + HOW_TO_DOWNLOAD
)
_POINTER = "it is a Git LFS pointer, which only names the notebook. Run `git lfs pull` where you work, " + HAND_IN_AGAIN
_SHORTCUT = (
    "it is a shortcut to Google Drive or Colab, and the notebook is still there. Open it in Colab, choose "
    "File > Download > Download .ipynb, and hand in that file."
)
_PYTHON = f"it is a Python script without marks between its cells. {HOW_TO_DOWNLOAD}"
_QUOTES = (
    "has `'` where a notebook has `\"`: Python printed it, and nothing reads that again. Hand in the .ipynb file that "
    "JupyterLab saved."
)
_CODE = re.compile(r"^(?:#!.*python|(?:import|from|def|class) \w)", re.MULTILINE)
_CONFLICT = re.compile(r"^<<<<<<<", re.MULTILINE)
_CONFLICT_ENDS = re.compile(r"^>>>>>>>", re.MULTILINE)
_LOOKED_AT = 20_000  # characters at the beginning that are searched for what a file is


class UnreadableError(Exception):
    """The file is not a notebook that can be graded. The message is the reason, for the student and the teacher."""


def not_a_notebook_error(why: str) -> UnreadableError:
    """Return the error for a file that is of another kind, or a damaged notebook."""
    return UnreadableError(f"the file is no notebook: {why}")


def refuse_other_file_kinds(data: bytes) -> None:
    """Raise UnreadableError if the first bytes show that a file is of another kind."""
    for signature, why in _SIGNATURES:
        if data.startswith(signature):
            raise not_a_notebook_error(why)


def describe_other_kind_of_text(text: str) -> str:
    """Return what kind of file a text is if it is not JSON, with advice; "" if no known kind matches."""
    start = text[:_LOOKED_AT].lstrip()
    if start.startswith("<") and not start.startswith("<<<<<<<"):
        return _PAGE
    if start.startswith("version https://git-lfs"):
        return _POINTER
    if start.startswith(("[InternetShortcut]", "[Desktop Entry]")):
        return _SHORTCUT
    return "" if start.startswith(("{", "[", '"')) or not _CODE.search(start) else _PYTHON


def describe_other_kind_of_json(value: object) -> str:
    """Return what a JSON value is that is not a notebook, with advice."""
    if isinstance(value, dict):
        is_shortcut = "doc_id" in value or ("url" in value and len(value) < 10)
        return _SHORTCUT if is_shortcut else f"it is JSON, but has no list of cells. {HOW_TO_DOWNLOAD}"
    kind = {list: "a list", str: "a text", int: "a number", float: "a number"}.get(type(value), "a single word")
    return f"expected a JSON object, found {kind}. {HOW_TO_DOWNLOAD}"


def merge_conflict_message(text: str) -> str:
    """Return a message about git's merge conflicts in a text, with their lines and advice; "" if there are none."""
    first = _CONFLICT.search(text)
    if first is None:
        return ""
    end = _CONFLICT_ENDS.search(text, first.end())
    lines = f"line {_line(text, first.start())}" + (f" to line {_line(text, end.start())}" if end else " on")
    more = sum(1 for _ in _CONFLICT.finditer(text)) - 1
    also = f" There {'is' if more == 1 else 'are'} {more} more further down." if more else ""
    return (
        f"git left a merge conflict in it, from {lines}: both versions stand there, between `<<<<<<<`, `=======` and "
        f"`>>>>>>>`.{also} {OPEN_AS_TEXT_ADVICE}, keep one of the two versions, delete the other and the three lines "
        f"with these marks, {HAND_IN_AGAIN}"
    )


def damage_message(text: str, error: json.JSONDecodeError) -> str:
    """Return where a notebook's JSON is damaged and what is found there, in words for readers who do not know JSON."""
    if not text[: error.pos].strip():
        return f"it is no JSON: it begins with {_excerpt(text, error.pos)}. {HOW_TO_DOWNLOAD}"
    line = f"line {error.lineno}, column {error.colno}"
    if text[error.pos : error.pos + 1] == "'":
        return f"{line}, {_QUOTES}"
    what = next((phrase for start, phrase in _DAMAGES.items() if error.msg.startswith(start)), "cannot be read")
    found = _excerpt(text, error.pos)
    return f"its JSON is damaged: {line} {what}, found {found}. {OPEN_AS_TEXT_ADVICE}, mend that line, {HAND_IN_AGAIN}"


_DAMAGES = {
    "Expecting ',' delimiter": "wants a comma or a closing bracket",
    "Expecting ':' delimiter": "wants a colon",
    "Expecting property name": "wants a name in double quotes",
    "Expecting value": "wants a value",
    "Invalid \\": "has a backslash that says nothing",
    "Unterminated string": "opens quotes that are never closed",
}


def _excerpt(text: str, place: int) -> str:
    found = text[place : place + 20].partition("\n")[0].strip()
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in found)
    return f"`{shown}`" if shown else "the end of the line"


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
