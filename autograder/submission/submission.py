"""Define what a student hands in (the files of a folder), and the submission that is read from it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from nbformat import NotebookNode

from autograder.files import sha256_of_texts
from autograder.submission.build_repaired_notebook import PlacedCell, build_notebook
from autograder.submission.order_repaired_cells import CellInRun


@dataclass(frozen=True)
class SubmittedFiles:
    """The files that a student handed in: the notebook's bytes, or the `trouble` that prevents reading them.

    `notes` are messages about the files that cost no points, and `eye` messages that a person should look at. `files`
    are the data files, by path relative to the notebook. If an assignment has several notebooks, they are in `parts`,
    by name.
    """

    data: bytes
    trouble: str = ""
    notes: tuple[str, ...] = ()
    eye: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    parts: Mapping[str, SubmittedFiles] = field(default_factory=dict, repr=False)

    @cached_property
    def digest(self) -> str:
        """A digest of the notebook, of its data files if there are any, and of all notebooks if there are several."""
        if self.parts:
            return sha256_of_texts(
                *(each for name, part in self.parts.items() for each in (name, part.digest, part.trouble))
            )
        if not self.files:
            return hashlib.sha256(self.data).hexdigest()
        return sha256_of_texts(self.data, *(part for file in sorted(self.files.items()) for part in file))


@dataclass(frozen=True)
class Submission:
    """One student's repaired notebook: what to run, what to show, and messages about what was repaired.

    - `release`, `cells`: the released notebook, and the cells that replace its own.
    - `answers`: the source of the cell that answers each exercise.
    - `parts`: the cells to run, in their order.
    - `repairs`: messages about repairs that cost no points.
    - `eye`: messages that a person should look at: what may have cost points, and suspicious lines of code.
    - `trouble`: why the file could not be read; the notebook is then the untouched released one.
    - `files`: the data files beside the notebook while it runs.
    """

    release: NotebookNode
    cells: tuple[PlacedCell, ...]
    answers: dict[str, str] = field(default_factory=dict)
    parts: tuple[CellInRun, ...] = ()
    repairs: tuple[str, ...] = ()
    eye: tuple[str, ...] = ()
    trouble: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @cached_property
    def notebook(self) -> NotebookNode:
        """The released notebook with what the student wrote. It is built on first use: running it does not need it."""
        return build_notebook(self.cells, self.release)
