"""Find the tests that concern a changed file, through the imports of the tests and of their helper modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

_CELL = re.compile(r'# %% .*\bexercise="(\w+)"')


@cache
def imported(path: Path) -> frozenset[str]:
    """Return the dotted names that a file imports; for `from a import b` both `a` and `a.b`, as b may be a module."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


def imported_by_all(project: Path, test: Path) -> frozenset[str]:
    """Return the names that a test imports, directly or through other modules in `tests`."""
    found: set[str] = set()
    waiting = [test]
    while waiting:
        new = imported(waiting.pop()) - found
        found |= new
        files = (project.joinpath(*name.split(".")).with_suffix(".py") for name in new if name.startswith("tests."))
        waiting += [file for file in files if file.is_file()]
    return frozenset(found)


def module(changed: str) -> str:
    """Return the dotted name of a changed file: `autograder.submission.repair` for its path."""
    return changed.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def room(name: str) -> str:
    """Return the package of a module: a folder of the engine, `explorers`, or a part of the course; "" for others."""
    parts = name.split(".")
    if parts[0] in ("autograder", "course"):
        return ".".join(parts[:2])
    return "explorers" if parts[0] == "explorers" else ""


def distance(project: Path, test: Path, changed: Sequence[str]) -> int | None:
    """Return how closely a test concerns the changed files, from 0 (most) to 3; None if it does not.

    0: the test file itself changed. 1: it imports a changed module. 2: it imports from a changed module's package, or
    names the file. 3: one of its helper modules does.
    """
    names, text = set(map(module, changed)), test.read_text(encoding="utf-8")
    rooms = {room(name) for name in names} - {""}
    own, all_of_them = imported(test), imported_by_all(project, test)
    near = [
        module(test.relative_to(project).as_posix()) in names,
        bool(own & names),
        bool(set(map(room, own)) & rooms) or any(f'"{Path(path).name}"' in text for path in changed),
        bool(all_of_them & names) or bool(set(map(room, all_of_them)) & rooms),
    ]
    return near.index(True) if any(near) else None


def exercises(project: Path, changed: Iterable[str]) -> set[str]:
    """Return the exercises whose file or answer bank changed; all of the chapter for a file that they share."""
    found = set()
    for path in map(Path, changed):
        if path.suffix == ".py" and path.parts[:2] in (("course", "exercises"), ("course", "answers")):
            *_, chapter, name = path.with_suffix("").parts
            shared = name.startswith("_")
            found |= {each.stem for each in project.glob(f"course/exercises/{chapter}/[!_]*.py")} if shared else {name}
    return found


def cells(chapter: str) -> dict[str, str]:
    """Return the cells of a chapter's text that hold exercises, by exercise."""
    found = {_CELL.match(cell): cell for cell in re.split(r"(?m)^(?=# %%)", chapter)}
    return {match[1]: cell for match, cell in found.items() if match}
