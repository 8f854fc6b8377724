"""Write a collected attempt into a student's folder under `submitted/`, unless it would replace a newer or edited one.

A note in the folder (`.collected.json`) records what was collected and the SHA-256 of each file, so that a later
collection recognizes an older attempt and files that somebody has edited since.
"""

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
from autograder.files import sha256_of_texts, write_all
from autograder.nbgrader_plugin.apply_deadlines import TIMESTAMP_FILE
from autograder.submission import read_student_folder
from autograder.submission.choose_submitted_notebook import COLLECTION_NOTE_FILE, submitted_file_names
from autograder.submission.extract_submitted_cells import MAX_BYTES_WITH_OUTPUTS
from autograder.submission.read_submitted_file_safely import read_submitted_file

_LONGEST_NOTE = 100_000


class PlacementAction(Enum):
    """What a collection does with a student's files. The values are the words that the command prints."""

    NEW = "new"
    NEWER = "a newer attempt"
    SAME = "as it was"
    OLDER = "older than what is there"
    LEFT = "left for you"


@dataclass(frozen=True)
class CollectedSubmission:
    """One student's submission from a zip: the bytes of each file by the name to write it under.

    Of two attempts from the same system, the one with the greater `order` is newer. `at` is the time of submission, if
    it is known.
    """

    system: str
    order: int
    files: Mapping[str, bytes] = field(repr=False)
    is_late: bool = False
    at: datetime | None = None

    @property
    def digest(self) -> str:
        """A digest of the names and contents of all files."""
        return sha256_of_texts(*(part for name in sorted(self.files) for part in (name, self.files[name])))


@dataclass(frozen=True)
class CollectionNote:
    """The note of a collection in a student's folder: the attempt, and the SHA-256 of each file there."""

    system: str
    order: int
    digest: str
    is_late: bool
    files: Mapping[str, str]


def decide_placement(folder: Path, attempt: CollectedSubmission) -> tuple[PlacementAction, str]:
    """Return what to do with an attempt; for `PlacementAction.LEFT`, why. Nothing is changed."""
    if folder.is_symlink() or folder.parent.is_symlink():
        return PlacementAction.LEFT, f"{folder} is a link. Put a plain folder there, then run this again."
    note = read_collection_note(folder)
    if note is None:
        unread = [COLLECTION_NOTE_FILE] if os.path.lexists(folder / COLLECTION_NOTE_FILE) else []
        others = submitted_file_names(folder) + unread if folder.is_dir() else []
        if others and _hashes(folder, attempt.files) != _sums(attempt.files):
            return PlacementAction.LEFT, f"{folder} holds what was not collected here: {_listed(others)}. {_MOVE}"
        return (PlacementAction.SAME if others else PlacementAction.NEW), ""
    return _decide(folder, attempt, note)


def _decide(folder: Path, attempt: CollectedSubmission, note: CollectionNote) -> tuple[PlacementAction, str]:
    """Decide for a folder that has the note of an earlier collection."""
    there = _hashes(folder, note.files)
    is_same = attempt.digest == note.digest
    if is_same and len(there) == len(note.files):
        return PlacementAction.SAME, ""
    if not there:
        return PlacementAction.NEW, ""
    if attempt.system != note.system:
        return (
            PlacementAction.LEFT,
            f"{folder} was collected from {note.system}, and this is from {attempt.system}. {_MOVE}",
        )
    if attempt.order < note.order and not is_same:
        return PlacementAction.OLDER, ""
    if attempt.order == note.order and not is_same:
        return PlacementAction.LEFT, f"{folder} holds another file of the same number or time. {_MOVE}"
    ours = _sums(attempt.files)  # a run that was stopped may have written these before it wrote its note
    if changed := sorted(name for name, now in there.items() if now not in (note.files[name], ours.get(name))):
        return PlacementAction.LEFT, f"in {folder}, {_listed(changed)} was changed since it was collected. {_MOVE}"
    return (PlacementAction.NEW if is_same else PlacementAction.NEWER), ""


_MOVE = "Move it away where this one shall count, then run this again."


def write_collected_submission(
    folder: Path, stem: str, attempt: CollectedSubmission, starters: Mapping[str, str]
) -> None:
    """Write an attempt into its folder, replacing an older one; raise WorkFailed if the folder cannot be written.

    Afterwards the notebook that counts has its released name, where nbgrader looks for it. The timestamp of an older
    attempt does not stay for a newer one without a time.
    """
    before = read_collection_note(folder)
    time = {} if attempt.at is None else {TIMESTAMP_FILE: f"{attempt.at:%Y-%m-%d %H:%M:%S} UTC\n".encode()}
    if before and before.digest != attempt.digest and not time and os.path.lexists(folder / TIMESTAMP_FILE):
        time = {TIMESTAMP_FILE: b""}  # nbgrader would keep the older attempt's time if the file were missing
    write_all({folder / name: data for name, data in {**attempt.files, **time}.items()})
    try:
        for name in {*before.files} - {*attempt.files} if before else ():
            (folder / name).unlink(missing_ok=True)
        if starters:
            read_student_folder.choose_and_place_notebook(folder, stem, starters)
    except OSError as error:
        raise WorkFailed(f"cannot write in {folder}: {error.strerror}. Give permission, then run this again.") from None
    _write_note(folder, stem, attempt)


def add_absent_collection_note(folder: Path, stem: str, attempt: CollectedSubmission) -> None:
    """Write the missing note on a collection into a folder that already holds exactly the files of the attempt."""
    if read_collection_note(folder) is None:
        _write_note(folder, stem, attempt)


def _write_note(folder: Path, stem: str, attempt: CollectedSubmission) -> None:
    names = {*attempt.files, f"{stem}.ipynb", read_student_folder.GRADED_COPY_MARK_FILE}
    note = {"system": attempt.system, "order": attempt.order, "digest": attempt.digest, "late": attempt.is_late}
    write_all(
        {folder / COLLECTION_NOTE_FILE: json.dumps({**note, "files": _hashes(folder, names)}, sort_keys=True).encode()}
    )


def read_collection_note(folder: Path) -> CollectionNote | None:
    """Return the note of an earlier collection; None if there is none or it is invalid.

    A folder that came through nbgrader's exchange was written by the student, so a note with a name that leads out of
    the folder is invalid.
    """
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError, WorkFailed):
        data = json.loads(read_submitted_file(folder / COLLECTION_NOTE_FILE, most=_LONGEST_NOTE)[0])
        files = {str(name): str(digest) for name, digest in data["files"].items()}
        if all(name == os.path.basename(name) and name not in ("", ".", "..") for name in files):
            return CollectionNote(
                str(data["system"]), int(data["order"]), str(data["digest"]), bool(data["late"]), files
            )
    return None


def _hashes(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each of the named files that exists."""
    there = (name for name in names if os.path.lexists(folder / name))
    return {
        name: hashlib.sha256(read_submitted_file(folder / name, most=MAX_BYTES_WITH_OUTPUTS)[0]).hexdigest()
        for name in there
    }


def _sums(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
