"""Read the data files that a student handed in beside a notebook, so that they are there when the notebook runs.

They are the files that nbgrader copies beside the graded notebook. Code is left out: cells may import only modules that
are installed on the grader's machine.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from autograder.submission.choose_submitted_notebook import MAX_FOLDER_DEPTH, NBGRADER_FILES
from autograder.submission.read_submitted_file_safely import read_submitted_file
from autograder.submission.zip_archive import summarize_names

MOST_FILES = 100
MOST_BYTES = 16 * 2**20
_NO_DATA = (".ipynb", ".py", ".pyc")


@dataclass(frozen=True)
class DataFiles:
    """The files by path relative to the notebook, and a message (`eye`) about files that were left out."""

    files: dict[str, bytes]
    eye: tuple[str, ...] = ()


def read_data_files(folder: Path) -> DataFiles:
    """Read the data files in a submission's folder, up to a limit of number and size. Links are not followed."""
    found, left_out, bytes_left = dict[str, bytes](), list[str](), MOST_BYTES
    for path in islice(_plain_files(folder, MAX_FOLDER_DEPTH), MOST_FILES):
        name = path.relative_to(folder).as_posix()
        data = read_submitted_file(path, most=bytes_left)[0]
        if len(data) > bytes_left:
            left_out.append(name)
        else:
            found[name] = data
            bytes_left -= len(data)
    return DataFiles(found, (_message(left_out),) if left_out else ())


def _message(left_out: list[str]) -> str:
    return f"files beside the notebook that were not there when it ran, for want of room: {summarize_names(left_out)}"


def _plain_files(folder: Path, depth: int) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        paths = sorted(Path(entry.path) for entry in entries)
    for path in paths:
        mode = path.lstat().st_mode
        if path.name.startswith((".", "__")) or path.name in NBGRADER_FILES:
            continue
        if stat.S_ISREG(mode) and path.suffix.lower() not in _NO_DATA:
            yield path
        elif stat.S_ISDIR(mode) and depth > 1:
            yield from _plain_files(path, depth - 1)
