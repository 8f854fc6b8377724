"""Store a reader's progress in Google Drive on Colab, where runtimes are temporary; on Binder, only warn."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from autograder.notebook.append_only_file import append_line, read_lines
from autograder.notebook.progress_log import PROGRESS_VARIABLE, progress_folder
from autograder.notebook.reveal_and_shows_error import wrap_message

_MOUNTED = Path("/content/drive")
# Colab saves notebooks here, so that `mine` finds those of other sittings.
_FOLDER = Path("MyDrive", "Colab Notebooks")
_FILES = ".pytorch-basics-*"  # what passed, and drawings
_MOST_BYTES = 2**24
_COLAB = (
    "(What you passed goes with this Colab runtime; your notebook stays. Runtime > Run all brings it back: all checks "
    "run again. To keep it in your Google Drive, run this in a new cell: from autograder import keep_in_drive; "
    "keep_in_drive())"
)
_BINDER = (
    "(What you passed goes with this Binder session, and your notebook too: download it with File > Download. Uploaded "
    "to a new session, Run > Run All Cells brings all back: all checks run again.)"
)


def keep_in_drive() -> None:
    """Keep what you pass, and your drawings, in your Google Drive from now on. It asks for access; Colab only."""
    folder = progress_folder()
    if folder is None:
        return
    if not _is_on_colab():
        print(wrap_message(f"This is not Colab: what you pass is kept in {folder}, beside the notebook."))
        return
    place = _MOUNTED / _FOLDER
    try:
        from google.colab import drive  # type: ignore[import-not-found]

        drive.mount(str(_MOUNTED))
        place.mkdir(parents=True, exist_ok=True)
        _move_lines(folder, place)
    except Exception as error:  # access refused, or a full Drive: Colab raises errors of its own
        print(wrap_message(f"Nothing is kept in your Drive ({' '.join(str(error).split()) or type(error).__name__})."))
        return
    os.environ[PROGRESS_VARIABLE] = str(place)
    print(
        wrap_message(
            f"What you pass is kept in your Drive from now on, in {_FOLDER.name}. "
            "Run this cell again in each new runtime: it knows then what you passed before."
        )
    )


def _move_lines(folder: Path, place: Path) -> None:
    """Append the lines of the runtime's files to those in Drive, and remove the former: the last line counts."""
    for path in folder.glob(_FILES) if folder != place else ():
        for line in read_lines(path, _MOST_BYTES):
            append_line(place / path.name, line)
        path.unlink()


@cache
def warn_once_progress_is_lost() -> None:
    """On Colab and Binder, print once per kernel that what has passed is lost when the runtime ends."""
    if progress_folder() is None or os.environ.get(PROGRESS_VARIABLE):
        return
    if _is_on_colab():
        print(wrap_message(_COLAB))
    elif "BINDER_LAUNCH_HOST" in os.environ:
        print(wrap_message(_BINDER))


def _is_on_colab() -> bool:
    return "google.colab" in sys.modules
