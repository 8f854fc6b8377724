"""What nbgrader must not copy out of a submission: put away, and never lost."""

from __future__ import annotations

import mimetypes
import os
import stat
import tempfile
from collections.abc import Iterator
from glob import escape
from itertools import islice
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.errors import WorkFailed
from autograder.submission.plain_file import handed_in, unreadable

ASIDE = ".set-aside-"
# What else nbgrader may copy. It looks through the folder again for each file.
_LONGEST_NAME = 200  # bytes, of the 255 that a file's name may have: ours have something behind it
_MAX_FILES = 100
_MAX_FILES_BYTES = 64 * 2**20
_PAGES = (".html", ".htm", ".xhtml", ".shtml", ".mhtml", ".svg", ".xml")  # a browser runs what is in them


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
            put_away([folder], folder.parent)
            folder.mkdir()
        put_away(_harmful(folder), folder)
    except OSError as error:
        raise unreadable(folder, error) from None


def places(folder: Path) -> Iterator[Path]:
    """The folders in which things lie that were put away from a submission; a link leads to none."""
    for aside in sorted(folder.glob(f"{ASIDE}*")):
        if not aside.is_symlink() and aside.is_dir():
            yield from (path for path in sorted(aside.iterdir()) if not path.is_symlink() and path.is_dir())


def _check_student(folder: Path) -> None:
    what = _odd_name(folder.name)
    if folder.is_symlink():
        what = "is a link"
    if what:
        raise WorkFailed(
            f"{folder} {what}. This submission was not graded. Put a plain folder, with another name where that is the "
            "reason, in its place, then grade this student again."
        )


def _odd_name(student: str) -> str:
    """Why a student's name cannot be that of folders and files, as nbgrader and we make them; "" where it can."""
    if escape(student) != student:
        return "has a name that nbgrader reads as a pattern for several students"
    if student.strip() != student:
        return "has a name with a space at its end or in front, without which nbgrader looks for it"
    if "\n" in student:
        return "has a name of several lines, which nbgrader does not find"
    if student.startswith("."):
        return "has a name with a dot in front, which nbgrader does not see"
    name = student.encode("utf-8", "surrogateescape")
    if len(name) > _LONGEST_NAME:
        return f"has a name of more than {_LONGEST_NAME} bytes"
    return "" if name == student.encode("utf-8", "replace") else "has a name that is no text in UTF-8"


def put_away(paths: list[Path], place: Path) -> None:
    """Move files into a new folder with a dot, which nbgrader leaves alone."""
    if not paths:
        return
    aside = Path(tempfile.mkdtemp(prefix=ASIDE, dir=place))
    for number, path in enumerate(paths):
        (aside / str(number)).mkdir()
        path.rename(aside / str(number) / path.name)


def _harmful(folder: Path) -> list[Path]:
    """The entries of a submission that nbgrader must not meet; nearly all where there are too many to look at."""
    try:
        entries = list(islice(_entries(folder), _MAX_FILES + 1))
        if len(entries) <= _MAX_FILES and sum(path.lstat().st_size for path in entries) <= _MAX_FILES_BYTES:
            return [path for path in entries if not _is_harmless(path) or _is_in_the_way(path, folder)]
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
    if not stat.S_ISREG(mode) or not os.access(path, os.R_OK) or _is_page(path.name):
        return False
    return path.name != "timestamp.txt" or _is_time(handed_in(path, most=100)[0])


def _is_in_the_way(path: Path, folder: Path) -> bool:
    """Whether a file stands where the assignment has a folder, or the other way round: nbgrader copies both."""
    course = next(iter(folder.parents[2:3]), folder)  # folder is course/submitted/STUDENT/ASSIGNMENT
    given = course / "source" / folder.name / path.relative_to(folder)
    return given.exists() and given.is_dir() != path.is_dir()


def _is_page(name: str) -> bool:
    """Whether a server would call a file of this name a page, or XML of any kind, in which a browser runs scripts."""
    kind = mimetypes.guess_type(name.lower())[0] or ""
    return name.lower().endswith(_PAGES) or kind.endswith(("/html", "/xml", "+xml"))


def _is_time(text: bytes) -> bool:
    """Whether nbgrader can read a time; it takes an empty file for none."""
    try:
        return len(text) <= 100 and (not text.strip() or parse_utc(text.decode().strip()) is not None)
    except (ValueError, OverflowError, TypeError):
        return False
