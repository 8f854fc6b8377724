"""Downloads of submissions in the formats of Canvas, Moodle and Brightspace, for the tests of collecting."""

from __future__ import annotations

import re
import unicodedata
import zipfile
from collections.abc import Mapping
from pathlib import Path

CLOCK = (2026, 11, 20, 22, 15, 30)


def canvas_name(
    last: str, first: str, user: int, upload: int, original: str = "hw.ipynb", is_late: bool = False
) -> str:
    """Return Canvas's name for an uploaded file; of the sender's name only letters, digits and `_` remain."""
    sender = re.sub(r"_([0-9]+)_", r"\1", f"{last}, {first}".lower())
    middle = ["LATE"] if is_late else []
    plain = "".join(each for each in "_".join([sender, *middle, str(user)]) if _is_of_a_word(each))
    return f"{plain}_{upload}_{original}"


def _is_of_a_word(each: str) -> bool:
    """Return whether Ruby's `[[:word:]]` matches a character: letters, digits, `_`, and combining marks."""
    return each.isalnum() or each == "_" or unicodedata.category(each).startswith("M")


def moodle_name(name: str, participant: int, original: str = "hw.ipynb", tie: str = "/") -> str:
    """Return Moodle's name for a file: in a folder for each student, or with `tie="_"` as a prefix."""
    return f"{name.replace('_', ' ')}_{participant}_assignsubmission_file{tie}{original}"


def moodle_text_name(name: str, participant: int) -> str:
    """Return Moodle's name for text that a student entered in place of a file."""
    return moodle_name(name, participant, "onlinetext.html").replace("_file/", "_onlinetext/")


def brightspace_name(name: str, user: int, original: str = "hw.ipynb", time: str = "1015 PM", tie: str = "/") -> str:
    """Return Brightspace's name for a file: in a folder for each attempt, or with `tie=" - "` as a prefix."""
    return f"{user}-4711 - {name} - Nov 20, 2026 {time}{tie}{original}"


def canvas_link(address: str) -> bytes:
    """Return a page such as Canvas makes of a link that a student entered."""
    page = f'<html><head><meta http-equiv="Refresh" content="0; url={address}"></head><body>'
    return f'{page}<a href="{address}">You are being redirected</a></body></html>'.encode()


def write_zip(path: Path, files: Mapping[str, bytes | str], clock: tuple[int, ...] = CLOCK) -> Path:
    """Write a zip of these files with this modification time, and return its path."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            about = zipfile.ZipInfo(name, clock)  # type: ignore[arg-type,unused-ignore]
            about.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(about, data)
    return path
