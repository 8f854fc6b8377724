"""Read a student's folder in `submitted/` for an assignment with several notebooks, each under its released name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.submission.data_files import companions
from autograder.submission.notebook_choice import names_in
from autograder.submission.plain_file import notebook_in
from autograder.submission.quarantine import set_aside
from autograder.submission.submission import Parcel
from autograder.submission.zip_archive import shown


def parcel_of(folder: Path, names: Sequence[str]) -> Parcel:
    """Read the notebooks in a student's folder by their released names, after moving harmful files to quarantine.

    A missing notebook counts as unreadable, and the others are still graded, as with nbgrader. Raises WorkFailed if all
    of them are missing.
    """
    set_aside(folder)
    files = [f"{name}.ipynb" for name in names]
    missing = [file for file in files if not os.path.lexists(folder / file)]
    others = [name for name in names_in(folder) if name.endswith((".ipynb", ".zip")) and name not in files]
    if len(missing) == len(files):
        found = f"found: {shown(names_in(folder))}" if names_in(folder) else "the folder is empty"
        raise WorkFailed(
            f"expected {', '.join(files)} in the submission; {found}. Of several notebooks, each must have the name "
            "under which it was handed out: give it back by hand, then grade this student again."
        )
    beside = companions(folder)
    parts = {name: Parcel(*notebook_in(folder / f"{name}.ipynb"), files=beside.files) for name in names}
    eye = [*(f"{file} is missing" for file in missing), *beside.eye]
    eye += [f"also handed in, and not graded: {shown(others)}"] if others else []
    return Parcel(b"", eye=tuple(eye), parts=parts)
