"""Make a reader's own copies of the course's notebooks, and update them without overwriting the reader's work.

A file beside the copies records, for each copy, a digest of the cell texts that it was made from. A copy whose cells
still have these texts holds no work of the reader's but outputs, and may be replaced. For any other copy, a newer
notebook is written beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.files import sha256_of_texts, write_all

WORK_FOLDER = "work"
_BESIDE = re.compile(r"-new\d*(?=\.ipynb$)")  # in the name of a newer notebook beside a reader's own
_NOTED = ".made-from.json"  # {"begun": {file: digest of what it was made from}, "offered": {notebook: latest digest}}


@dataclass(frozen=True)
class UpdateResult:
    """The result of an update: new copies, replaced copies, and pairs of a kept copy and the newer one beside it.

    `left` are the copies whose notebooks this version of the course no longer has.
    """

    made: tuple[str, ...]
    updated: tuple[str, ...]
    beside: tuple[tuple[str, str], ...]
    left: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield the messages about the update for the reader."""
        if self.made:
            yield f"New in {WORK_FOLDER}/, yours to write in: {', '.join(self.made)}."
        if self.updated:
            yield f"Brought up to date, since you had not begun: {', '.join(self.updated)}."
        for name, new in self.beside:
            yield f"{name} has changed in the course. Yours is as it was; the new one is beside it: {new}."
        if self.left:
            yield f"Of an earlier version of the course, as you left them: {', '.join(self.left)}. Go on in the others."


class WorkingCopies:
    """The working copies in `folder` of the notebooks in `originals`."""

    def __init__(self, originals: Path, folder: Path) -> None:
        self._originals, self._folder = originals, folder
        self._begun, self._offered = self._noted()

    def update_copies(self) -> UpdateResult:
        """Copy each notebook that is missing, or that has changed since; raise WorkFailed if writing fails."""
        made, updated, beside = [], [], []
        writes: dict[Path, bytes] = {}
        for original in sorted(self._originals.glob("*.ipynb")):
            data, name = original.read_bytes(), original.name
            place, digest = name, _digest(data)
            if not (self._folder / name).exists():
                made.append(name)
            elif self._offered.setdefault(name, digest) == digest:
                continue
            elif not self._is_touched(name):
                updated.append(name)
            else:
                place = self._free(name)
                beside.append((name, place))
            writes[self._folder / place] = data
            self._offered[name] = self._begun[place] = digest
        noted = json.dumps({"begun": self._begun, "offered": self._offered}, indent=1)
        write_all(writes | {self._folder / _NOTED: noted.encode()})
        return UpdateResult(tuple(made), tuple(updated), tuple(beside), tuple(self._left()))

    def notebook_to_open(self) -> str:
        """Return the name of the notebook to open: the last saved one with work in it, else the first, or "".

        A notebook of an earlier version is not opened: it may ask for what the course no longer has.
        """
        names = sorted({path.name for path in self._folder.glob("*.ipynb")} - set(self._left()))
        begun = [name for name in names if self._is_touched(name)]
        return max(begun, key=lambda name: (self._folder / name).stat().st_mtime) if begun else next(iter(names), "")

    def _left(self) -> list[str]:
        """Return the copies whose originals the course no longer has."""
        names = [name for name in self._begun if (self._folder / name).exists()]
        return sorted(name for name in names if not (self._originals / _BESIDE.sub("", name)).exists())

    def _free(self, name: str) -> str:
        """Return a file name for a newer notebook: one that is free, or of a copy that the reader has not changed."""
        number, stem = 1, name.removesuffix(".ipynb")
        while True:
            free = f"{stem}-new{number if number > 1 else ''}.ipynb"
            if not (self._folder / free).exists() or not self._is_touched(free):
                return free
            number += 1

    def _is_touched(self, name: str) -> bool:
        """Return whether a copy's cells differ from those that it was made from; True if these are not recorded."""
        return self._begun.get(name) != _digest((self._folder / name).read_bytes())

    def _noted(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the recorded digests: those of the copies, and the latest of each notebook.

        If the file is missing or damaged, return none, so that every copy counts as changed by the reader.
        """
        try:
            noted = json.loads((self._folder / _NOTED).read_bytes())
            return dict(noted["begun"]), dict(noted["offered"])
        except (OSError, ValueError, LookupError, TypeError):
            return {}, {}


def _digest(notebook: bytes) -> str:
    """Return the digest of the cells' texts; of the bytes, if they are no notebook."""
    try:
        return sha256_of_texts(*("".join(cell["source"]) for cell in json.loads(notebook)["cells"]))
    except (ValueError, LookupError, TypeError):
        return sha256_of_texts(notebook)
