"""The engine's packages: size limits of files and functions, unique names, and independence from this course.

(import-linter checks the imports between packages: `lint-imports`, a part of `make lint`.)
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from autograder.course.course_location import chapter_id
from autograder.course.points_and_hints import POINTS, read_index
from tests.small_chapter import PROJECT

MOST_LINES, LONGEST = 300, 35
COURSE = PROJECT / "course"
# Names of exercises and figures that are also words of Python, torch or English, so that their use in the engine does
# not refer to the course.
COMMON = {
    "accumulate": "a function of itertools",
    "card": "what stands at the end of a chapter",
    "fit": "a verb in sentences and comments",
    "graph": "torch's, of what was computed",
    "gradients": "what torch calls them; a subject of probes",
    "modes": "for training and evaluation, which every module of torch has",
    "resumed": "what happens to a run that was stopped",
    "train": "torch's word for a mode of modules, and a verb",
    "tree": "Python's syntax tree",
    "versions": "of a file or a package",
}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def files(*folders: str) -> list[Path]:
    """Return the Python files of some folders."""
    return [path for folder in folders for path in sorted((PROJECT / folder).rglob("*.py"))]


KEPT_SMALL = [
    *files("autograder", "explorers", "course/cards", "course/exercises", "course/figures"),
    COURSE / "instruments.py",
]
ENGINE = files("autograder")


def short(path: Path) -> str:
    """Return a file's path in the project."""
    return path.relative_to(PROJECT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    """Return a file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def module_of(path: Path) -> str:
    """Return a file's module name, such as `autograder.diagnosis.verdict`."""
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts)


def test_environment_is_asked_at_the_door() -> None:
    """Only commands and nbgrader's plug-in read the setting for unconfined code; others get it as an argument."""
    asking = [module_of(path) for path in ENGINE if "is_unconfined_allowed()" in path.read_text(encoding="utf-8")]
    doors = ("autograder.cli.", "autograder.nbgrader_plugin.autograde", "autograder.sandbox.require_confinement")

    assert [] == [module for module in asking if not module.startswith(doors)]


def definitions(node: ast.AST) -> Iterator[Definition]:
    """Return every class and function of a file, nested ones included."""
    return (each for each in ast.walk(node) if isinstance(each, Definition))


@pytest.mark.parametrize("path", KEPT_SMALL, ids=short)
def test_sizes(path: Path) -> None:
    """Files and functions keep to their size limits."""
    lines = path.read_text(encoding="utf-8").count("\n")
    functions = [each for each in definitions(tree(path)) if not isinstance(each, ast.ClassDef)]
    long = [each.name for each in functions if (each.end_lineno or 0) - each.lineno + 1 > LONGEST]

    assert lines <= MOST_LINES and [] == long


def kinds(path: Path) -> Iterator[str]:
    """Yield the public classes and type aliases of a file."""
    for each in tree(path).body:
        if isinstance(each, ast.ClassDef):
            yield each.name
        elif isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            name, of_typing = each.targets[0].id, "TypeVar(" in ast.unparse(each.value)
            yield from [name] if re.fullmatch("([A-Z][a-z]+)+", name) and not of_typing else []


def test_names_of_files() -> None:
    """No two modules have the same file name."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path in files("autograder", "explorers"):
        if path.stem != "__init__":
            homes[path.stem].append(short(path))

    assert {} == {name: places for name, places in homes.items() if len(places) > 1}


def test_names_of_kinds() -> None:
    """No two modules define a public class or type of the same name."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path in files("autograder", "explorers"):
        for name in kinds(path):
            homes[name].append(short(path))

    assert {} == {name: places for name, places in homes.items() if len(places) > 1 and name[0] != "_"}


def names_of_the_course() -> Iterator[str]:
    """Yield the names of this course's chapters, exercises and figures."""
    for chapter in read_index(COURSE / "shipped" / POINTS):
        yield chapter.stem
        yield from chapter.exercises
    for path in (COURSE / "figures").glob("ch*.py"):
        yield from (each.name for each in tree(path).body if isinstance(each, Definition) and each.name[0] != "_")


def named() -> re.Pattern[str]:
    """Return a pattern that finds these names, and chapter numbers at the start of a name; `nn.NAME` is torch's."""
    numbers = {chapter_id(chapter.stem) for chapter in read_index(COURSE / "shipped" / POINTS)}
    words = set(names_of_the_course()) - set(COMMON)
    return re.compile(rf"(?<!nn\.)(?<!optim\.)\b({'|'.join(words)})\b|(?<![A-Za-z])({'|'.join(numbers)})")


NAMED = named()


@pytest.mark.parametrize("path", ENGINE, ids=short)
def test_engine_knows_no_course(path: Path) -> None:
    """No line of the engine, comments included, names a chapter, an exercise or a figure of this course.

    A new exercise whose name is a word of the engine needs another name, or an entry in COMMON.
    """
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)

    assert [] == [f"{number}: {line.strip()}" for number, line in lines if NAMED.search(line)]


def test_what_is_common_is_a_name_of_the_course() -> None:
    """COMMON contains only words that are needed."""
    engine = "\n".join(path.read_text(encoding="utf-8") for path in ENGINE)

    assert set(COMMON) <= set(names_of_the_course()) and all(re.search(rf"\b{word}\b", engine) for word in COMMON)


def test_pages_name_files_that_exist() -> None:
    """The page on the architecture, and the docstring of each room, name only files and folders that are there."""
    page = PROJECT / "docs" / "architecture.md"
    named = [(page, word) for word in re.findall(r"`([a-z_0-9]+/[a-z_0-9/]*)`", page.read_text("utf-8"))]
    rooms = [path for path in ENGINE if path.name == "__init__.py"]
    named += [
        (room, word)
        for room in rooms
        for word in re.findall(r"`([a-z_0-9/]+)\.py`", ast.get_docstring(tree(room)) or "")
    ]
    paths = [path.with_suffix("") for path in files("autograder", "explorers", "course", "tests")]
    there = "".join(f"/{short(each)}\n" for path in paths for each in (path, path.parent))
    missing = [(short(where), word) for where, word in named if f"/{word.rstrip('/')}\n" not in there]

    assert len(named) > 100
    assert [] == [(where, word) for where, word in missing if not (PROJECT / word).exists()]
