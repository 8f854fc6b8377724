"""Move files that nbgrader must not copy out of a submission into a hidden folder beside them. Nothing is deleted."""

from __future__ import annotations

import mimetypes
import os
import stat
import tempfile
from collections.abc import Iterator
from glob import escape
from itertools import islice
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.submission.read_submitted_file_safely import permission_error, read_submitted_file

QUARANTINE_PREFIX = ".set-aside-"  # prefix of the hidden folder
_LONGEST_NAME = 200  # bytes of a student's name; a file name may have 255, and the grader adds endings to some
_MAX_FILES = 100  # files that nbgrader may copy; it lists the folder again for each of them
_MAX_FILES_BYTES = 64 * 2**20
_PAGES = (".html", ".htm", ".xhtml", ".shtml", ".mhtml", ".svg", ".xml")  # browsers run scripts in these


def quarantine_harmful_files(folder: Path) -> None:
    """Move entries of a submission's folder that nbgrader must not copy into a hidden folder in it.

    nbgrader follows links, waits for pipes, and copies every file whose name does not begin with a dot; formgrader
    serves the copies. So links, pipes, web pages and unreadable files are moved into a folder whose name begins with a
    dot; if there are very many files, nearly all are moved. Raises WorkFailed if that fails, and for a student whose
    folder is a link or has a name that nbgrader cannot handle safely.
    """
    _check_student(folder.parent)
    try:
        if folder.is_symlink():
            move_to_quarantine([folder], folder.parent)
            folder.mkdir()
        move_to_quarantine(_harmful(folder), folder)
    except OSError as error:
        raise permission_error(folder, error) from None


def quarantine_folders(folder: Path) -> Iterator[Path]:
    """Yield the folders that hold what was moved out of a submission, one folder for each entry; links are skipped."""
    for aside in sorted(folder.glob(f"{QUARANTINE_PREFIX}*")):
        if not aside.is_symlink() and aside.is_dir():
            yield from (path for path in sorted(aside.iterdir()) if not path.is_symlink() and path.is_dir())


def _check_student(folder: Path) -> None:
    what = _name_problem(folder.name)
    if folder.is_symlink():
        what = "is a link"
    if what:
        raise WorkFailed(
            f"{folder} {what}. This submission was not graded. Put a plain folder, with another name where that is the "
            "reason, in its place, then grade this student again."
        )


def _name_problem(student: str) -> str:
    """Return why a student's name cannot be used in names of folders and files; "" if it can."""
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


def move_to_quarantine(paths: list[Path], place: Path) -> None:
    """Move files into a new hidden folder in `place`; nbgrader ignores names that begin with a dot."""
    if not paths:
        return
    aside = Path(tempfile.mkdtemp(prefix=QUARANTINE_PREFIX, dir=place))
    for number, path in enumerate(paths):
        (aside / str(number)).mkdir()
        path.rename(aside / str(number) / path.name)


def _harmful(folder: Path) -> list[Path]:
    """Return the entries of a submission that nbgrader must not copy; nearly all of them if there are too many."""
    try:
        entries = list(islice(_entries(folder), _MAX_FILES + 1))
        if len(entries) <= _MAX_FILES and sum(path.lstat().st_size for path in entries) <= _MAX_FILES_BYTES:
            return [path for path in entries if not _is_harmless(path) or _blocks_assignment_file(path, folder)]
    except OSError:  # folders are nested so deeply that the path is too long
        pass
    return [path for path in folder.iterdir() if not _is_ignored(path) and not _is_nbgraders(path)]


def _entries(folder: Path) -> Iterator[Path]:
    """Yield the files and folders that nbgrader would visit, with subfolders; links are not followed."""
    for path in folder.iterdir():
        if not _is_ignored(path):
            yield path
            if stat.S_ISDIR(path.lstat().st_mode) and _is_harmless(path):
                yield from _entries(path)


def _is_ignored(path: Path) -> bool:
    """Return whether nbgrader does not copy this entry: hidden ones, and notebooks, which the grader reads itself."""
    return path.name.startswith(".") or (path.suffix == ".ipynb" and not stat.S_ISDIR(path.lstat().st_mode))


def _is_nbgraders(path: Path) -> bool:
    """Return whether this is one of the files that nbgrader itself adds to a submission."""
    return (
        path.name in ("timestamp.txt", "submission_secret.txt") and path.lstat().st_size < 1000 and _is_harmless(path)
    )


def _is_harmless(path: Path) -> bool:
    """Return whether nbgrader can safely copy a file or folder, log its name, and read it if it is a timestamp."""
    mode = path.lstat().st_mode
    if not path.name.isprintable():
        return False
    if stat.S_ISDIR(mode):
        return os.access(path, os.R_OK | os.X_OK) and path.suffix.lower() not in (".ipynb", *_PAGES)
    if not stat.S_ISREG(mode) or not os.access(path, os.R_OK) or _is_page(path.name):
        return False
    return path.name != "timestamp.txt" or _is_time(read_submitted_file(path, most=100)[0])


def _blocks_assignment_file(path: Path, folder: Path) -> bool:
    """Return whether this is a file where the assignment has a folder, or the reverse: nbgrader copies both."""
    course = next(iter(folder.parents[2:3]), folder)  # folder is course/submitted/STUDENT/ASSIGNMENT
    released = course / "source" / folder.name / path.relative_to(folder)
    return released.exists() and released.is_dir() != path.is_dir()


def _is_page(name: str) -> bool:
    """Return whether a web server would serve a file of this name as HTML or XML, in which browsers run scripts."""
    kind = mimetypes.guess_type(name.lower())[0] or ""
    return name.lower().endswith(_PAGES) or kind.endswith(("/html", "/xml", "+xml"))


def _is_time(text: bytes) -> bool:
    """Return whether nbgrader can parse a timestamp; it accepts an empty one."""
    from nbgrader.utils import parse_utc  # not there where a platform grades, and such a file is not either

    try:
        return len(text) <= 100 and (not text.strip() or parse_utc(text.decode().strip()) is not None)
    except (ValueError, OverflowError, TypeError):
        return False
