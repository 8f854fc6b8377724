"""The rooms of the engine: which may know which, how large a thing may grow, and that no room names this course."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from autograder.catalog.contents import POINTS, listed_in
from tests.small_chapter import PROJECT

# From the ground up: a room imports from itself and from those before it. The ground is the files beside the rooms;
# the front door, which students' notebooks and the command line open, leads everywhere.
ROOMS = (
    "(ground)",
    "watching",
    "judging",
    "catalog",
    "telling",
    "notebook",
    "walls",
    "reading",
    "running",
    "authoring",
    "grading",
    "gradebook",
    "reporting",
    "example",
    "site",
    "bench",
    "commands",
    "(door)",
)
DOOR = ("autograder", "autograder.__main__")
MOST_LINES, LONGEST = 300, 35
COURSE = PROJECT / "course"
# What the chapters call by the same word as torch, Python or this package does. No room means the course by it.
COMMON: dict[str, str] = {}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def files(*folders: str) -> list[Path]:
    """The Python files of some folders."""
    return [path for folder in folders for path in sorted((PROJECT / folder).rglob("*.py"))]


KEPT_SMALL = files("autograder", "explorers", "course/exercises", "course/figures")
ENGINE = files("autograder")


def short(path: Path) -> str:
    """A file's place in the project."""
    return path.relative_to(PROJECT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    """A file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def module_of(path: Path) -> str:
    """`autograder.judging.key`; a folder's `__init__.py` is the folder."""
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


MODULES = frozenset(map(module_of, ENGINE))


def imports(node: ast.AST) -> Iterator[str]:
    """The engine's modules that a piece of code imports, wherever in it; what only type checkers read is left out."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    named: list[str] = []
    if isinstance(node, ast.Import):
        named = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        named = [f"{node.module}.{alias.name}" for alias in node.names]
    for name in named:
        yield from (
            {name, name.rpartition(".")[0]} & MODULES and [name if name in MODULES else name.rpartition(".")[0]]
        )
    for part in ast.iter_child_nodes(node):
        yield from imports(part)


IMPORTS = {module_of(path): set(imports(tree(path))) for path in ENGINE}


def room(module: str) -> str:
    """The room of a module."""
    if module in DOOR:
        return "(door)"
    _, name, *inside = module.split(".")
    return name if inside or name in ROOMS else "(ground)"


def test_no_circle() -> None:
    """No module leads back to itself through what it imports."""
    try:
        TopologicalSorter(IMPORTS).prepare()
    except CycleError as error:
        pytest.fail(f"these import one another in a circle: {' > '.join(error.args[1])}")


def test_order_of_rooms() -> None:
    """A room knows itself and what lies below it."""
    upwards = [
        f"{module} imports {other}"
        for module, others in IMPORTS.items()
        for other in others
        if ROOMS.index(room(module)) < ROOMS.index(room(other))
    ]

    assert [] == upwards


def definitions(node: ast.AST) -> Iterator[Definition]:
    """Every class and function of a file, inner ones too."""
    return (each for each in ast.walk(node) if isinstance(each, Definition))


@pytest.mark.parametrize("path", KEPT_SMALL, ids=short)
def test_sizes(path: Path) -> None:
    """A file is read in one sitting, a function on one screen."""
    lines = path.read_text(encoding="utf-8").count("\n")
    functions = [each for each in definitions(tree(path)) if not isinstance(each, ast.ClassDef)]
    long = [each.name for each in functions if (each.end_lineno or 0) - each.lineno + 1 > LONGEST]

    assert lines <= MOST_LINES and [] == long


def undocumented(node: ast.Module | ast.ClassDef) -> Iterator[str]:
    """The public names at the top of a file, or in a public class, that have no docstring."""
    for each in node.body:
        if isinstance(each, Definition) and not each.name.startswith("_"):
            if ast.get_docstring(each) is None and not is_overload(each):
                yield each.name
            if isinstance(each, ast.ClassDef):
                yield from (f"{each.name}.{name}" for name in undocumented(each))


def is_overload(node: Definition) -> bool:
    """Whether a definition only tells the types of another one."""
    return any(ast.unparse(each).split(".")[-1] in ("overload", "setter") for each in node.decorator_list)


@pytest.mark.parametrize("path", KEPT_SMALL, ids=short)
def test_docstrings(path: Path) -> None:
    """Every module, and every public class, function and method, says what it is for."""
    # A notebook's first cell is its heading.
    assert ast.get_docstring(tree(path)) or path.parent.name == "notebooks"
    assert [] == list(undocumented(tree(path)))


def test_class_names() -> None:
    """A public class's name stands for one thing."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path in files("autograder", "explorers"):
        for each in tree(path).body:
            if isinstance(each, ast.ClassDef) and not each.name.startswith("_"):
                homes[each.name].append(short(path))

    assert {} == {name: places for name, places in homes.items() if len(places) > 1}


def names_of_the_course() -> Iterator[str]:
    """What only this course has: its chapters, its exercises, and what draws its figures."""
    for chapter in listed_in(COURSE / "shipped" / POINTS):
        yield chapter.stem
        yield chapter.stem.split("_")[0]
        yield from chapter.exercises
        figures = tree(COURSE / "figures" / f"{chapter.stem}.py")
        yield from (each.name for each in definitions(figures) if not each.name.startswith("_"))


OURS = sorted(set(names_of_the_course()) - set(COMMON))


@pytest.mark.parametrize("path", ENGINE, ids=short)
def test_engine_knows_no_course(path: Path) -> None:
    """No line of the engine, not even a comment, names a chapter, an exercise or a figure of this course."""
    named = re.compile(rf"\b({'|'.join(OURS)})\b")
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)

    assert [] == [f"{number}: {line.strip()}" for number, line in lines if named.search(line)]
