"""Try a confinement: run a function in it as a submission would run, and see what that function can read."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path

from autograder.sandbox.namespace_confinement import WAIT_STATUS_FORMAT, Confinement
from autograder.sandbox.root_filesystem import enter_home_folder

_PACKAGE = Path(__file__).resolve().parents[1]
_MODULES = (".py", ".so")
_PACKAGE_LEVELS = 2  # of folders: packages and their direct contents; each further level takes three times as long
_ALL_LEVELS = 20
_MESSAGE_BYTES = 4096  # a pipe takes them without waiting for a reader


def find_confinement_problem(walls: Confinement, lessons: Sequence[Path] = ()) -> str | None:
    """Return why no submission can run in this confinement: None if one can, and "" if the reason is on stderr.

    Forks a confined process as for a submission. There it tests whether the user that it has become can read the
    installed packages and the modules at `lessons`, which chapters import. Otherwise a submission that imports one of
    them late would lose points through an error that is not its own.
    """
    (source, sink), (status_source, status) = os.pipe(), os.pipe()

    def inner() -> None:
        enter_home_folder()
        os.write(sink, _unreadable_modules(lessons).encode(errors="replace")[:_MESSAGE_BYTES])

    first = walls.fork(inner, status, keep=(sink,))
    for descriptor in (sink, status):
        os.close(descriptor)
    with open(source, "rb") as complaint, open(status_source, "rb") as ending:
        text, ended = complaint.read().decode(errors="replace"), ending.read()
    os.waitpid(first, 0)
    return None if ended == WAIT_STATUS_FORMAT.pack(0) and not text else text


def _unreadable_modules(lessons: Sequence[Path]) -> str:
    """Return a sentence about modules that this process cannot read, or "" if it can read all of them."""
    roots = [(path, _ALL_LEVELS) for path in (_PACKAGE, *lessons)]
    roots += [(path, _PACKAGE_LEVELS) for path in map(Path, sys.path) if path != _PACKAGE.parent]
    found = [list(_unreadable(_outermost(path), levels)) for path, levels in roots]
    paths = dict.fromkeys(path for each in found for path in each)
    if not paths:
        return ""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    # One folder for each root, and not the folder that contains them all: that may be the clone, with the submissions
    # and grades in it, and everybody could read these after the advised command.
    opened = dict.fromkeys(shlex.quote(os.path.commonpath(each)) for each in found if each)
    return (
        f"students' code runs as an ordinary user, and that user cannot read {next(iter(paths))}{more} (a umask of 027 "
        f"or 077 gives such rights). `chmod -R o+rX {' '.join(opened)}` lets everybody read it"
    )


def _outermost(path: Path) -> str:
    """Return the first folder above the path that this process cannot enter, or the path itself if it can enter all."""
    return str(
        next((each for each in reversed(path.parents) if not os.access(each, os.X_OK, effective_ids=True)), path)
    )


def _unreadable(path: str, levels: int) -> Iterator[str]:
    """Yield the paths that this process cannot read: a module, or those in a folder of modules, some levels deep."""
    is_folder = os.path.isdir(path)
    if not os.access(path, os.R_OK | os.X_OK if is_folder else os.R_OK, effective_ids=True):
        yield from (path,) if os.path.exists(path) else ()  # entries of `sys.path` and links may not exist
    elif is_folder and levels:
        for entry in _entries(path):
            if entry.name.endswith(_MODULES) or ("." not in entry.name and entry.name != "__pycache__"):
                yield from _unreadable(entry.path, levels - 1)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Return the entries of a readable folder; none if Landlock shows no code this folder of `sys.path`."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=attrgetter("name"))
    except PermissionError:
        return []
