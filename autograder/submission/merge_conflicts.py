"""A notebook in which git left merge conflicts, where both versions are the same in all that is read of a notebook.

Git most often meets a conflict in what Jupyter counts and shows: numbers of runs, outputs, versions. Then there is no
doubt about the cells.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

TOLD = "git left a merge conflict in the file, in which both versions have the same cells; read all the same"
_READ = ("cell_type", "source", "attachments")
_MINE, _OTHER, _BASE, _BOTH = "mine", "other", "base", "both"
# What begins at a mark, and behind what it may stand.
_MARKS = {
    "<<<<<<<": (_MINE, (_BOTH,)),
    "|||||||": (_BASE, (_MINE,)),
    "=======": (_OTHER, (_MINE, _BASE)),
    ">>>>>>>": (_BOTH, (_OTHER,)),
}


def agreed(text: str) -> Any:
    """The notebook, where both versions of it have the same cells; None where they differ, or cannot be read."""
    try:
        mine, other = (json.loads("\n".join(_version(text, wanted))) for wanted in (_MINE, _OTHER))
        return mine if _read_of(mine) == _read_of(other) else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _version(text: str, wanted: str) -> Iterator[str]:
    """The lines of one version, with those that both have; raises ValueError where a mark is missing."""
    part = _BOTH
    for line in text.split("\n"):
        if line[:7] in _MARKS:
            begins, behind = _MARKS[line[:7]]
            if part not in behind:
                raise ValueError(f"expected a mark behind {behind}, found one behind {part}")
            part = begins
        elif part in (_BOTH, wanted):
            yield line


def _read_of(notebook: dict[str, Any]) -> list[tuple[object, ...]]:
    """What is read of each cell."""
    return [
        (*map(cell.get, _READ), cell.get("metadata", {}).get("nbgrader", {}).get("grade_id"))
        for cell in notebook["cells"]
    ]
