"""A student's folder of `submitted/`: what `collect` put there, whether something newer comes, and putting it there."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.files import digest_of, write_all
from autograder.nbgrader_plugin.late_penalties import TIME
from autograder.submission import student_folder
from autograder.submission.notebook_choice import names_in
from autograder.submission.plain_file import read_submitted_file
from autograder.submission.submitted_cells import MAX_FILE

NOTE = ".collected.json"  # nbgrader leaves files with a dot alone
_LONGEST_NOTE = 100_000


class Placement(Enum):
    """What becomes of a student's files, or would."""

    NEW = "new"
    NEWER = "a newer attempt"
    SAME = "as it was"
    OLDER = "older than what is there"
    LEFT = "left for you"


@dataclass(frozen=True)
class Attempt:
    """What a student handed in, by the names it gets; of two attempts of one system, the greater `order` is the newer.

    `at` is when it was handed in, where that is known.
    """

    system: str
    order: int
    files: Mapping[str, bytes] = field(repr=False)
    is_late: bool = False
    at: datetime | None = None

    @property
    def digest(self) -> str:
        """What stands for the files."""
        return digest_of(*(part for name in sorted(self.files) for part in (name, self.files[name])))


@dataclass(frozen=True)
class CollectedNote:
    """What `collect` notes in the folder: the attempt, and the files there with their SHA-256."""

    system: str
    order: int
    digest: str
    is_late: bool
    files: Mapping[str, str]


def decide(folder: Path, attempt: Attempt) -> tuple[Placement, str]:
    """What is to be done with an attempt, and the reason where it is left to the teacher; changes nothing."""
    if folder.is_symlink() or folder.parent.is_symlink():
        return Placement.LEFT, f"{folder} is a link. Put a plain folder there, then run this again."
    note = read_note(folder)
    if note is None:
        others = names_in(folder) if folder.is_dir() else []
        if others and _hashes(folder, attempt.files) != _sums(attempt.files):
            return Placement.LEFT, f"{folder} holds what was not collected here: {_listed(others)}. {_MOVE}"
        return (Placement.SAME if others else Placement.NEW), ""
    return _decide(folder, attempt, note)


def _decide(folder: Path, attempt: Attempt, note: CollectedNote) -> tuple[Placement, str]:
    """The same for a folder with an attempt of before."""
    there = _hashes(folder, note.files)
    is_same = attempt.digest == note.digest
    if is_same and len(there) == len(note.files):
        return Placement.SAME, ""
    if not there:
        return Placement.NEW, ""
    if attempt.system != note.system:
        return Placement.LEFT, f"{folder} was collected from {note.system}, and this is from {attempt.system}. {_MOVE}"
    if attempt.order < note.order and not is_same:
        return Placement.OLDER, ""
    if attempt.order == note.order and not is_same:
        return Placement.LEFT, f"{folder} holds another file of the same number or time. {_MOVE}"
    ours = _sums(attempt.files)  # a run that was stopped may have put them there
    if changed := sorted(name for name, now in there.items() if now not in (note.files[name], ours.get(name))):
        return Placement.LEFT, f"in {folder}, {_listed(changed)} was changed since it was collected. {_MOVE}"
    return (Placement.NEW if is_same else Placement.NEWER), ""


_MOVE = "Move it away where this one shall count, then run this again."


def place(folder: Path, stem: str, attempt: Attempt, starters: Mapping[str, str]) -> None:
    """Put an attempt into its folder in the place of an older one; raises WorkFailed, the older one untouched.

    What counts stands under the released name then, where nbgrader looks. The time of an older attempt goes with it.
    """
    before = read_note(folder)
    time = {} if attempt.at is None else {TIME: f"{attempt.at:%Y-%m-%d %H:%M:%S} UTC\n".encode()}
    if before and before.digest != attempt.digest and not time and os.path.lexists(folder / TIME):
        time = {TIME: b""}  # nbgrader would keep the older attempt's if the file were gone
    write_all({folder / name: data for name, data in {**attempt.files, **time}.items()})
    try:
        for name in {*before.files} - {*attempt.files} if before else ():
            (folder / name).unlink(missing_ok=True)
        if starters:
            student_folder.place_notebook(folder, stem, starters)
    except OSError as error:
        raise WorkFailed(f"cannot write in {folder}: {error.strerror}. Give permission, then run this again.") from None
    _write_note(folder, stem, attempt)


def adopt(folder: Path, stem: str, attempt: Attempt) -> None:
    """Note that an attempt lies in its folder already."""
    if read_note(folder) is None:
        _write_note(folder, stem, attempt)


def _write_note(folder: Path, stem: str, attempt: Attempt) -> None:
    names = {*attempt.files, f"{stem}.ipynb", student_folder.MARK}
    note = {"system": attempt.system, "order": attempt.order, "digest": attempt.digest, "late": attempt.is_late}
    write_all({folder / NOTE: json.dumps({**note, "files": _hashes(folder, names)}, sort_keys=True).encode()})


def read_note(folder: Path) -> CollectedNote | None:
    """What `collect` noted; None where it put nothing there, or nobody can read what is noted.

    The folder is a student's own where it came through nbgrader's exchange, so none that leads elsewhere counts.
    """
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError, WorkFailed):
        data = json.loads(read_submitted_file(folder / NOTE, most=_LONGEST_NOTE)[0])
        files = {str(name): str(digest) for name, digest in data["files"].items()}
        if all(name == os.path.basename(name) and name not in ("", ".", "..") for name in files):
            return CollectedNote(
                str(data["system"]), int(data["order"]), str(data["digest"]), bool(data["late"]), files
            )
    return None


def _hashes(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of those files that are there."""
    there = (name for name in names if os.path.lexists(folder / name))
    return {name: hashlib.sha256(read_submitted_file(folder / name, most=MAX_FILE)[0]).hexdigest() for name in there}


def _sums(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
