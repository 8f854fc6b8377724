"""Notebooks as the text of their files."""

from __future__ import annotations

from collections.abc import Iterable

import nbformat
from nbformat import NotebookNode, ValidationError
from nbformat.v4.nbjson import BytesEncoder
from nbformat.v4.rwbase import split_lines, strip_transient
from traitlets.log import get_logger

from autograder.submission.repaired_notebook import copy_json

_MOST = 4000  # cells that are remembered: those of a few chapters
_ASIDE = '\n "cells": []'  # a line of a notebook's own: what is deeper inside begins with more spaces
_compact = BytesEncoder(ensure_ascii=False).encode
_pretty = BytesEncoder(indent=1, sort_keys=True, separators=(",", ": "), ensure_ascii=False).encode


class NotebookWriter:
    """Writes the notebooks of a class, most of whose cells are everybody's: these are validated and laid out once.

    The `common` ones stand as they are in many notebooks, and stay as they are.
    """

    def __init__(self, common: Iterable[NotebookNode] = ()) -> None:
        self._known: dict[tuple[int, int, str], str] = {}
        self._common = {id(cell): (cell, _compact(cell)) for cell in common}

    def written(self, notebook: NotebookNode) -> str:
        """What `nbformat.writes` gives, for a notebook that nobody needs afterwards: it would copy it first.

        What is not valid is told, and written all the same.
        """
        version = notebook.nbformat, notebook.nbformat_minor
        # By their text and not by equality: 1 is equal to 1.0 and to true.
        keys = [(*version, self._text(cell)) for cell in notebook.cells]
        named = len({cell.get("id") for cell in notebook.cells}) == len(keys)
        if not named:
            self._known = {}  # nbformat gives new names where two have one, or none, and needs to see them all
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
        """What tells a cell from any other."""
        return self._common[id(cell)][1] if id(cell) in self._common else _compact(cell)

    def _changeable(self, cell: NotebookNode) -> NotebookNode:
        """A cell that may be changed while it is written."""
        return copy_json(cell) if id(cell) in self._common else cell

    def _remember(self, found: dict[tuple[int, int, str], str]) -> None:
        if len(self._known) + len(found) > _MOST:
            self._known = {}
        self._known.update(found)


def _is_valid(rest: NotebookNode, whole: NotebookNode) -> bool:
    """Whether the cells of a notebook that are new are valid; where they are not, that is told of them all."""
    try:
        nbformat.validate(rest)
    except ValidationError:
        try:
            nbformat.validate(whole)
        except ValidationError as error:
            get_logger().error("Notebook JSON is invalid: %s", error)
        return False
    return True
