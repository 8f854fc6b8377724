"""Serialize notebooks to text, with a cache for cells that many notebooks of a class share."""

from __future__ import annotations

from collections.abc import Iterable

import nbformat
from nbformat import NotebookNode, ValidationError
from nbformat.v4.nbjson import BytesEncoder
from nbformat.v4.rwbase import split_lines, strip_transient
from traitlets.log import get_logger

from autograder.submission.build_repaired_notebook import copy_json

_MOST = 4000  # cells in the cache, enough for a few chapters
_ASIDE = '\n "cells": []'  # unique: a line of the top level; deeper ones have more spaces
_compact = BytesEncoder(ensure_ascii=False).encode
_pretty = BytesEncoder(indent=1, sort_keys=True, separators=(",", ": "), ensure_ascii=False).encode


class CachingNotebookWriter:
    """Serializes the notebooks of a class; each distinct cell is validated and formatted only once.

    The cells in `common` are shared by many notebooks, so they are copied before anything modifies them.
    """

    def __init__(self, common: Iterable[NotebookNode] = ()) -> None:
        self._known: dict[tuple[int, int, str], str] = {}
        self._common = {id(cell): (cell, _compact(cell)) for cell in common}

    def written(self, notebook: NotebookNode) -> str:
        """Return what `nbformat.writes` would; the notebook may be modified, whereas nbformat would copy it first.

        An invalid notebook is logged as an error and serialized all the same.
        """
        version = notebook.nbformat, notebook.nbformat_minor
        # The keys are texts, since equality does not distinguish 1 from 1.0 and True.
        keys = [(*version, self._text(cell)) for cell in notebook.cells]
        named = len({cell.get("id") for cell in notebook.cells}) == len(keys)
        if not named:
            self._known = {}  # nbformat replaces missing and duplicate ids, for which it needs all cells
        new = [place for place, key in enumerate(keys) if key not in self._known]
        rest = NotebookNode(notebook | {"cells": [self._changeable(notebook.cells[place]) for place in new]})
        valid = _is_valid(rest, notebook)
        plain = strip_transient(split_lines(rest))
        laid_out = {place: _pretty(cell).replace("\n", "\n  ") for place, cell in zip(new, plain.cells, strict=True)}
        cells = [laid_out[place] if place in laid_out else self._known[key] for place, key in enumerate(keys)]
        if valid and named:
            self._remember({keys[place]: text for place, text in laid_out.items()})
        whole = _pretty(plain | {"cells": []})
        return whole.replace(_ASIDE, '\n "cells": [\n  ' + ",\n  ".join(cells) + "\n ]", 1) if cells else whole

    def _text(self, cell: NotebookNode) -> str:
        """Return a text that identifies a cell by its content."""
        return self._common[id(cell)][1] if id(cell) in self._common else _compact(cell)

    def _changeable(self, cell: NotebookNode) -> NotebookNode:
        """Return a cell that may be modified: a copy if it is shared."""
        return copy_json(cell) if id(cell) in self._common else cell

    def _remember(self, found: dict[tuple[int, int, str], str]) -> None:
        if len(self._known) + len(found) > _MOST:
            self._known = {}
        self._known.update(found)


def _is_valid(rest: NotebookNode, whole: NotebookNode) -> bool:
    """Whether the new cells, in `rest`, are valid; if not, validate the whole notebook and log its error."""
    try:
        nbformat.validate(rest)
    except ValidationError:
        try:
            nbformat.validate(whole)
        except ValidationError as error:
            get_logger().error("Notebook JSON is invalid: %s", error)
        return False
    return True
