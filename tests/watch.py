"""Sees which parts of the course the tests read, so that one that reads what it does not say is not remembered.

Seen is every file that is opened in the process of the tests, and in each Python process that they start with their
own environment (`watched/sitecustomize.py`); and what the course, once read, gives again without opening a file. What
a module reads while it is imported counts for all its tests, and for those of modules that import it. Not seen are
processes with an environment of their own, other programs, and folders that are only listed.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any

from autograder.course.course import Course
from tests import remembered
from tests.remembered import helpers, imported, may_open, part_of
from tests.small_chapter import PROJECT

VARIABLE = "PYTEST_WATCHED"  # names the file in which processes note what they open of the project
CHILDREN = str(PROJECT / "tests" / "watched")
_TESTS = str(PROJECT / "tests")
_CONSTANTS = os.path.join("hypothesis", "internal", "constants_ast.py")
# What a course reads once: the method, and in which of its folders.
_GIVEN_AGAIN = {"exercises": "exercises", "keys": "shipped", "hints": "shipped", "figures": "figures", "card": "cards"}


class Watch:
    """What has been read of the project since somebody asked, and by which module while it was imported."""

    def __init__(self, project: Path = PROJECT) -> None:
        self._prefix = f"{project}{os.sep}"
        self._read: set[str] = set()
        self._imported: dict[str, set[str]] = {}
        self._is_running = False
        self._process = os.getpid()
        self._noted = Path(os.devnull)
        self._seen_of_it = 0

    def begin(self) -> None:
        """Watch from now on: this process, and those that it starts."""
        descriptor, name = tempfile.mkstemp(prefix="watched-")
        os.close(descriptor)
        self._noted = Path(name)
        sys.addaudithook(self._heard)
        os.environ[VARIABLE] = str(self._noted)
        others = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each not in ("", CHILDREN)]
        os.environ["PYTHONPATH"] = os.pathsep.join([CHILDREN, *others])
        if CHILDREN not in sys.path:  # tests hand on their own path
            sys.path.insert(0, CHILDREN)
        for name, folder in _GIVEN_AGAIN.items():
            setattr(Course, name, self._telling(getattr(Course, name), folder))

    def end(self) -> None:
        """Remove what was noted."""
        self._noted.unlink()

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(args[0], str):
            self.note(args[0])

    def note(self, path: str) -> None:
        """A file is read, or stands for what is read."""
        if not os.path.isabs(path):
            with suppress(OSError):  # a folder that is gone
                path = os.path.join(os.getcwd(), path)
        part = part_of(path.removeprefix(self._prefix)) if path.startswith(self._prefix) else ""
        if not part or (self._is_running and part in self._read) or any(map(_is_not_the_tests, _calling())):
            return
        self._read.add(part)
        if os.getpid() != self._process:
            with suppress(OSError), self._noted.open("a", encoding="utf-8", errors="surrogateescape") as file:
                file.write(f"{path}\n")
        elif not self._is_running:
            for module in filter(_is_imported, _calling()):
                self._imported.setdefault(module.co_filename, set()).add(part)

    def _telling(self, inner: Callable[[Course, str], Any], folder: str) -> Callable[[Course, str], Any]:
        def told(course: Course, stem: str) -> Any:
            self.note(f"{course.folder}/{folder}/{stem}")
            return inner(course, stem)

        return told

    def start(self) -> None:
        """A test begins."""
        self._taken()
        self._is_running = True

    def read_by(self, module: Path) -> set[str]:
        """What was read since the test of this module began, and when it was imported."""
        files = {str(PROJECT / f"{part}.py") for part in helpers(module.stem)}
        return self._taken() | imported(module.stem) | {part for file in files for part in self._imported.get(file, ())}

    def _taken(self) -> set[str]:
        with self._noted.open(encoding="utf-8", errors="surrogateescape") as file:
            file.seek(self._seen_of_it)
            for line in file.read().splitlines():
                self.note(line)
            self._seen_of_it = file.tell()
        found, self._read = self._read, set()
        return found


def _calling() -> Iterable[CodeType]:
    """What is running now, from the innermost call on."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        yield frame.f_code


def _is_imported(code: CodeType) -> bool:
    """Whether it is a module of the tests that is being imported."""
    return code.co_name == "<module>" and code.co_filename.startswith(_TESTS)


def _is_not_the_tests(code: CodeType) -> bool:
    """Whether it is hypothesis, which draws from the numbers and texts of every module that is there, whoever asked
    for it, or who asks what another test depends on.
    """
    return code.co_filename.endswith(_CONSTANTS) or code.co_filename == remembered.__file__


def unsaid(module: str, read: Iterable[str], reads: tuple[str, ...]) -> str:
    """What to say of a test that has read something which its module does not say; "" where it has not."""
    more = sorted(part for part in read if not may_open(part, reads))
    if not more:
        return ""
    return f"{module} reads {', '.join(more)}: add it to what tests/reads.py says of {module.removeprefix('test_')!r}"


WATCH = Watch()
