"""A reader's own copies of the course's notebooks: made once, never overwritten; what is newer is laid beside them.

What a copy was made from is noted as a digest of its cells' texts, in a file beside the copies. A copy that still has
these texts holds nothing of the reader's but outputs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.files import digest_of, write_all

FOLDER = "work"
_NOTED = ".made-from.json"  # {"begun": {file: digest of what it was made from}, "offered": {notebook: latest digest}}


@dataclass(frozen=True)
class Renewed:
    """What was done: notebooks that are new, those that were brought up to date, and newer ones laid beside older."""

    made: tuple[str, ...]
    updated: tuple[str, ...]
    beside: tuple[tuple[str, str], ...]

    def lines(self) -> Iterator[str]:
        """What a reader should know of it."""
        if self.made:
            yield f"New in {FOLDER}/, yours to write in: {', '.join(self.made)}."
        if self.updated:
            yield f"Brought up to date, since you had not begun: {', '.join(self.updated)}."
        for name, new in self.beside:
            yield f"{name} has changed in the course. Yours is as it was; the new one is beside it: {new}."


class Copies:
    """The copies in a folder, of the notebooks in another."""

    def __init__(self, originals: Path, folder: Path) -> None:
        self._originals, self._folder = originals, folder
        self._begun, self._offered = self._noted()

    def renew(self) -> Renewed:
        """Copy what is not there, and what has changed since; raises WorkFailed where the disk does not let it."""
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
        return Renewed(tuple(made), tuple(updated), tuple(beside))

    def latest(self) -> str:
        """The notebook to open: the one that was saved last of those begun, else the first; "" where there is none."""
        names = sorted(path.name for path in self._folder.glob("*.ipynb"))
        begun = [name for name in names if self._is_touched(name)]
        return max(begun, key=lambda name: (self._folder / name).stat().st_mtime) if begun else next(iter(names), "")

    def _free(self, name: str) -> str:
        """A name for a newer notebook: that of the last newer one, if nobody has begun it."""
        number, stem = 1, name.removesuffix(".ipynb")
        while True:
            free = f"{stem}-new{number if number > 1 else ''}.ipynb"
            if not (self._folder / free).exists() or not self._is_touched(free):
                return free
            number += 1

    def _is_touched(self, name: str) -> bool:
        """Whether a copy holds anything that its original did not; so does one of which nothing is noted."""
        return self._begun.get(name) != _digest((self._folder / name).read_bytes())

    def _noted(self) -> tuple[dict[str, str], dict[str, str]]:
        """What is noted; nothing where the file is not there, or is damaged: then no copy is taken for untouched."""
        try:
            noted = json.loads((self._folder / _NOTED).read_bytes())
            return dict(noted["begun"]), dict(noted["offered"])
        except (OSError, ValueError, LookupError, TypeError):
            return {}, {}


def _digest(notebook: bytes) -> str:
    """Of the texts of a notebook's cells; of the bytes, where it is none."""
    try:
        return digest_of(*("".join(cell["source"]) for cell in json.loads(notebook)["cells"]))
    except (ValueError, LookupError, TypeError):
        return digest_of(notebook)
