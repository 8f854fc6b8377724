"""A student's folder of `submitted/`: which notebook is graded, and what to tell of the others."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.files import write_all
from autograder.grading.handed import MAX_BYTES, UnreadableError, handed_cells
from autograder.grading.source import defines

# Beside our copy of a notebook that came under another name; nbgrader leaves files with a dot alone.
_MARK = ".graded-copy.json"
_ASIDE = ".no-plain-file-"
_STUB = "raise NotImplementedError()"
# What a link, a pipe or a folder in the place of a notebook gives; other errors are no fault of the student's.
_NO_PLAIN_FILE = (errno.ELOOP, errno.ENXIO, errno.EISDIR)


@dataclass(frozen=True)
class Parcel:
    """What a student handed in: the notebook's bytes, else the `trouble` with the file; `notes` for the teacher."""

    data: bytes
    trouble: str = ""
    notes: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the notebook."""
        return hashlib.sha256(self.data).hexdigest()


def parcel(folder: Path, stem: str, exercises: list[str]) -> Parcel:
    """What lies in a student's folder of `submitted/`, the notebook put in its place first.

    Raises WorkFailed where this machine does not let us read it.
    """
    try:
        place_notebook(folder, stem, exercises)
    except OSError as error:
        raise _unreadable(folder, error) from None
    data, trouble = handed_in(folder / f"{stem}.ipynb")
    return Parcel(data, trouble, notes(folder, stem, exercises))


def handed_in(path: Path) -> tuple[bytes, str]:
    """The bytes of a submitted file, at most one more than is read, and the reason why there are none.

    Raises WorkFailed where the file is there and this machine does not let us read it.
    """
    if path.parent.is_symlink():
        return b"", "its folder is a link. Hand in the notebook itself."
    try:
        # A link could lead to any file of the teacher's; a named pipe would never end.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return b"", "there is no such file in the submission."
    except OSError as error:
        if error.errno in _NO_PLAIN_FILE:
            return b"", f"it is no plain file that can be opened ({error.strerror}). Hand in the notebook itself."
        raise _unreadable(path, error) from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        return b"", "it is no plain file. Hand in the notebook itself."
    with open(fd, "rb") as file:
        return file.read(MAX_BYTES + 1), ""


def _unreadable(path: Path, error: OSError) -> WorkFailed:
    return WorkFailed(
        f"{path} cannot be read ({error.strerror}). This submission was not graded. "
        "Give permission to read it, then grade this student again."
    )


def place_notebook(folder: Path, stem: str, exercises: list[str]) -> Path | None:
    """The notebook to grade in a submission; one of another name (`ch01 (1).ipynb`) is copied to the released name.

    Our copy is marked, and made again where the student has handed in something newer. Of several notebooks the one
    with the most answers counts, then the newest. Nothing is read or written through a link.
    """
    if folder.is_symlink():
        return None
    _set_aside(folder)
    wanted = folder / f"{stem}.ipynb"
    if os.path.lexists(wanted) and copied_from(folder, stem) is None:
        return wanted
    best = max(
        _others(folder, stem),
        key=lambda path: (*_answered(path, exercises), path.stat().st_mtime),
        default=None,
    )
    if best is None:
        return wanted if os.path.lexists(wanted) else None
    data = handed_in(best)[0]
    mark = {"name": best.name, "sha256": hashlib.sha256(data).hexdigest()}
    write_all({wanted: data, folder / _MARK: json.dumps(mark).encode()})
    return wanted


def _set_aside(folder: Path) -> None:
    """Give links and pipes a name that nbgrader leaves alone: it would copy what a link leads to, for the student."""
    for place, _, names in os.walk(folder):
        for path in (Path(place, name) for name in names if not name.startswith(".")):
            if path.suffix != ".ipynb" and not stat.S_ISREG(path.lstat().st_mode):
                path.rename(path.with_name(f"{_ASIDE}{path.name}"))


def copied_from(folder: Path, stem: str) -> str | None:
    """The name of the notebook that the one to grade was copied from; None where the student named it so."""
    try:
        mark = json.loads(handed_in(folder / _MARK)[0])
        return str(mark["name"]) if mark["sha256"] == _digest(folder / f"{stem}.ipynb") else None
    except (WorkFailed, ValueError, KeyError, TypeError, RecursionError):
        return None


def notes(folder: Path, stem: str, exercises: list[str]) -> tuple[str, ...]:
    """What to tell the teacher of the names and the number of notebooks in a submission."""
    original = copied_from(folder, stem)
    told = [f"handed in as {original!r}; a copy under the released name was graded"] if original else []
    told += [
        f"set aside, as it is a link or no file: {path.name.removeprefix(_ASIDE)!r}"
        for path in sorted(folder.rglob(f"{_ASIDE}*"))
    ]
    graded = _digest(folder / f"{stem}.ipynb")
    for path in _others(folder, stem):
        if path.name != original and _digest(path) != graded:
            count = max(0, _answered(path, exercises)[0])
            told.append(f"also handed in, and not graded: {path.name!r} ({count} exercises answered)")
    return tuple(told)


def _others(folder: Path, stem: str) -> list[Path]:
    paths = sorted(folder.glob("*.ipynb"))
    return [path for path in paths if path.name != f"{stem}.ipynb" and path.is_file() and not path.is_symlink()]


def _answered(path: Path, exercises: list[str]) -> tuple[int, int]:
    """How many exercises a notebook answers, and how many it holds; (-1, -1) where it cannot be read."""
    try:
        cells = handed_cells(handed_in(path)[0])
    except (UnreadableError, WorkFailed):
        return -1, -1
    held = [[cell for cell in cells if cell.grade_id == name or defines(cell.source, name)] for name in exercises]
    answered = [any(_STUB not in cell.source for cell in found) for found in held if found]
    return sum(answered), len(answered)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(handed_in(path)[0]).hexdigest()
    except WorkFailed:
        return ""
