"""Read a notebook with git's merge conflicts in it, if both versions have the same cells.

Most conflicts in notebooks concern execution counts, outputs and versions, which the grader does not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

RESOLVED_CONFLICT_MESSAGE = (
    "git left a merge conflict in the file, in which both versions have the same cells; read all the same"
)
_FIELDS = ("cell_type", "source", "attachments")
_MINE, _OTHER, _BASE, _BOTH = "mine", "other", "base", "both"
# For each conflict marker: the section that it begins, and the sections that it may end.
_MARKS = {
    "<<<<<<<": (_MINE, (_BOTH,)),
    "|||||||": (_BASE, (_MINE,)),
    "=======": (_OTHER, (_MINE, _BASE)),
    ">>>>>>>": (_BOTH, (_OTHER,)),
}


def resolve_if_same_cells(text: str) -> Any:
    """Return the notebook if both versions of it have the same cells; None if they differ or cannot be read."""
    try:
        mine, other = (json.loads("\n".join(_version(text, wanted))) for wanted in (_MINE, _OTHER))
        return mine if _cell_fields(mine) == _cell_fields(other) else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _version(text: str, wanted: str) -> Iterator[str]:
    """Yield the lines of one version and those that both have; raises ValueError if a conflict marker is missing."""
    section = _BOTH
    for line in text.split("\n"):
        if line[:7] in _MARKS:
            begins, may_end = _MARKS[line[:7]]
            if section not in may_end:
                raise ValueError(f"expected a mark behind {may_end}, found one behind {section}")
            section = begins
        elif section in (_BOTH, wanted):
            yield line


def _cell_fields(notebook: dict[str, Any]) -> list[tuple[object, ...]]:
    """Return the fields of each cell that the grader reads."""
    return [
        (*map(cell.get, _FIELDS), cell.get("metadata", {}).get("nbgrader", {}).get("grade_id"))
        for cell in notebook["cells"]
    ]
