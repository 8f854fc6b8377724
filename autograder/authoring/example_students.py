"""Make the students of the example class: the file that each hands in, and the result that it must get."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.course.answer_bank import KnownAnswer
from autograder.course.chapter_judge import Judge
from autograder.ipython_syntax import CHECK


@dataclass(frozen=True)
class ExpectedResult:
    """The result that a student must get.

    `solved` are the exercises with full points, and `mistakes` maps each other attempted exercise to the tag of its
    known mistake. `told` is a text that the summary must contain for the student.
    """

    solved: frozenset[str] = frozenset()
    mistakes: dict[str, str] = field(default_factory=dict)
    told: str = ""


@dataclass(frozen=True)
class ExampleStudent:
    """One invented student: a name that says what is special about it, its file, and the expected result.

    `filename` is the name under which the student hands in the file.
    """

    name: str
    data: bytes
    expected: ExpectedResult
    filename: str


Sources = dict[str, str]


class ExampleClassMaker:
    """Makes the students of a chapter from its released notebook, worked solutions and answer bank."""

    def __init__(self, judge: Judge, release: NotebookNode) -> None:
        self.chapter = judge.chapter
        # As plain JSON: copying and writing a notebook with nbformat takes longer than making a student's answers.
        self._release: dict[str, Any] = json.loads(nbformat.writes(release))
        self.names = judge.chapter.exercises
        self.solutions = {name: judge.chapter.solution(name) for name in self.names}
        self.bank = {name: [*judge.banks[name]] for name in self.names}

    def students(self, mishaps: bool = True, repeats: bool = True) -> Iterator[ExampleStudent]:
        """Yield every student of the class.

        Without `mishaps`, leave out damaged files and answers that hang, crash or make noise. Without `repeats`, a
        student for whom the bank has no further answer to an exercise leaves it unanswered, in place of repeating the
        last one.
        """
        everything = frozenset(self.names)
        yield self._student("perfect", self.solutions, ExpectedResult(everything))
        yield self._student("untouched", {}, ExpectedResult())
        for word, is_right in (("right", True), ("wrong", False)):
            rows = [[a for a in self.bank[name] if a.is_right is is_right] for name in self.names]
            yield from self._from_bank(word, rows, repeats)
        if mishaps:
            yield from self._mangled(everything)
            yield from self._ill_behaved(everything)

    def _from_bank(self, word: str, rows: list[list[KnownAnswer]], repeats: bool) -> Iterator[ExampleStudent]:
        """Yield students of whom the k-th hands in the k-th answer of each row, or at its end the last one or none.

        A row holds the right, or the wrong, answers to one exercise.
        """
        for k in range(max(map(len, rows))):
            picked = {row[0].exercise: row[min(k, len(row) - 1)] for row in rows if row}
            left = set() if repeats else {row[0].exercise for row in rows if 0 < len(row) <= k}
            sources = self.solutions | {name: answer.source for name, answer in picked.items()}
            sources = {name: text for name, text in sources.items() if name not in left}
            mistakes = {name: answer.tag for name, answer in picked.items() if name in sources and not answer.is_right}
            solved = frozenset(sources) - set(mistakes)
            yield self._student(f"{word}-{k + 1:02d}", sources, ExpectedResult(solved, mistakes))

    def _mangled(self, everything: frozenset[str]) -> Iterator[ExampleStudent]:
        """Yield students with the worked solutions in damaged, renamed or repackaged files."""
        first = self.names[0]
        for name, mangle, told in (
            ("copied-cell", self._copy_cell, f"more than once; the last answer above the check counts: {first}"),
            ("stripped-metadata", _strip, "had lost nbgrader's mark"),
            ("missing-checks", _drop_checks, "check cells that were missing, put back"),
            ("from-colab", _as_colab, ""),
        ):
            yield self._student(name, self.solutions, ExpectedResult(everything, told=told), mangle)
        renamed = f"{self.chapter.stem} (1).ipynb"
        told = f"handed in as {renamed!r}"
        yield self._student("renamed-file", self.solutions, ExpectedResult(everything, told=told), filename=renamed)
        told = "handed in as 'homework.zip'"
        yield self._student("zipped", self.solutions, ExpectedResult(everything, told=told), _zipped, "homework.zip")
        last = self.names[-1]
        told = "the file breaks off after cell"
        yield self._student("cut-off", self.solutions, ExpectedResult(everything - {last}, told=told), self._cut_off)
        told = "could not be read: the file is no notebook: git left a merge conflict"
        yield self._student("broken-json", self.solutions, ExpectedResult(told=told), _merged)

    def _ill_behaved(self, everything: frozenset[str]) -> Iterator[ExampleStudent]:
        """Yield students whose first answer hangs, ends the process or is not Python, and two unusual but right ones.

        All other answers are the worked solutions.
        """
        first = self.names[0]
        for name, text, told in (
            ("endless-loop", "while True:\n    pass\n", "still running"),
            ("process-death", "import os\nos._exit(0)\n", "ended the Python process"),
            ("syntax-error", "def broken(:\n    pass\n", "SyntaxError"),
        ):
            sources = self.solutions | {first: text}
            yield self._student(name, sources, ExpectedResult(everything - {first}, told=told))
        noise = "import sys\nimport warnings\n\nwarnings.warn('careful')\nprint('noise', file=sys.stderr)\n\n\n"
        yield self._student(
            "noisy", self.solutions | {first: noise + self.solutions[first]}, ExpectedResult(everything)
        )
        yield self._student("own-helper", self._with_helper(), ExpectedResult(everything), self._add_helper)

    def _student(
        self,
        name: str,
        sources: Sources,
        expected: ExpectedResult,
        mangle: Callable[[bytes], bytes] = lambda data: data,
        filename: str = "",
    ) -> ExampleStudent:
        cells = [self._answered(cell, sources) for cell in self._release["cells"]]
        data = mangle(_written(self._release | {"cells": cells}))
        return ExampleStudent(name, data, expected, filename or f"{self.chapter.stem}.ipynb")

    def _answered(self, cell: dict[str, Any], sources: Sources) -> dict[str, Any]:
        """Return a cell of the release, with the student's answer as its source if it is an answer cell."""
        mark = cell["metadata"].get("nbgrader", {})
        is_answered = mark.get("solution") and mark["grade_id"] in sources
        return cell | {"source": sources[mark["grade_id"]].splitlines(keepends=True)} if is_answered else cell

    def _copy_cell(self, data: bytes) -> bytes:
        """Insert a wrong attempt before the first exercise's cell, as a copy of that cell with the same grade id."""

        def copied(notebook: Any) -> None:
            place = next(i for i, cell in enumerate(notebook.cells) if _grade_id(cell) == self.names[0])
            attempt = copy.deepcopy(notebook.cells[place])
            attempt.source, attempt["id"] = f"def {self.names[0]}(*args):\n    return None", "copy-of-a-cell"
            notebook.cells.insert(place, attempt)

        return _changed(data, copied)

    def _cut_off(self, data: bytes) -> bytes:
        """Return the file truncated within the cell of the last exercise."""
        return data[: data.index(f'"grade_id": "{self.names[-1]}"'.encode())]

    def _first_function(self) -> str:
        """Return the first exercise whose answer is a function, not a class."""
        return next(name for name in self.names if f"def {name}(" in self.solutions[name])

    def _with_helper(self) -> Sources:
        """Return the solutions, with the first function changed to call the helper that `_add_helper` inserts."""
        name = self._first_function()
        return self.solutions | {name: f"def {name}(*args, **kwargs):\n    return my_helper(*args, **kwargs)"}

    def _add_helper(self, data: bytes) -> bytes:
        name = self._first_function()
        helper = self.solutions[name].replace(f"def {name}(", "def my_helper(")
        return _changed(data, lambda notebook: notebook.cells.insert(4, new_code_cell(helper)))


def _written(notebook: dict[str, Any]) -> bytes:
    """Return the bytes that nbformat would write for a notebook."""
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False, separators=(",", ": ")).encode()


def _changed(data: bytes, change: Callable[[Any], None]) -> bytes:
    notebook = nbformat.reads(data.decode(), as_version=4)
    change(notebook)
    return str(nbformat.writes(notebook)).encode()


def _grade_id(cell: Any) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _strip(data: bytes) -> bytes:
    def stripped(notebook: Any) -> None:
        for cell in notebook.cells:
            cell.metadata = {}

    return _changed(data, stripped)


def _zipped(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("homework/notebook.ipynb", data)
        archive.writestr("__MACOSX/homework/._notebook.ipynb", b"")
    return packed.getvalue()


def _merged(data: bytes) -> bytes:
    """Write git's merge conflict markers around a `def` line and another version of it."""
    lines = data.split(b"\n")
    place = next(place for place, line in enumerate(lines) if line.lstrip().startswith(b'"def '))
    other = lines[place].replace(b"def ", b"def other_", 1)
    lines[place : place + 1] = [b"<<<<<<< HEAD", lines[place], b"=======", other, b">>>>>>> feature"]
    return b"\n".join(lines)


def _drop_checks(data: bytes) -> bytes:
    def dropped(notebook: Any) -> None:
        notebook.cells = [cell for cell in notebook.cells if not _grade_id(cell).startswith(CHECK)]

    return _changed(data, dropped)


def _as_colab(data: bytes) -> bytes:
    """Write the notebook as Colab may: format 4.0, no cell ids, other metadata, nbgrader's kept."""
    notebook = json.loads(data)
    notebook["nbformat_minor"] = 0
    notebook["metadata"] = {
        "colab": {"provenance": []},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
    }
    for cell in notebook["cells"]:
        cell["metadata"] = {"id": cell.pop("id")} | {k: v for k, v in cell["metadata"].items() if k == "nbgrader"}
    return json.dumps(notebook).encode()
