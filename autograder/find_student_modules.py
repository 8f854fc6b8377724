"""Finds the modules that a student wrote: files beside a notebook, from which an answer may import helpers."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

_NOT_A_STUDENTS = frozenset({"__main__", "__mp_main__", "autograder", "explorers", "course", *sys.stdlib_module_names})
_COURSE = "autograder_course_"  # prefix of the names under which a course's modules are imported
_INSTALLED = frozenset({"site-packages", "dist-packages"})


def find_student_module_file(module: str) -> str | None:
    """Return the file of a loaded module that a student wrote; None for installed modules and for other names."""
    top = module.partition(".")[0]
    if top in _NOT_A_STUDENTS or top.startswith(_COURSE):
        return None
    file = getattr(sys.modules.get(module), "__file__", None)
    return file if isinstance(file, str) and _is_own(file) else None


@lru_cache(maxsize=1024)
def _is_own(file: str) -> bool:
    path = Path(file)
    return path.is_absolute() and _INSTALLED.isdisjoint(path.parts)
