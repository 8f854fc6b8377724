"""Report lines of a student's code that a person may want to look at: those that replace torch or use the grader.

The search reads the text only, so it protects against nothing: code can hide what it does. A reported line costs no
points, and may well be harmless.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.course.course_location import FIGURES, INSTRUMENTS
from autograder.submission.extract_answer_statements import parse_cell_as_python
from autograder.submission.extract_submitted_cells import SubmittedCell
from autograder.submission.find_suspicious_code import GRADER_PACKAGE, SHARED_MODULES, SuspiciousCodeSearch
from autograder.submission.resolve_dotted_names import Scope, imported_paths

if TYPE_CHECKING:  # students' machines need not have nbformat
    from nbformat import NotebookNode

WORTH_A_LOOK_PREFIX = "worth a look, costs no points"  # begins each sentence
_MOST = 6  # lines that are reported for one submission
_LONGEST = 80  # characters of a line that are shown


def suspicious_line_messages(
    cells: Sequence[SubmittedCell], release: NotebookNode, answering: Mapping[int, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return a sentence for each line of the student's that a person may want to look at, in the notebook's order.

    `cells` are the student's cells that may run, and `answering` the exercises that they answer, by index of the cell.
    Lines that are also in the released notebook are not reported.
    """
    written, nodes = _released_code(tuple(cell["source"] for cell in release["cells"] if cell["cell_type"] == "code"))
    notebook, roots = Scope(), set(SHARED_MODULES)
    for node in nodes:
        notebook.bind_imports(node)
        roots |= {path.split(".")[0] for _, path in imported_paths(node) if _is_of_a_course(path)}
    allowed = {path for node in nodes for _, path in imported_paths(node) if path != GRADER_PACKAGE}
    messages = []
    for cell in cells:
        text, tree = parse_cell_as_python(cell.source)
        found = SuspiciousCodeSearch(notebook, frozenset(roots), allowed).through(tree) if tree else []
        for number, what, line in _firsts(found, _split(text), written):
            messages.append(_sentence(cell.index, answering.get(cell.index, ()), number, _shown(what), _shown(line)))
    more = len(messages) - _MOST
    return (*messages[:_MOST], *([f"{WORTH_A_LOOK_PREFIX}: {more} more such lines"] if more > 0 else []))


@lru_cache(maxsize=8)
def _released_code(sources: tuple[str, ...]) -> tuple[frozenset[str], tuple[ast.Import | ast.ImportFrom, ...]]:
    """Return the lines of a released notebook's code, and its import statements."""
    return frozenset(line.strip() for source in sources for line in _split(source)), tuple(_imports(sources))


def _firsts(found: Iterable[tuple[int, str]], lines: Sequence[str], written: Set[str]) -> list[tuple[int, str, str]]:
    """Return, for each kind of finding, the first line that is not in the released notebook, with its text."""
    firsts: dict[str, tuple[int, str, str]] = {}
    for number, what in found:
        line = lines[min(number, len(lines)) - 1].strip()  # Python miscounts lines in multi-line f-strings
        if line not in written:
            firsts.setdefault(what, (number, what, line))
    return list(firsts.values())


def _sentence(index: int, exercises: Sequence[str], number: int, what: str, line: str) -> str:
    whose = f" ({', '.join(exercises)})" if exercises else ""
    return f"{WORTH_A_LOOK_PREFIX}: cell {index + 1}{whose}, line {number} {what}: `{line}`"


def _shown(line: str) -> str:
    """Return a line, shortened, with unprintable characters as Python's escapes, so that it is safe to show."""
    cut = line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in cut)


def _split(text: str) -> list[str]:
    """Split a text into lines as Python counts them."""
    return re.split(r"\r\n|\r|\n", text)


def _imports(sources: Iterable[str]) -> Iterator[ast.Import | ast.ImportFrom]:
    for source in sources:
        tree = parse_cell_as_python(source)[1]
        yield from (node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)) if tree else ()


def _is_of_a_course(path: str) -> bool:
    return path.split(".")[1:2] in ([FIGURES], [Path(INSTRUMENTS).stem])
