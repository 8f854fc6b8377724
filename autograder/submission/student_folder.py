"""A student's folder of `submitted/`: which notebook is graded, and what to tell of the others."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.files import write_all
from autograder.submission.data_files import companions
from autograder.submission.notebook_choice import Candidate, best, candidates, is_alone, names_in
from autograder.submission.plain_file import handed_in, notebook_in, unreadable
from autograder.submission.quarantine import places, put_away, set_aside
from autograder.submission.submission import Parcel
from autograder.submission.zip_archive import shown

# Beside our copy of a notebook that came under another name; nbgrader leaves files with a dot alone.
MARK = ".graded-copy.json"
_AS_HANDED_IN = "-as-handed-in"  # behind the released name, where another notebook is graded under it


@dataclass(frozen=True)
class Placed:
    """A submission with the notebook that counts under the released name: where it came from, and the others."""

    path: Path
    original: Candidate
    others: tuple[Candidate, ...] = ()
    not_looked_into: int = 0


def parcel(folder: Path, stem: str, starters: Mapping[str, str]) -> Parcel:
    """What lies in a student's folder of `submitted/`; harmful files are put aside and the notebook in its place first.

    Raises WorkFailed where there is no notebook, and where this machine does not let us read it.
    """
    set_aside(folder)
    try:  # anything may be gone again that was there a moment ago
        placed = place_notebook(folder, stem, starters)
        if placed is None:
            raise WorkFailed(no_notebook(folder))
        data, trouble = notebook_in(placed.path)
        beside = companions(folder)
        return Parcel(data, trouble, _notes(folder, placed), (*_eye(placed), *beside.eye), beside.files)
    except OSError as error:
        raise unreadable(folder, error) from None


def no_notebook(folder: Path) -> str:
    """The reason why there is nothing to grade in a submission: what is there, and what to do."""
    names = names_in(folder)
    told = f"found: {shown(names)}" if names else "the folder is empty"
    return (
        f"there is no notebook in the submission ({told}). Ask for the .ipynb file itself: in JupyterLab "
        "File > Download, in Colab File > Download > Download .ipynb."
    )


def place_notebook(folder: Path, stem: str, starters: Mapping[str, str]) -> Placed | None:
    """See to it that the notebook that counts stands under the released name, where nbgrader looks; None without one.

    Of several notebooks the one with the most answered exercises counts, then the newest. One of another name is
    copied; our copy is marked, and made again where the student has handed in something newer. What stood there is
    kept beside it. Nothing is read or written through a link.
    """
    wanted = folder / f"{stem}.ipynb"
    if is_alone(wanted):
        return Placed(wanted, Candidate(wanted, wanted.name))
    found, left = candidates(folder, stem, starters)
    ours = _marked(wanted, found)
    found = [each for each in found if each.path != wanted or not ours]
    chosen = best(found, wanted)
    if chosen is None:
        return None
    if chosen.path != wanted or chosen.member:
        if os.path.lexists(wanted) and not ours:
            _keep(wanted)
            return place_notebook(folder, stem, starters)
        _copy(chosen, wanted)
    return Placed(wanted, chosen, tuple(each for each in found if each != chosen), left)


def _marked(wanted: Path, found: Collection[Candidate]) -> bool:
    """Whether what stands under the released name is our copy of another file that was handed in.

    The mark lies in the student's folder, and may be the student's own work.
    """
    try:
        mark = json.loads(handed_in(wanted.parent / MARK, most=2000)[0])
        named = any(each.name == mark["name"] and each.path != wanted for each in found)
        return named and mark["sha256"] == _digest(notebook_in(wanted)[0])
    except (ValueError, KeyError, TypeError, RecursionError, WorkFailed):
        return False


def _copy(chosen: Candidate, wanted: Path) -> None:
    data = chosen.data()
    mark = json.dumps({"name": chosen.name, "sha256": _digest(data)}).encode()
    if notebook_in(wanted)[0] != data or handed_in(wanted.parent / MARK)[0] != mark:
        write_all({wanted: data, wanted.parent / MARK: mark})


def _keep(wanted: Path) -> None:
    """Give what a student handed in under the released name another one; what is no plain file is put away."""
    if wanted.is_symlink() or not wanted.is_file():
        put_away([wanted], wanted.parent)
        return
    kept, number = wanted.with_name(f"{wanted.stem}{_AS_HANDED_IN}.ipynb"), 1
    while os.path.lexists(kept):
        number += 1
        kept = wanted.with_name(f"{wanted.stem}{_AS_HANDED_IN}-{number}.ipynb")
    wanted.rename(kept)


def _notes(folder: Path, placed: Placed) -> tuple[str, ...]:
    """What is told of the files, and cost no points."""
    told = []
    if (placed.original.path, placed.original.member) != (placed.path, ""):
        told.append(f"handed in as {shown([placed.original.name])}; a copy under the released name was graded")
    aside = [path.name for place in places(folder) for path in place.iterdir()]
    if aside:
        told.append(f"set aside, for nbgrader must not copy it: {shown(sorted(aside))}")
    return tuple(told)


def _eye(placed: Placed) -> tuple[str, ...]:
    """What is told of the notebooks that were not graded."""
    told = [_told(each) for each in placed.others if each.reason or each.digest != placed.original.digest]
    if placed.not_looked_into:
        told.append(f"{placed.not_looked_into} more notebooks were handed in, and not looked into")
    return tuple(told)


def _told(other: Candidate) -> str:
    about = f"it cannot be read: {other.reason}" if other.reason else f"{other.answered} exercises answered"
    return f"also handed in, and not graded: {shown([other.name])} ({about})"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
