"""Read a student's folder in `submitted/`: choose the notebook to grade, and report the others."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.files import write_all
from autograder.submission.choose_submitted_notebook import (
    NotebookCandidate,
    choose_notebook,
    find_candidates,
    is_only_candidate,
    submitted_file_names,
)
from autograder.submission.quarantine_unsafe_files import (
    move_to_quarantine,
    quarantine_folders,
    quarantine_harmful_files,
)
from autograder.submission.read_data_files import read_data_files
from autograder.submission.read_submitted_file_safely import permission_error, read_notebook_file, read_submitted_file
from autograder.submission.submission import SubmittedFiles
from autograder.submission.zip_archive import summarize_names

# This file beside a copied notebook says where it was copied from; nbgrader ignores names that begin with a dot.
GRADED_COPY_MARK_FILE = ".graded-copy.json"
_AS_HANDED_IN = "-as-handed-in"  # added to the released name if another notebook takes it


@dataclass(frozen=True)
class SelectedNotebook:
    """The notebook that counts (`path`, under the released name), its original file, and the other notebooks."""

    path: Path
    original: NotebookCandidate
    others: tuple[NotebookCandidate, ...] = ()
    not_looked_into: int = 0


def read_student_folder(folder: Path, stem: str, starters: Mapping[str, str]) -> SubmittedFiles:
    """Read a student's folder, after moving harmful files to quarantine and the best notebook to the released name.

    Raises WorkFailed if there is no notebook, or if this machine does not allow reading it.
    """
    quarantine_harmful_files(folder)
    try:  # files may disappear at any time
        placed = choose_and_place_notebook(folder, stem, starters)
        if placed is None:
            raise WorkFailed(missing_notebook_message(folder))
        data, trouble = read_notebook_file(placed.path)
        beside = read_data_files(folder)
        return SubmittedFiles(
            data, trouble, _notes(folder, placed), (*_messages_for_review(placed), *beside.eye), beside.files
        )
    except OSError as error:
        raise permission_error(folder, error) from None


def missing_notebook_message(folder: Path) -> str:
    """Return the message for a submission without a notebook: what is in the folder, and what to do."""
    names = submitted_file_names(folder)
    contents = f"found: {summarize_names(names)}" if names else "the folder is empty"
    return (
        f"there is no notebook in the submission ({contents}). Ask for the .ipynb file itself: in JupyterLab "
        "File > Download, in Colab File > Download > Download .ipynb."
    )


def choose_and_place_notebook(folder: Path, stem: str, starters: Mapping[str, str]) -> SelectedNotebook | None:
    """Put the notebook that counts under the released name, where nbgrader expects it; return None if there is none.

    Of several notebooks, the one with the most answered exercises counts, then the newest. If it has another name, it
    is copied. The copy is marked, so that it can be replaced when the student hands in something newer. A file that had
    the released name is kept under another one. Nothing is read or written through a link.
    """
    wanted = folder / f"{stem}.ipynb"
    if is_only_candidate(wanted):
        return SelectedNotebook(wanted, NotebookCandidate(wanted, wanted.name))
    found, left = find_candidates(folder, stem, starters)
    ours = _is_our_copy(wanted, found)
    found = [each for each in found if each.path != wanted or not ours]
    chosen = choose_notebook(found, wanted)
    if chosen is None:
        return None
    if chosen.path != wanted or chosen.member:
        if os.path.lexists(wanted) and not ours:
            _rename_or_quarantine(wanted)
            return choose_and_place_notebook(folder, stem, starters)
        _copy(chosen, wanted)
    return SelectedNotebook(wanted, chosen, tuple(each for each in found if each != chosen), left)


def _is_our_copy(wanted: Path, found: Collection[NotebookCandidate]) -> bool:
    """Return whether the file with the released name is a copy that this module made of another submitted file.

    The mark is in the student's folder, so the student may have forged it: it counts only if it names a submitted file
    and the copy's digest.
    """
    try:
        mark = json.loads(read_submitted_file(wanted.parent / GRADED_COPY_MARK_FILE, most=2000)[0])
        named = any(each.name == mark["name"] and each.path != wanted for each in found)
        return named and mark["sha256"] == _digest(read_notebook_file(wanted)[0])
    except (ValueError, KeyError, TypeError, RecursionError, WorkFailed):
        return False


def _copy(chosen: NotebookCandidate, wanted: Path) -> None:
    data = chosen.data()
    mark = json.dumps({"name": chosen.name, "sha256": _digest(data)}).encode()
    if read_notebook_file(wanted)[0] != data or read_submitted_file(wanted.parent / GRADED_COPY_MARK_FILE)[0] != mark:
        write_all({wanted: data, wanted.parent / GRADED_COPY_MARK_FILE: mark})


def _rename_or_quarantine(wanted: Path) -> None:
    """Rename the student's file that has the released name; move it to quarantine if it is not a regular file."""
    if wanted.is_symlink() or not wanted.is_file():
        move_to_quarantine([wanted], wanted.parent)
        return
    kept, number = wanted.with_name(f"{wanted.stem}{_AS_HANDED_IN}.ipynb"), 1
    while os.path.lexists(kept):
        number += 1
        kept = wanted.with_name(f"{wanted.stem}{_AS_HANDED_IN}-{number}.ipynb")
    wanted.rename(kept)


def _notes(folder: Path, placed: SelectedNotebook) -> tuple[str, ...]:
    """Return messages about the files that cost no points."""
    messages = []
    if (placed.original.path, placed.original.member) != (placed.path, ""):
        messages.append(
            f"handed in as {summarize_names([placed.original.name])}; a copy under the released name was graded"
        )
    aside = [path.name for place in quarantine_folders(folder) for path in place.iterdir()]
    if aside:
        messages.append(f"set aside, for nbgrader must not copy it: {summarize_names(sorted(aside))}")
    return tuple(messages)


def _messages_for_review(placed: SelectedNotebook) -> tuple[str, ...]:
    """Return messages about the notebooks that were not graded."""
    messages = [_message(each) for each in placed.others if each.reason or each.digest != placed.original.digest]
    if placed.not_looked_into:
        messages.append(f"{placed.not_looked_into} more notebooks were handed in, and not looked into")
    return tuple(messages)


def _message(other: NotebookCandidate) -> str:
    about = f"it cannot be read: {other.reason}" if other.reason else f"{other.answered} exercises answered"
    return f"also handed in, and not graded: {summarize_names([other.name])} ({about})"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
