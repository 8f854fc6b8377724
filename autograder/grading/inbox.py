"""A student's folder of `submitted/`: which notebook is graded, and what to tell of the others."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from glob import escape
from itertools import islice
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.errors import WorkFailed
from autograder.files import write_all
from autograder.grading.handed import MAX_BYTES, UnreadableError, handed_cells
from autograder.grading.parcel import Parcel
from autograder.grading.source import defines

# Beside our copy of a notebook that came under another name; nbgrader leaves files with a dot alone.
_MARK = ".graded-copy.json"
_STUB = "raise NotImplementedError()"
# What a link, a pipe or a folder in the place of a notebook gives; other errors are no fault of the student's.
_NO_PLAIN_FILE = (errno.ELOOP, errno.ENXIO, errno.EISDIR)
_MAX_OTHERS = 10  # notebooks of other names that are looked into
# What else nbgrader may copy. It looks through the folder again for each file.
_MAX_FILES = 100
_MAX_FILES_BYTES = 64 * 2**20
_ASIDE = ".set-aside-"
_PAGES = (".html", ".htm", ".xhtml", ".shtml", ".mhtml", ".svg", ".xml")  # a browser runs what is in them


def parcel(folder: Path, stem: str, exercises: list[str]) -> Parcel:
    """What lies in a student's folder of `submitted/`; harmful files are put aside and the notebook in its place first.

    Raises WorkFailed where this machine does not let us read it.
    """
    set_aside(folder)
    try:
        place_notebook(folder, stem, exercises)
    except OSError as error:
        raise _unreadable(folder, error) from None
    data, trouble = handed_in(folder / f"{stem}.ipynb")
    return Parcel(data, trouble, notes(folder, stem, exercises))


def handed_in(path: Path, most: int = MAX_BYTES) -> tuple[bytes, str]:
    """The bytes of a submitted file, at most one more than is read, and the reason why there are none.

    Raises WorkFailed where the file is there and this machine does not let us read it.
    """
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
        return file.read(most + 1), ""


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


def copied_from(folder: Path, stem: str) -> str | None:
    """The name of the notebook that the one to grade was copied from; None where the student named it so.

    The mark lies in the student's folder, and may be the student's own work.
    """
    try:
        mark = json.loads(handed_in(folder / _MARK, most=2000)[0])
        ours = mark["sha256"] == _digest(folder / f"{stem}.ipynb") and mark["name"] in os.listdir(folder)
        return str(mark["name"]) if ours else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, WorkFailed):
        return None


def notes(folder: Path, stem: str, exercises: list[str]) -> tuple[str, ...]:
    """What to tell the teacher of the names and the number of files in a submission."""
    original = copied_from(folder, stem)
    told = [f"handed in as {original!r}; a copy under the released name was graded"] if original else []
    graded = _digest(folder / f"{stem}.ipynb")
    for path in _others(folder, stem):
        if path.name != original and _digest(path) != graded:
            count = max(0, _answered(path, exercises)[0])
            told.append(f"also handed in, and not graded: {path.name!r} ({count} exercises answered)")
    aside = sorted(path.name for path in folder.glob(f"{_ASIDE}*/*/*"))
    if aside:
        shown = ", ".join(map(repr, aside[:5])) + (f" and {len(aside) - 5} more" if len(aside) > 5 else "")
        told.append(f"set aside, for nbgrader must not copy it: {shown}")
    return tuple(told)


def _others(folder: Path, stem: str) -> list[Path]:
    paths = sorted(folder.glob("*.ipynb"))
    plain = (path for path in paths if path.name != f"{stem}.ipynb" and path.is_file() and not path.is_symlink())
    return list(islice(plain, _MAX_OTHERS))


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


# --- what nbgrader must not copy


def set_aside(folder: Path) -> None:
    """Put away what would keep nbgrader from copying a submission, or lead it to other files; nothing is lost.

    nbgrader follows links, waits for pipes and copies every file but those of names with a dot, and formgrader serves
    the copies. So links, pipes, pages and what cannot be read go into a folder with a dot beside them; where there are
    very many files, all of them do. Raises WorkFailed where this cannot be done, and for a student whose folder leads
    nbgrader to other students'.
    """
    _check_student(folder.parent)
    try:
        if folder.is_symlink():
            _put_away([folder], folder.parent)
            folder.mkdir()
        _put_away(_harmful(folder), folder)
    except OSError as error:
        raise _unreadable(folder, error) from None


def _check_student(folder: Path) -> None:
    what = "is a link" if folder.is_symlink() else "has a name that nbgrader reads as a pattern for several students"
    if folder.is_symlink() or escape(folder.name) != folder.name:
        raise WorkFailed(
            f"{folder} {what}. This submission was not graded. Put a plain folder, with another name where that is the "
            "reason, in its place, then grade this student again."
        )


def _put_away(paths: list[Path], place: Path) -> None:
    if not paths:
        return
    aside = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=place))
    for number, path in enumerate(paths):
        (aside / str(number)).mkdir()
        path.rename(aside / str(number) / path.name)


def _harmful(folder: Path) -> list[Path]:
    """The entries of a submission that nbgrader must not meet; nearly all where there are too many to look at."""
    try:
        entries = list(islice(_entries(folder), _MAX_FILES + 1))
        if len(entries) <= _MAX_FILES and sum(path.lstat().st_size for path in entries) <= _MAX_FILES_BYTES:
            return [path for path in entries if not _is_harmless(path)]
    except OSError:  # folders in folders, until the path is too long
        pass
    return [path for path in folder.iterdir() if not _is_left_alone(path) and not _is_nbgraders(path)]


def _entries(folder: Path) -> Iterator[Path]:
    """All that nbgrader would come to: files, and folders, each with what is in it; none behind a link."""
    for path in folder.iterdir():
        if not _is_left_alone(path):
            yield path
            if stat.S_ISDIR(path.lstat().st_mode) and _is_harmless(path):
                yield from _entries(path)


def _is_left_alone(path: Path) -> bool:
    """Whether nbgrader copies nothing of this name; notebooks are read by `handed_in`."""
    return path.name.startswith(".") or (path.suffix == ".ipynb" and not stat.S_ISDIR(path.lstat().st_mode))


def _is_nbgraders(path: Path) -> bool:
    """Whether this is one of the files that nbgrader itself puts beside what is handed in."""
    return (
        path.name in ("timestamp.txt", "submission_secret.txt") and path.lstat().st_size < 1000 and _is_harmless(path)
    )


def _is_harmless(path: Path) -> bool:
    """Whether nbgrader can copy a file or folder, and read it, where it does so, and write its name into a log."""
    mode = path.lstat().st_mode
    if not path.name.isprintable():
        return False
    if stat.S_ISDIR(mode):
        return os.access(path, os.R_OK | os.X_OK) and path.suffix.lower() not in (".ipynb", *_PAGES)
    if not stat.S_ISREG(mode) or not os.access(path, os.R_OK) or path.suffix.lower() in _PAGES:
        return False
    return path.name != "timestamp.txt" or _is_time(handed_in(path, most=100)[0])


def _is_time(text: bytes) -> bool:
    """Whether nbgrader can read a time; it takes an empty file for none."""
    try:
        return len(text) <= 100 and (not text.strip() or parse_utc(text.decode().strip()) is not None)
    except (ValueError, OverflowError, TypeError):
        return False
