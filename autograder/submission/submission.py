"""A submission: the parcel that a student hands in, and what is read from it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from nbformat import NotebookNode

from autograder.files import digest_of
from autograder.submission.cell_order import Part
from autograder.submission.repaired_notebook import PlacedCell, assembled


@dataclass(frozen=True)
class Parcel:
    """What a student handed in: the notebook's bytes, else the `trouble` with the file; and what is told of the files.

    `notes` cost no points; a person should look at `eye`. `files` lie beside the notebook, by their place there.
    Where an assignment has several notebooks, they are `parts`, by name.
    """

    data: bytes
    trouble: str = ""
    notes: tuple[str, ...] = ()
    eye: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    parts: Mapping[str, Parcel] = field(default_factory=dict, repr=False)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the notebook, or what stands for it and the files beside it, or for all parts."""
        if self.parts:
            return digest_of(*(each for name, part in self.parts.items() for each in (name, part.digest, part.trouble)))
        if not self.files:
            return hashlib.sha256(self.data).hexdigest()
        return digest_of(self.data, *(part for file in sorted(self.files.items()) for part in file))


@dataclass(frozen=True)
class Submission:
    """One student's notebook, repaired: what to run, what to show, and what had to be mended, in plain words.

    The notebook is the released one with `cells` in the place of its own. `repairs` cost no points; a person should
    look at `eye`: what may have, and lines of code that are worth a look. `trouble` says why a file could not be read
    at all; the notebook is then the released one, untouched. `files` lie beside it while it runs.
    """

    release: NotebookNode
    cells: tuple[PlacedCell, ...]
    answers: dict[str, str] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    repairs: tuple[str, ...] = ()
    eye: tuple[str, ...] = ()
    trouble: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @cached_property
    def notebook(self) -> NotebookNode:
        """The released notebook with what the student wrote: made where it is looked at, not where it is only run."""
        return assembled(self.cells, self.release)
