"""Find all notebooks in a student's folder of `submitted/`, whatever their names and places, and choose the best."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, islice
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.submission import quarantine_unsafe_files, zip_archive
from autograder.submission.detect_wrong_chapter import cells_that_define_exercise
from autograder.submission.extract_submitted_cells import MAX_NOTEBOOK_BYTES, SubmittedContents, read_notebook_contents
from autograder.submission.read_submitted_file_safely import read_notebook_file, read_submitted_file
from autograder.submission.unreadable_notebook_messages import UnreadableError

_MAX_OTHERS = 10  # files that are read in addition to the one with the released name
_MAX_OTHERS_BYTES = 2 * MAX_NOTEBOOK_BYTES
_MAX_ENTRIES = 2000  # entries of a submission's folders that are listed
MAX_FOLDER_DEPTH = 5  # levels of subfolders; deeper ones are not searched
_POSSIBLE_ENDINGS = (".txt", ".json", ".zip", ".py", "")  # of notebooks, although most files with these are none
NBGRADER_FILES = ("timestamp.txt", "submission_secret.txt")  # files that nbgrader itself adds to a submission
COLLECTION_NOTE_FILE = (
    ".collected.json"  # which `autograder collect` leaves; nbgrader ignores names that begin with a dot
)
_STUB = "raise NotImplementedError()"
Starters = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class NotebookCandidate:
    """A submitted notebook: where it is (`member`: its name within a zip archive), and what it contains.

    `answered` counts the chapter's exercises that it answers, and `holds` those that it has a cell for. `reason` says
    why it could not be read. `digest` is the SHA-256 of its bytes. `is_script`: it was exported as a Python script.
    """

    path: Path
    name: str
    member: str = ""
    changed: float = 0.0
    answered: int = -1
    holds: int = -1
    reason: str = ""
    digest: str = ""
    is_script: bool = False

    @property
    def rank(self) -> tuple[object, ...]:
        """The sort key: answered exercises, being of this chapter, being no script, time of the last change."""
        return self.answered, self.holds > 0, not self.is_script, self.changed

    def data(self) -> bytes:
        """Read and return the notebook's bytes."""
        data = read_notebook_file(self.path)[0]
        if not self.member:
            return data
        return next(
            (
                each.data
                for each in zip_archive.read_zipped_notebooks(data, MAX_NOTEBOOK_BYTES)
                if each.name == self.member
            ),
            b"",
        )


def is_only_candidate(path: Path) -> bool:
    """Return whether this is the only file that may be a notebook, so that nothing needs to be compared.

    Raises WorkFailed if the machine does not allow reading it, since that is no reason to choose another file.
    """
    start = read_submitted_file(path, most=3)[0]
    return not zip_archive.is_archive(start) and _paths(path.parent) == [path]


def find_candidates(folder: Path, stem: str, starters: Mapping[str, str]) -> tuple[list[NotebookCandidate], int]:
    """Return the notebooks in a submission, and the number of files that were not read because there are too many."""
    paths = _paths(folder)
    first = [path for path in paths if path == folder / f"{stem}.ipynb"]
    others = sorted((path for path in paths if path not in first), key=lambda path: (_is_loose(path), path))
    count = _affordable(others)
    found = [
        each
        for path in [*first, *others[:count]]
        for each in _of_file(path, _shown(path, folder), tuple(starters.items()))
    ]
    return found, sum(not _is_loose(path) for path in others[count:])


def _affordable(paths: list[Path]) -> int:
    """Return how many of these files, from the first on, may be read: their number and total size are limited."""
    sizes = accumulate(min(path.lstat().st_size, MAX_NOTEBOOK_BYTES) for path in paths[:_MAX_OTHERS])
    return sum(size <= _MAX_OTHERS_BYTES for size in sizes)


def _of_file(path: Path, name: str, starters: Starters) -> tuple[NotebookCandidate, ...]:
    about = path.lstat()
    return _notebooks_in(path, name, starters, (about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns))


@lru_cache(maxsize=512)  # a run reads a submission several times; `_stamp` changes when the file does
def _notebooks_in(path: Path, name: str, starters: Starters, _stamp: object) -> tuple[NotebookCandidate, ...]:
    """Return the notebooks in a file: one, several for a zip archive, none for a file of another kind."""
    try:
        data, reason = read_notebook_file(path)
    except WorkFailed as error:
        data, reason = b"", str(error)
    if reason:
        return (NotebookCandidate(path, name, reason=reason),)
    changed = path.lstat().st_mtime
    packed: list[zip_archive.ArchivedNotebook] = []
    if zip_archive.is_archive(data):
        try:
            packed = zip_archive.read_zipped_notebooks(data, MAX_NOTEBOOK_BYTES)
        except UnreadableError as error:
            return (
                () if _is_loose(path) and path.suffix != ".zip" else (NotebookCandidate(path, name, reason=str(error)),)
            )
    if len(packed) > 1:
        return tuple(_candidate(path, f"{name}: {p.name}", p.name, p.changed, p.data, starters) for p in packed)
    found = _candidate(path, name, "", changed, data, starters)
    return () if found.reason and _is_loose(path) else (found,)


def _candidate(
    path: Path, name: str, member: str, changed: float, data: bytes, starters: Starters
) -> NotebookCandidate:
    try:
        read = read_notebook_contents(data)
    except UnreadableError as error:
        return NotebookCandidate(path, name, member, changed, reason=str(error))
    answered, holds = _count_exercises(read, starters)
    digest = hashlib.sha256(data).hexdigest()
    return NotebookCandidate(path, name, member, changed, answered, holds, "", digest, path.suffix == ".py")


def _count_exercises(read: SubmittedContents, starters: Starters) -> tuple[int, int]:
    """Return how many exercises a notebook answers, and for how many it has a cell."""
    found = {name: cells_that_define_exercise(read.cells, name) for name, _ in starters}
    answered = sum(any(_is_answer(cell.source, starter) for cell in found[name]) for name, starter in starters)
    return answered, sum(map(bool, found.values()))


def _is_answer(source: str, starter: str) -> bool:
    """Return whether a cell differs from its starter, and has no stub left or fewer than the starter."""
    if source.split() in ([], starter.split()):
        return False
    left = _count_stubs(source)
    return left == 0 or left < _count_stubs(starter)


def _count_stubs(source: str) -> int:
    return [line.strip() for line in source.splitlines()].count(_STUB)


# --- where notebooks may lie


def _paths(folder: Path) -> list[Path]:
    """Return the files that may be notebooks: in the folder, its subfolders and its quarantine. No link is followed."""
    return [path for path in islice(_below(folder), _MAX_ENTRIES) if _may_be_notebook(path)]


def _below(folder: Path) -> Iterator[Path]:
    """Yield the entries of a submission's folders, level by level, so that the limit cuts off the deepest ones."""
    level = list(_directly_in(folder))
    for _ in range(MAX_FOLDER_DEPTH):
        yield from level
        within = (each for path in level if _is_readable_folder(path) for each in _entries(path))
        level = list(islice(within, _MAX_ENTRIES))
    yield from level


def _is_readable_folder(path: Path) -> bool:
    """Return whether this is a folder that may hold a student's work and that the grader can read."""
    return _is_folder(path) and not path.name.startswith((".", "__")) and os.access(path, os.R_OK | os.X_OK)


def _directly_in(folder: Path) -> Iterator[Path]:
    return (
        path
        for place in chain((folder,), quarantine_unsafe_files.quarantine_folders(folder))
        for path in _entries(place)
    )


def submitted_file_names(folder: Path) -> list[str]:
    """Return the names of a submission's files and its quarantine's, without nbgrader's files and our note."""
    found, ours = (
        islice(_directly_in(folder), _MAX_ENTRIES),
        (quarantine_unsafe_files.QUARANTINE_PREFIX, COLLECTION_NOTE_FILE),
    )
    return [path.name for path in found if not path.name.startswith((*ours, *NBGRADER_FILES))]


def _entries(folder: Path) -> list[Path]:
    if not _is_folder(folder):
        return []
    with os.scandir(folder) as found:
        return sorted(Path(entry.path) for entry in islice(found, _MAX_ENTRIES))


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _may_be_notebook(path: Path) -> bool:
    """Return whether a file may be a notebook: its name says so, or it is a small enough file of a possible ending."""
    if path.name.startswith(".") or path.name in NBGRADER_FILES or _is_folder(path):
        return False
    if not _is_loose(path):
        return True
    about = path.lstat()
    return (
        path.suffix.lower() in _POSSIBLE_ENDINGS and stat.S_ISREG(about.st_mode) and about.st_size <= MAX_NOTEBOOK_BYTES
    )


def _is_loose(path: Path) -> bool:
    """Return whether the name alone does not say that the file is a notebook."""
    return ".ipynb" not in path.name.lower()


def _shown(path: Path, folder: Path) -> str:
    """Return the name of a file as its student knows it: relative to the folder, without the quarantine's folders."""
    parts = path.relative_to(folder).parts
    return "/".join(parts[2:] if parts[0].startswith(quarantine_unsafe_files.QUARANTINE_PREFIX) else parts)


def choose_notebook(found: Collection[NotebookCandidate], wanted: Path) -> NotebookCandidate | None:
    """Return the notebook that counts, or None; if the file of the released name (`wanted`) is identical, that one."""
    chosen = max(found, key=lambda each: (*each.rank, each.path == wanted), default=None)
    same = (each for each in found if chosen and each.path == wanted and each.digest == chosen.digest != "")
    return next(same, chosen)
