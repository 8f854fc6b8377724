"""Downloads of submissions in the formats of Canvas and Moodle, for the tests of collecting."""

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


def write_zip(path: Path, files: Mapping[str, bytes | str], clock: tuple[int, ...] = CLOCK) -> Path:
    """Write a zip of these files with this modification time, and return its path."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            about = zipfile.ZipInfo(name, clock)  # type: ignore[arg-type,unused-ignore]
            about.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(about, data)
    return path
