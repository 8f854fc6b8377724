"""Downloads of submissions as Canvas and Moodle make them, for the tests of what reads them."""

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
    """The name that Canvas gives an uploaded file: only letters, digits and `_` of the sender's name stay."""
    sender = re.sub(r"_([0-9]+)_", r"\1", f"{last}, {first}".lower())
    middle = ["LATE"] if is_late else []
    plain = "".join(each for each in "_".join([sender, *middle, str(user)]) if _is_of_a_word(each))
    return f"{plain}_{upload}_{original}"


def _is_of_a_word(each: str) -> bool:
    """As Ruby's `[[:word:]]` has it: letters, digits, `_`, and the marks of scripts that have them."""
    return each.isalnum() or each == "_" or unicodedata.category(each).startswith("M")


def moodle_name(name: str, participant: int, original: str = "hw.ipynb", tie: str = "/") -> str:
    """The name that Moodle gives one: a folder for each student, or with `_` between, a name in front."""
    return f"{name.replace('_', ' ')}_{participant}_assignsubmission_file{tie}{original}"


def write_zip(path: Path, files: Mapping[str, bytes | str], clock: tuple[int, ...] = CLOCK) -> Path:
    """A zip of these files, whose clock showed this when it was made."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            about = zipfile.ZipInfo(name, clock)  # type: ignore[arg-type,unused-ignore]
            about.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(about, data)
    return path
