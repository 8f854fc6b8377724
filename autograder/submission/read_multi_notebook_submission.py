"""Read a student's folder in `submitted/` for an assignment with several notebooks, each under its released name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.submission.choose_submitted_notebook import submitted_file_names
from autograder.submission.quarantine_unsafe_files import quarantine_harmful_files
from autograder.submission.read_data_files import read_data_files
from autograder.submission.read_submitted_file_safely import read_notebook_file
from autograder.submission.submission import SubmittedFiles
from autograder.submission.zip_archive import summarize_names


def read_multi_notebook_folder(folder: Path, names: Sequence[str]) -> SubmittedFiles:
    """Read the notebooks in a student's folder by their released names, after moving harmful files to quarantine.

    A missing notebook counts as unreadable, and the others are still graded, as with nbgrader. Raises WorkFailed if all
    of them are missing.
    """
    quarantine_harmful_files(folder)
    files = [f"{name}.ipynb" for name in names]
    missing = [file for file in files if not os.path.lexists(folder / file)]
    others = [name for name in submitted_file_names(folder) if name.endswith((".ipynb", ".zip")) and name not in files]
    if len(missing) == len(files):
        found = (
            f"found: {summarize_names(submitted_file_names(folder))}"
            if submitted_file_names(folder)
            else "the folder is empty"
        )
        raise WorkFailed(
            f"expected {', '.join(files)} in the submission; {found}. Of several notebooks, each must have the name "
            "under which it was handed out: give it back by hand, then grade this student again."
        )
    beside = read_data_files(folder)
    parts = {name: SubmittedFiles(*read_notebook_file(folder / f"{name}.ipynb"), files=beside.files) for name in names}
    eye = [*(f"{file} is missing" for file in missing), *beside.eye]
    eye += [f"also handed in, and not graded: {summarize_names(others)}"] if others else []
    return SubmittedFiles(b"", eye=tuple(eye), parts=parts)
